"""One line that says how far something long is: below a cell of a notebook, in a terminal, and nowhere else.

A training draws its own (`msnb.train._progress`); `Work` is everything else that goes piece by piece. The form that a
notebook has is registered with `in_notebook`.
"""

import contextvars
import os
import shutil
import sys
import threading
import time
import weakref

from msnb import context, log

EVERY = 0.25  # seconds from one form of a line to the next
_LATE = 1.0  # seconds that `Work` takes before it shows itself

_notebook = []  # what makes a line of a notebook, once it is registered
_drawn = []  # a weak reference to the line that is on the screen; there is never a second one


def in_notebook(make):
    """Register `make()`, which returns what draws a line below the running cell of a notebook: an object with the
    methods of `Line`."""
    _notebook[:] = [make]


def wanted():
    """Return whether lines are drawn at all: `context.set_context(show_progress=False)` and MSNB_PROGRESS=0 say no."""
    return context._state.show_progress and os.environ.get("MSNB_PROGRESS", "1") != "0"


def begin():
    """A `Line` on the screen; None where there is no place for one, one already, or none is wanted."""
    if on_screen() is not None or not wanted():
        return None
    if _in_kernel():
        drawing = _notebook[0]() if _notebook else None
    else:
        drawing = _Terminal(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    if drawing is None:
        return None
    line = Line(drawing)
    _drawn[:] = [weakref.ref(line)]
    return line


def on_screen() -> "Line | None":
    """The line that is drawn just now; None where there is none."""
    return _drawn[0]() if _drawn else None


def _in_kernel():
    """Return whether this process is the kernel of a notebook; asking loads nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _make_room():
    line = on_screen()
    if line is not None:
        line.clear()


log.before_message(_make_room)


class Line:
    """The line on the screen. It only looks on: where drawing fails, the log says so once, and the work goes on.

    Args:
        drawing (object): What draws, with the same methods.

    Attributes:
        waits (bool): Whether it says already what is waited for; nobody else need write into it.
    """

    def __init__(self, drawing):
        self._drawing = drawing
        self.waits: bool = False

    def show(self, parts, share=None, curve=()):
        """Draw the line as it is now.

        Args:
            parts (Iterable[str]): Its pieces, such as "epoch 3 of 10" and "41 steps/s".
            share (Union[float, None]): How much is done, from 0 to 1; None where nobody knows.
            curve (Sequence[tuple[float, float]]): Points of a curve, from left to right.
        """
        self._draw("show", tuple(parts), share, curve)

    def say(self, text):
        """Write a sentence that stays above the line."""
        self._draw("say", text)

    def clear(self):
        """Make room for other output."""
        self._draw("clear")

    def end(self, parts, curve=()):
        """Draw the line for the last time; that stays."""
        self._draw("end", tuple(parts), curve)
        self._drawing = None
        _drawn.clear()

    def _draw(self, how, *what):
        if self._drawing is None:
            return
        try:
            getattr(self._drawing, how)(*what)
        except Exception as problem:
            self._drawing = None
            log.warning("The progress could not be drawn: %s: %s", type(problem).__name__, problem)


class _Terminal:
    """A line of a terminal, written over itself.

    Args:
        stream (TextIO): The terminal.
    """

    def __init__(self, stream):
        self._stream = stream
        self._long = 0

    def show(self, parts, share=None, curve=()):
        """Write the line as it is now; one that is too long for the terminal is cut."""
        text = ", ".join(parts)[: max(shutil.get_terminal_size().columns - 1, 1)]
        self._write("\r" + text.ljust(self._long))
        self._long = len(text)

    def clear(self):
        """Take the line away, so that something else can be written there."""
        if self._long:
            self._write("\r" + " " * self._long + "\r")
            self._long = 0

    def say(self, text):
        """Write a sentence above the line."""
        self.clear()
        print(text, file=sys.stdout, flush=True)

    def end(self, parts, curve=()):
        """Write the line for the last time."""
        self.show(parts)
        self._write("\n")
        self._long = 0

    def _write(self, text):
        self._stream.write(text)
        self._stream.flush()


class Work:
    """Something long that goes piece by piece; a line shows it from a second after the first piece on. A context
    manager.

    Args:
        what (str): What is done, such as "counting words".
        total (int): How many pieces there are. Default: None, nobody knows.
        unit (str): What the pieces are called. Default: "steps".
        show (Callable): Called with the parts of the line and the share that is done, instead of drawing a line.
            Default: None.
        quiet (bool): Whether nothing is shown. Default: False.
    """

    def __init__(self, what, total=None, unit="steps", show=None, quiet=False):
        self.what, self.total, self.unit = what, total, unit
        self.done = self._at_first = 0
        self._show, self._quiet = show, quiet
        self._line = None
        self._begun = self._first = time.perf_counter()
        self._late = EVERY if show else _LATE
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
        """Tell that one more piece is done, or so many."""
        now = time.perf_counter()
        if not self.done:
            self._first, self._at_first = now, pieces  # it may compile, and says nothing about the others
            self._due = now + self._late
        self.done += pieces
        if now >= self._due and not self._quiet:
            self._due = now + EVERY
            self._draw(now - self._first)

    def _draw(self, seconds):
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
            self._due = float("inf")  # no place for a line: the next steps need not look for one
        else:
            self._line.show(parts, share)


class Wait:
    """Something long that nobody can count, such as compiling; a line shows from its second second on how long it has
    taken. A context manager.

    Args:
        what (str): What is done, such as "compiling the step".
        about (float): Seconds that it may take. Default: None, nobody knows.
    """

    def __init__(self, what, about=None):
        self.what, self.about = what, about
        self._over = threading.Event()

    def __enter__(self):
        self._begun = time.perf_counter()
        # in the context of this thread: a notebook finds its cell there
        self._thread = threading.Thread(target=contextvars.copy_context().run, args=(self._tick,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()

    def _tick(self):
        if self._over.wait(_LATE):
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
            ended = self._over.wait(_LATE)
        line.end((f"{self.what}: {duration(time.perf_counter() - self._begun)}",))


def follow(pieces, what, total=None, unit="rows"):
    """Iterate over `pieces`, and show how far that is; see `Work`."""
    with Work(what, total, unit) as work:
        for piece in pieces:
            yield piece
            work.step()


# ---------------------------------------------------------------------- words
def duration(seconds):
    """Seconds as people say them: 0.04 s, 4.2 s, 1 min 5 s, 2 h 3 min."""
    if seconds < 9.95:
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def left(seconds):
    """What is still to come, in whole seconds: 12 s left."""
    return f"{duration(max(seconds, 10)) if seconds > 9 else f'{max(round(seconds), 1)} s'} left"


def rate(per_second, unit="steps"):
    """How fast it goes: 1,240 steps/s, 4.2 steps/s, 3.1 s for each of the steps."""
    if per_second >= 9.95:
        return f"{per_second:,.0f} {unit}/s"
    if per_second >= 0.995 or per_second <= 0:
        return f"{per_second:.1f} {unit}/s"
    return f"{duration(1 / per_second)} per {unit.removesuffix('s')}"
