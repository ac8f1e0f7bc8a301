"""Further outputs: a form of a compiled program that returns, beside its results, what a tool wants to see of it.

That is more than being told that a program ran (`core.events`): what a tool adds is computed inside the program, in
the one compiled call. Such a tool, an observer, has two methods:

* ``rewrite(program)`` returns a ClosedJaxpr with the inputs of ``program.jaxpr`` whose outputs are the program's own,
  followed by further arrays; or None to leave this program alone. It is asked again when observers come and go.
* ``receive(program, run)`` is called after each run with a `Run`, whose arrays may still be computing.

An exception in either is logged, and the observer dropped; the program's results and Parameters are what they would
be without it. An observer that has a third method, ``dropped(why)``, is told so, to show it: `why` is the sentence of
the log.

An observed program leaves the arrays that it reads alive: whoever keeps `Run.inputs` can run it again. Programs hold
observers weakly, so that what one has recorded goes when its owner lets go of it. A program that is run under a
PYNATIVE gradient is one node of the tape and is not observed.
"""

from typing import Any, NamedTuple

from msnb import log
from msnb.core.state import events, trace_state


class Run(NamedTuple):
    """One run of an observed program.

    Attributes:
        inputs (list[jax.Array]): in the order of ``program.jaxpr``. Another program that is not observed may write
            over those of Parameters later on.
        outputs (list[jax.Array]): likewise: the results, then the new values of the written Parameters.
        extras (list[jax.Array]): what the observer added.
    """

    inputs: list[Any]
    outputs: list[Any]
    extras: list[Any]


observers: tuple[Any, ...] = ()


def add(observer: Any) -> Any:
    """Let `observer` look on from the next call of each program on. Returns it."""
    global observers
    if observer not in observers:
        observers = (*observers, observer)
        trace_state.storage_epoch.bump()
    return observer


def remove(observer: Any) -> None:
    """Undo `add`; programs run their own form again."""
    global observers
    if observer in observers:
        observers = tuple(o for o in observers if o is not observer)
        trace_state.storage_epoch.bump()


def rewritten(observer: Any, program: Any) -> Any:
    """What `observer` makes of `program`; None, and it is dropped, where it fails."""
    try:
        return observer.rewrite(program)
    except Exception as problem:
        _drop(observer, f"asked for a form of {program.name}", problem)


def hand(observer: Any, program: Any, run: Any) -> None:
    """Give `observer` what it sees of a run; it is dropped where it fails."""
    try:
        observer.receive(program, run)
    except Exception as problem:
        _drop(observer, f"given a run of {program.name}", problem)


def _drop(observer, when, problem):
    remove(observer)
    why = events.describe_failure(type(observer).__name__, f"it was {when}", problem)
    log.warning("%s", why)
    if hasattr(observer, "dropped"):
        observer.dropped(why)
