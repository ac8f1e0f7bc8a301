"""Live views of the runs of a tuning. The notebook package registers its view here, because insight cannot import
it.
"""

from collections.abc import Callable
from typing import Any

_views: list[Callable[[Any, str, str], Callable[[], None]]] = []


def by(show: Callable[[Any, str, str], Callable[[], None]]) -> Callable[[], None]:
    """Register a function `show(runs, target, goal)` that shows a view and returns a callback for the end of each
    trial.

    Returns:
        Callable, unregisters the view.
    """
    _views.append(show)

    def unregister():
        if show in _views:
            _views.remove(show)

    return unregister


def begin(runs: Any, target: str, goal: str) -> Callable[[], None]:
    """Show runs in the registered view and return a callback for the end of each trial."""
    callbacks = [show(runs, target, goal) for show in _views[-1:]]

    def on_trial_end():
        for callback in callbacks:
            callback()

    return on_trial_end
