"""Active interventions: changes of values inside a network, which a trace of the network inserts.

The module `insight.interventions` adds them. A program that was traced under one set of active interventions is not
used under another one: the set is part of the state that `core.program.program_cache` compares, and adding or removing
an intervention increases the epoch.
"""

from collections.abc import Callable
from typing import Any, Protocol

from msnb.core.state import trace_state


class Intervention(Protocol):
    """The methods of an active intervention.

    Two interventions with equal `key` change values in the same way, and use the same programs.
    """

    target: Any  # the Cell or compiled function whose calls are changed
    call: Callable[..., Any]  # runs a traced call: (interventions of the target, run, args, kwargs) -> result
    programs: Callable[..., Any]  # returns the `Programs` of a root while this is the last active intervention


active: tuple[Any, ...] = ()


def add(intervention: Any) -> None:
    """Make an intervention active, on all threads."""
    global active
    active = (*active, intervention)
    trace_state.epoch.bump()


def remove(intervention: Any) -> None:
    """End an intervention. Programs that were traced before it are used again."""
    global active
    active = tuple(each for each in active if each is not intervention)
    trace_state.epoch.bump()


def state() -> tuple[Any, ...]:
    """Return the active interventions in the form that programs compare."""
    return tuple(each.key for each in active)


def run(target: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return ``function(*args, **kwargs)``, a traced call of `target`, with the interventions on it."""
    own = [each for each in active if each.target is target]
    return own[0].call(own, function, args, kwargs) if own else function(*args, **kwargs)
