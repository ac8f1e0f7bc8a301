"""The line that says how far a training is; what it says when it is stopped, and what its validations gave."""

import time

from msnb import log
from msnb.common import progress
from msnb.common.progress import EVERY, Work, duration, left, rate
from msnb.core.state import deferred_errors
from msnb.train._loss_monitoring import LossWatch
from msnb.train.callback import Callback, LossMonitor

_POINTS = 60  # of the curve: twice as many are drawn together to these
_AT_ONCE = 4  # losses of one look; at the end as many as fill a curve
_WEIGHT = 0.3  # of the newest measurement in the speed that is shown
_PRINTING = {"print", "pprint", "stdout", "stderr", "tqdm", "echo"}

_clock = time.perf_counter


class Progress:
    """Follows one training; a context manager around all of it.

    It watches the loss in any case. A line is drawn where there is a place for one, no callback prints, and neither
    `display` nor the settings say no.

    Args:
        epochs (int): How many.
        steps (int): How many in each epoch.
        callbacks (list[Callback]): What is called between the steps.
        display (bool): Whether a line is wanted. Default: True.

    Attributes:
        done (int): Steps that are complete; the training counts here.
        epoch (int): Number of the epoch, from 1 on.
    """

    def __init__(self, epochs, steps, callbacks, display=True):
        self.epochs, self.steps = epochs, steps
        self.done, self.epoch = 0, 1
        self._before = 0  # steps of earlier epochs
        self._watch = LossWatch()
        self._curve = Curve()
        self._wanted = display and progress.wanted()
        self._announces = not any(isinstance(callback, LossMonitor) for callback in callbacks)
        self._draws = self._wanted and not any(map(prints, callbacks))
        self._line = None
        self._due = 0.0
        self._speed = Speed()

    # ------------------------------------------------------------------ what training tells
    def __enter__(self):
        self._begun = _clock()
        if self._draws:
            self._line = progress.begin()
        if self._line is not None:
            self._line.show((*self._where(1), "the first step, which compiles"), 0.0)
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, KeyboardInterrupt):
            self._take(self._watch.look())
            stopped = self._stopped()
            if not error.args:
                error.args = (stopped,)  # else the traceback that is shown ends with an empty "KeyboardInterrupt:"
            self._leave(stopped)
        elif error is not None:
            self._leave(f"ended by {kind.__name__} in {self._at_epoch()}, after step {self.done:,}")

    def begin_epoch(self, number):
        """Tell that epoch `number` begins."""
        self.epoch, self._before = number, self.done

    def step(self, outputs):
        """Tell that step number `done` has returned `outputs`."""
        self._watch.step(outputs, self.epoch, self.done)
        now = _clock()
        if now >= self._due:
            self._due = now + EVERY
            self._look(now)

    def finish(self):
        """Tell that training is over; waits for the last loss."""
        deferred_errors.wait_and_report()
        self._take(self._watch.finish(_POINTS if self._line is not None else 1))
        self._leave(self._summary())

    def _look(self, now):
        deferred_errors.poll()
        self._take(self._watch.look(_AT_ONCE if self._line is not None else 1))
        self._speed.reached(self.done, now)
        if self._line is not None:
            parts = [*self._where(self.done - self._before), *self._loss()]
            parts += self._speed.words(self.epochs * self.steps)
            self._line.show(parts, self.done / (self.epochs * self.steps), self._curve.points)

    def _take(self, losses):
        for step, loss in losses:
            self._curve.add(step, loss)

    # ------------------------------------------------------------------ validation
    def validation(self, steps):
        """What follows an evaluation of so many steps in the midst of the training, a `Work`."""

        def show(parts, share):
            if self._line is not None:
                done = self.epoch / self.epochs if self.done else 0.0
                self._line.show((self._at_epoch(), *parts), done, self._curve.points)

        self._speed.pause()
        return Work("evaluating", steps, show=show)

    def validated(self, metrics):
        """Say what an evaluation between two epochs gave, unless a LossMonitor does or nothing is wanted."""
        if not self._wanted or not self._announces:
            return
        text = f"Eval result: epoch {self.epoch}, metrics: {metrics}"
        if self._line is not None:
            self._line.say(text)
        else:
            print(text, flush=True)

    # ------------------------------------------------------------------ words
    def _where(self, step):
        return self._at_epoch(), f"step {step:,} of {self.steps:,}"

    def _at_epoch(self):
        return f"epoch {self.epoch:,} of {self.epochs:,}"

    def _loss(self):
        return () if self._watch.loss is None else (f"loss {self._watch.loss:.4g}",)

    def _summary(self):
        if self.done < self.epochs * self.steps:
            epochs = f"ended early in {self._at_epoch()}"
        else:
            epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs:,} epochs"
        return ", ".join((epochs, f"{self.done:,} steps in {duration(_clock() - self._begun)}", *self._loss()))

    def _stopped(self):
        if not self.done:
            return "stopped before the first step was complete; the weights are as they were"
        where = ", ".join((f"stopped in {self._at_epoch()}", f"step {self.done:,}", *self._loss()))
        return f"{where}; the weights are those of step {self.done:,}"

    def _leave(self, text):
        line, self._line = self._line, None
        if line is not None:
            line.end((text,), self._curve.points)
        elif self._wanted and text.startswith("stopped"):
            log.warning("Model.train %s.", text)


class Curve:
    """The loss over the steps, in less than twice `_POINTS` points however many are added.

    Attributes:
        points (list[tuple[float, float]]): Steps and losses, the oldest first; each the mean of equally many.
    """

    def __init__(self):
        self.points = []
        self._each, self._new = 1, []

    def add(self, step, loss):
        """Add the newest loss, if it is finite."""
        if loss - loss != 0:
            return
        self._new.append((step, loss))
        if len(self._new) == self._each:
            self.points.append(_middle(self._new))
            self._new = []
        if len(self.points) == 2 * _POINTS:
            self.points = [_middle(pair) for pair in zip(self.points[::2], self.points[1::2], strict=True)]
            self._each *= 2


def _middle(points):
    return tuple(sum(values) / len(points) for values in zip(*points, strict=True))


class Speed:
    """How many steps a second, and how long the rest takes; the first step, which compiles, does not count."""

    def __init__(self):
        self._first = self._last = None  # (steps done, time)
        self._per_second = None

    def reached(self, done, now):
        """Note that `done` steps are done now."""
        if self._last is not None and now > self._last[1]:
            newest = (done - self._last[0]) / (now - self._last[1])
            old = newest if self._per_second is None else self._per_second
            self._per_second = old + _WEIGHT * (newest - old)
        self._last = done, now
        self._first = self._first or self._last

    def pause(self):
        """Something else than steps begins; it counts for the rest of the time, not for the speed."""
        self._last = None

    def words(self, total):
        """["41 steps/s", "12 s left"], or what of it is known."""
        if self._per_second is None:
            return []
        (begun, start), (done, now) = self._first, self._last
        if done == begun or now - start < 2 * EVERY:
            return [rate(self._per_second)]
        return [rate(self._per_second), left((now - start) / (done - begun) * (total - done))]


def prints(callback):
    """Whether a callback prints by itself, as far as the code of its own methods tells."""
    own = type(callback).__mro__
    own = own[: own.index(Callback)] if Callback in own else own
    values = [value for cls in own for value in vars(cls).values()] + list(vars(callback).values())
    return any(_names_printing(getattr(value, "__code__", None)) for value in values)


def _names_printing(code):
    if code is None:
        return False
    inner = (constant for constant in code.co_consts if hasattr(constant, "co_names"))
    return not _PRINTING.isdisjoint(code.co_names) or any(map(_names_printing, inner))
