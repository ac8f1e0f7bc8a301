"""Progress of long explanations: observers get the saliency maps of RISE and Occlusion while they run, and a line shows
how far they are."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from msnb import log
from msnb.common.progress import Work

Observer = Callable[[Any, Any, int, int], object]
_EVERY_STEPS = 100
_EVERY_SECONDS = 1.0
Stopped = Callable[[Any], object]
_observers: dict[Observer, Stopped | None] = {}
_shared: list[Work | None] = []  # the line of a runner; None for no line


@contextlib.contextmanager
def observe(callback: Observer, stopped: Stopped | None = None) -> Iterator[None]:
    """Call ``callback(explainer, maps, done, total)`` while an explainer runs: after each 100 steps or each second.

    A step is a mask of RISE or a window of Occlusion. `maps` is a numpy array (N, l, H, W), the result of the `done`
    steps of `total`. The first call has `done` = 0 and maps of zeros. The last one has `done` = `total`. A callback
    that raises is removed, with a warning. `stopped(explainer)` is called after an explainer has ended by an error or
    Ctrl-C.
    """
    _observers[callback] = stopped
    try:
        yield
    finally:
        _observers.pop(callback, None)


@contextlib.contextmanager
def share_line(work: Work | None) -> Iterator[None]:
    """Let explainers count their steps in `work`, which shows them, instead of in a line of each call. None shows
    nothing."""
    _shared.append(work)
    try:
        yield
    finally:
        _shared.pop()


class Reporter:
    """Reports the steps of one call of an explainer to its line and to observers. A context manager.

    Args:
        explainer (object): The explainer.
        total (int): The number of steps.
        unit (str): Name of the steps.
    """

    def __init__(self, explainer: Any, total: int, unit: str):
        self._explainer, self._total = explainer, total
        self._own_line = None if _shared else Work(type(explainer).__name__, total, unit)
        self._line = _shared[-1] if _shared else self._own_line
        self._reported, self._time = 0, time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._own_line is not None:
            self._own_line.__exit__(*error)
        if error[0] is not None:
            for observer, stopped in list(_observers.items()):
                if stopped is not None:
                    _call(observer, stopped, self._explainer)

    def report(self, done: int, count: int, compute_maps: Callable[[], Any]) -> None:
        """Report that `count` more steps are done, `done` in all. `compute_maps` is called if observers get maps."""
        if self._line is not None:
            self._line.step(count)
        now = time.monotonic()
        is_due = done - self._reported >= _EVERY_STEPS or now - self._time >= _EVERY_SECONDS
        if not _observers or not (is_due or done in (0, self._total)):
            return
        self._reported, self._time = done, now
        maps = compute_maps()
        for observer in list(_observers):
            _call(observer, observer, self._explainer, maps, done, self._total)


def _call(observer, function, *args):
    """Call a function of an observer. If it raises, the observer is removed."""
    try:
        function(*args)
    except Exception as error:
        log.warning("An observer of explanations failed and was removed: %s: %s", type(error).__name__, error)
        _observers.pop(observer, None)
