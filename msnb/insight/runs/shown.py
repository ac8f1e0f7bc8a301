"""Who shows the runs of a tuning while it goes on. Notebooks stand above, and register themselves."""

from collections.abc import Callable
from typing import Any

_by: list[Callable[[Any, str, str], Callable[[], None]]] = []


def by(show: Callable[[Any, str, str], Callable[[], None]]) -> Callable[[], None]:
    """Register `show(runs, target, goal)`, which returns what is called after each trial.

    Returns:
        Callable, undoes it.
    """
    _by.append(show)

    def undo():
        if show in _by:
            _by.remove(show)

    return undo


def begin(runs: Any, target: str, goal: str) -> Callable[[], None]:
    """Show runs where somebody does; what is returned is to be called after each trial."""
    afterwards = [show(runs, target, goal) for show in _by[-1:]]

    def after():
        for act in afterwards:
            act()

    return after
