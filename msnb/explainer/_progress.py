"""Progress of long explanations: observers get the saliency maps of RISE while it runs."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from msnb import log

Observer = Callable[[Any, Any, int, int], object]
_EVERY_STEPS = 100
_EVERY_SECONDS = 1.0
_observers: list[Observer] = []


@contextlib.contextmanager
def observe(callback: Observer) -> Iterator[None]:
    """Call ``callback(explainer, maps, done, total)`` while an explainer runs: after each 100 masks or each second.

    `maps` is a float32 numpy array (N, l, H, W), the mean over the `done` masks of `total`. The first call has
    `done` = 0 and maps of zeros. The last one has `done` = `total`. A callback that raises is removed, with a warning.
    """
    _observers.append(callback)
    try:
        yield
    finally:
        if callback in _observers:
            _observers.remove(callback)


class Reporter:
    """Tells observers how far an explainer is.

    Args:
        explainer (object): The explainer.
        total (int): The number of steps.
    """

    def __init__(self, explainer: Any, total: int):
        self._explainer, self._total = explainer, total
        self._reported, self._time = 0, time.monotonic()

    def report(self, done: int, compute_maps: Callable[[], Any]) -> None:
        """Call the observers if a report is due. `compute_maps` returns the maps and is called only if needed."""
        now = time.monotonic()
        is_due = done - self._reported >= _EVERY_STEPS or now - self._time >= _EVERY_SECONDS
        if not _observers or not (is_due or done in (0, self._total)):
            return
        self._reported, self._time = done, now
        maps = compute_maps()
        for observer in list(_observers):
            try:
                observer(self._explainer, maps, done, self._total)
            except Exception as error:
                log.warning("An observer of explanations failed and was removed: %s: %s", type(error).__name__, error)
                _observers.remove(observer)
