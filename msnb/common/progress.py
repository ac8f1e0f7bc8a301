"""A progress line for long work, in a terminal or below the cell of a notebook.

Training draws its own line (`msnb.train._progress`). `Work` is for other work that consists of steps, `Wait` for work
without steps. The display in a notebook is registered with `in_notebook`.
"""

import contextvars
import os
import shutil
import sys
import threading
import time
import weakref

from msnb import context, log

EVERY = 0.25  # seconds between updates of a line
_DELAY = 1.0  # seconds before `Work` shows a line

_notebook = []  # the factory of notebook lines, once it is registered
_current_line = []  # a weak reference to the line on the screen; there is never a second one


def in_notebook(make):
    """Register `make()`, which returns an object that draws a line below the running cell of a notebook, with the
    methods of `Line`."""
    _notebook[:] = [make]


def is_enabled():
    """Return whether lines are drawn: `context.set_context(show_progress=False)` and MSNB_PROGRESS=0 disable them."""
    return context._state.show_progress and os.environ.get("MSNB_PROGRESS", "1") != "0"


def begin():
    """Return a new `Line`; None if lines are disabled, the output supports none, or one is already shown."""
    if on_screen() is not None or not is_enabled():
        return None
    if _is_in_notebook_kernel():
        drawing = _notebook[0]() if _notebook else None
    else:
        drawing = _Terminal(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    if drawing is None:
        return None
    line = Line(drawing)
    _current_line[:] = [weakref.ref(line)]
    return line


def on_screen() -> "Line | None":
    """Return the line on the screen, or None."""
    return _current_line[0]() if _current_line else None


def _is_in_notebook_kernel():
    """Return whether this process is the kernel of a notebook, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _clear_current_line():
    line = on_screen()
    if line is not None:
        line.clear()


log.before_message(_clear_current_line)


class Line:
    """A line on the screen. If drawing fails, a warning is logged once, and the work goes on.

    Args:
        drawing (object): The object that draws, with the same methods.

    Attributes:
        waits (bool): Whether the line shows a `Wait`.
    """

    def __init__(self, drawing):
        self._drawing = drawing
        self.waits: bool = False

    def show(self, parts, share=None, curve=()):
        """Draw the current state.

        Args:
            parts (Iterable[str]): Texts, such as "epoch 3 of 10" and "41 steps/s".
            share (Union[float, None]): The completed fraction, from 0 to 1; None if it is unknown.
            curve (Sequence[tuple[float, float]]): Points of a curve, from left to right.
        """
        self._draw_progress("show", tuple(parts), share, curve)

    def say(self, text):
        """Write a sentence above the line. The sentence stays on the screen."""
        self._draw_progress("say", text)

    def clear(self):
        """Clear the line for other output."""
        self._draw_progress("clear")

    def end(self, parts, curve=()):
        """Draw the final state, which stays on the screen."""
        self._draw_progress("end", tuple(parts), curve)
        self._drawing = None
        _current_line.clear()

    def _draw_progress(self, how, *what):
        if self._drawing is None:
            return
        try:
            getattr(self._drawing, how)(*what)
        except Exception as problem:
            self._drawing = None
            log.warning("The progress could not be drawn: %s: %s", type(problem).__name__, problem)


class _Terminal:
    """A line of a terminal, which overwrites itself.

    Args:
        stream (TextIO): The terminal.
    """

    def __init__(self, stream):
        self._stream = stream
        self._long = 0

    def show(self, parts, share=None, curve=()):
        """Write the current state, truncated to the width of the terminal."""
        text = ", ".join(parts)[: max(shutil.get_terminal_size().columns - 1, 1)]
        self._write_and_flush("\r" + text.ljust(self._long))
        self._long = len(text)

    def clear(self):
        """Erase the line."""
        if self._long:
            self._write_and_flush("\r" + " " * self._long + "\r")
            self._long = 0

    def say(self, text):
        """Write a sentence above the line."""
        self.clear()
        print(text, file=sys.stdout, flush=True)

    def end(self, parts, curve=()):
        """Write the line for the last time."""
        self.show(parts)
        self._write_and_flush("\n")
        self._long = 0

    def _write_and_flush(self, text):
        self._stream.write(text)
        self._stream.flush()


class Work:
    """Long work that consists of steps. One second after the first step, a line shows the progress. A context manager.

    Args:
        what (str): Name of the work, such as "counting words".
        total (int): The number of steps. Default: None, unknown.
        unit (str): Name of the steps. Default: "steps".
        show (Callable): Called with the parts of the line and the completed fraction instead of drawing a line.
            Default: None.
        quiet (bool): Whether to show nothing. Default: False.
    """

    def __init__(self, what, total=None, unit="steps", show=None, quiet=False):
        self.what, self.total, self.unit = what, total, unit
        self.done = self._at_first = 0
        self._show, self._quiet = show, quiet
        self._line = None
        self._begun = self._first = time.perf_counter()
        self._delay = EVERY if show else _DELAY
        self._due = 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._line is None:
            return
        ended = "" if error is None or kind is GeneratorExit else f", ended by {kind.__name__}"
        seconds = duration(time.perf_counter() - self._begun)
        self._line.end((f"{self.what}: {self.done:,} {self.unit} in {seconds}{ended}",))

    def step(self, pieces=1):
        """Count `pieces` more steps as done."""
        now = time.perf_counter()
        if not self.done:
            # the first step may compile, so it is not used to estimate the others
            self._first, self._at_first = (now, pieces)
            self._due = now + self._delay
        self.done += pieces
        if now >= self._due and not self._quiet:
            self._due = now + EVERY
            self._draw_progress(now - self._first)

    def _draw_progress(self, seconds):
        share = self.done / self.total if self.total else None
        of = f" of {self.total:,}" if self.total else ""
        parts = [f"{self.what}: {self.done:,}{of} {self.unit}"]
        later = self.done - self._at_first
        if later and seconds > 0:
            parts.append(rate(later / seconds, self.unit))
            if share:
                parts.append(left(seconds / later * (self.total - self.done)))
        if self._show is not None:
            self._show(parts, share)
            return
        self._line = self._line or begin()
        if self._line is None:
            self._due = float("inf")  # no line is possible: do not try again
        else:
            self._line.show(parts, share)


class Wait:
    """Long work without countable steps, such as compiling. After one second, a line shows the elapsed time. A context
    manager.

    Args:
        what (str): Name of the work, such as "compiling the step".
        about (float): Estimated seconds. Default: None, unknown.
        quiet (bool): Whether to show nothing. Default: False.

    Attributes:
        what (str): Name of the work. If it is changed, the line shows the new name within a second.
    """

    def __init__(self, what, about=None, quiet=False):
        self.what, self.about, self._quiet = what, about, quiet
        self._over = threading.Event()

    def __enter__(self):
        if self._quiet:
            return self
        self._begun = time.perf_counter()
        # The new thread gets a copy of this thread's context, so that a notebook knows the cell to write to.
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._show_elapsed_time,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error):
        if self._quiet:
            return
        self._over.set()
        self._thread.join()

    def _show_elapsed_time(self):
        if self._over.wait(_DELAY):
            return
        line = begin()
        if line is None:
            return
        line.waits = True
        about = "" if self.about is None else f" of about {duration(self.about)}"
        ended = False
        while not ended:
            seconds = time.perf_counter() - self._begun
            line.show((f"{self.what}: {duration(seconds)}{about}",), self.about and min(seconds / self.about, 1))
            ended = self._over.wait(_DELAY)
        line.end((f"{self.what}: {duration(time.perf_counter() - self._begun)}",))


def follow(pieces, what, total=None, unit="rows"):
    """Yield the elements of `pieces` and show the progress; see `Work`."""
    with Work(what, total, unit) as work:
        for piece in pieces:
            yield piece
            work.step()


# ---------------------------------------------------------------------- text
def duration(seconds):
    """Format seconds as readable text: 0.04 s, 4.2 s, 1 min 5 s, 2 h 3 min."""
    if seconds < 9.95:
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    minutes, rest = divmod(rounded, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def left(seconds):
    """Format the remaining time in seconds: 12 s left."""
    return f"{duration(max(seconds, 10)) if seconds > 9 else f'{max(round(seconds), 1)} s'} left"


def rate(per_second, unit="steps"):
    """Format a speed: 1,240 steps/s, 4.2 steps/s, or 3.1 s per step."""
    if per_second >= 9.95:
        return f"{per_second:,.0f} {unit}/s"
    if per_second >= 0.995 or per_second <= 0:
        return f"{per_second:.1f} {unit}/s"
    return f"{duration(1 / per_second)} per {unit.removesuffix('s')}"
