"""The progress line of a training, its last line when training stops, and the results of validations."""

import time

from msnb import log
from msnb.common import progress
from msnb.common.progress import EVERY, Work, duration, left, rate
from msnb.core.state import deferred_errors
from msnb.train._loss_monitoring import LossWatch
from msnb.train.callback import Callback, LossMonitor

_POINTS = 60  # Number of points of the curve. Pairs are merged when there are twice as many.
_AT_ONCE = 4  # Maximum number of losses that one poll reads. The last read takes up to `_POINTS`.
_WEIGHT = 0.3  # Weight of the newest measurement in the speed.
_PRINTING = {"print", "pprint", "stdout", "stderr", "tqdm", "echo"}

_clock = time.perf_counter


class Progress:
    """Context manager around a training that shows the progress line.

    It always watches the loss. It draws a line if the output supports one, no callback prints, and neither `display`
    nor the settings disable it.

    Args:
        epochs (int): The number of epochs.
        steps (int): The number of steps in each epoch.
        callbacks (list[Callback]): The callbacks of the training.
        display (bool): Whether to draw the line. Default: True.

    Attributes:
        done (int): Steps that are complete; the training increments it.
        epoch (int): Number of the current epoch, from 1 on.
    """

    def __init__(self, epochs, steps, callbacks, display=True):
        self.epochs, self.steps = epochs, steps
        self.done, self.epoch = 0, 1
        self._before = 0  # steps of earlier epochs
        self._watch = LossWatch()
        self._curve = Curve()
        self._is_enabled = display and progress.is_enabled()
        self._announces = not any(isinstance(callback, LossMonitor) for callback in callbacks)
        self._draws = self._is_enabled and not any(map(prints, callbacks))
        self._line = None
        self._due = 0.0
        self._speed = Speed()

    # ------------------------------------------------------------------ called by the training
    def __enter__(self):
        self._begun = _clock()
        if self._draws:
            self._line = progress.begin()
        if self._line is not None:
            self._line.show((*self._format_step(1), "the first step, which compiles"), 0.0)
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, KeyboardInterrupt):
            self._add_losses(self._watch.look())
            stopped = self._format_stop_message()
            if not error.args:
                error.args = (stopped,)  # otherwise the traceback that is shown ends with an empty "KeyboardInterrupt:"
            self._end_progress_line(stopped)
        elif error is not None:
            self._end_progress_line(f"ended by {kind.__name__} in {self._format_epoch()}, after step {self.done:,}")

    def begin_epoch(self, number):
        """Start epoch `number` in the display."""
        self.epoch, self._before = number, self.done

    def step(self, outputs):
        """Update the display after step number `done`, which has returned `outputs`."""
        self._watch.step(outputs, self.epoch, self.done)
        now = _clock()
        if now >= self._due:
            self._due = now + EVERY
            self._update_display(now)

    def finish(self):
        """End the display with the last loss, which it waits for."""
        deferred_errors.wait_and_report()
        self._add_losses(self._watch.finish(_POINTS if self._line is not None else 1))
        self._end_progress_line(self._format_summary())

    def _update_display(self, now):
        deferred_errors.poll()
        self._add_losses(self._watch.look(_AT_ONCE if self._line is not None else 1))
        self._speed.reached(self.done, now)
        if self._line is not None:
            texts = [*self._format_step(self.done - self._before), *self._format_loss()]
            texts += self._speed.words(self.epochs * self.steps)
            self._line.show(texts, self.done / (self.epochs * self.steps), self._curve.points)

    def _add_losses(self, losses):
        for step, loss in losses:
            self._curve.add(step, loss)

    # ------------------------------------------------------------------ validation
    def validation(self, steps):
        """Return the `Work` that shows an evaluation of `steps` steps during the training."""

        def show(parts, share):
            if self._line is not None:
                done = self.epoch / self.epochs if self.done else 0.0
                self._line.show((self._format_epoch(), *parts), done, self._curve.points)

        self._speed.pause()
        return Work("evaluating", steps, show=show)

    def validated(self, metrics):
        """Print the metrics of an evaluation between two epochs, unless a LossMonitor does or display is off."""
        if not self._is_enabled or not self._announces:
            return
        text = f"Eval result: epoch {self.epoch}, metrics: {metrics}"
        if self._line is not None:
            self._line.say(text)
        else:
            print(text, flush=True)

    # ------------------------------------------------------------------ text of the line
    def _format_step(self, step):
        return self._format_epoch(), f"step {step:,} of {self.steps:,}"

    def _format_epoch(self):
        return f"epoch {self.epoch:,} of {self.epochs:,}"

    def _format_loss(self):
        return () if self._watch.loss is None else (f"loss {self._watch.loss:.4g}",)

    def _format_summary(self):
        if self.done < self.epochs * self.steps:
            epochs = f"ended early in {self._format_epoch()}"
        else:
            epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs:,} epochs"
        return ", ".join((epochs, f"{self.done:,} steps in {duration(_clock() - self._begun)}", *self._format_loss()))

    def _format_stop_message(self):
        if not self.done:
            return "stopped before the first step was complete; the weights are as they were"
        where = ", ".join((f"stopped in {self._format_epoch()}", f"step {self.done:,}", *self._format_loss()))
        return f"{where}; the weights are those of step {self.done:,}"

    def _end_progress_line(self, text):
        line, self._line = self._line, None
        if line is not None:
            line.end((text,), self._curve.points)
        elif self._is_enabled and text.startswith("stopped"):
            log.warning("Model.train %s.", text)


class Curve:
    """The curve of the loss over the steps, in fewer than twice `_POINTS` points.

    Attributes:
        points (list[tuple[float, float]]): Steps and losses, the oldest first; each point is the mean of the same
            number of losses.
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
            self.points.append(_average_points(self._new))
            self._new = []
        if len(self.points) == 2 * _POINTS:
            self.points = [_average_points(pair) for pair in zip(self.points[::2], self.points[1::2], strict=True)]
            self._each *= 2


def _average_points(points):
    return tuple(sum(values) / len(points) for values in zip(*points, strict=True))


class Speed:
    """Measures steps per second and estimates the remaining time. The first step, which compiles, is not measured."""

    def __init__(self):
        self._first = self._last = None  # (steps done, time)
        self._per_second = None

    def reached(self, done, now):
        """Record that `done` steps are complete at time `now`."""
        if self._last is not None and now > self._last[1]:
            newest = (done - self._last[0]) / (now - self._last[1])
            old = newest if self._per_second is None else self._per_second
            self._per_second = old + _WEIGHT * (newest - old)
        self._last = done, now
        self._first = self._first or self._last

    def pause(self):
        """Record that something other than steps begins. Its duration is part of the remaining time, but not of the
        speed."""
        self._last = None

    def words(self, total):
        """Return the texts ["41 steps/s", "12 s left"], without those that are not measured yet."""
        if self._per_second is None:
            return []
        (begun, start), (done, now) = self._first, self._last
        if done == begun or now - start < 2 * EVERY:
            return [rate(self._per_second)]
        return [rate(self._per_second), left((now - start) / (done - begun) * (total - done))]


def prints(callback):
    """Return True if a method of a callback refers to `print` or a similar name. Such a callback may print."""
    classes = type(callback).__mro__
    classes = classes[: classes.index(Callback)] if Callback in classes else classes
    values = [value for cls in classes for value in vars(cls).values()] + list(vars(callback).values())
    return any(_uses_print(getattr(value, "__code__", None)) for value in values)


def _uses_print(code):
    if code is None:
        return False
    inner = (constant for constant in code.co_consts if hasattr(constant, "co_names"))
    return not _PRINTING.isdisjoint(code.co_names) or any(map(_uses_print, inner))
