"""Variants of a compiled program that also return values for an observer, as extra outputs.

An event (`core.state.events`) only reports that a program ran. An observer gets values from inside the program, as
extra outputs of the same compiled call. An observer has two methods:

* ``rewrite(program)`` returns a ClosedJaxpr with the inputs of ``program.jaxpr``. Its outputs are the program's own,
  followed by extra arrays. It returns None to leave the program unchanged. It is called again when observers change.
* ``receive(program, run)`` is called after each run with a `Run`, whose arrays may still be computing.

An exception in either is logged, and the observer is removed. The results and Parameters of the program are unchanged.
An observer that has to end the user's call raises `Halt` in either. Two further methods are optional:

* ``wants(program)`` is called before each run. If it returns False, the program runs the form of the other observers,
  or its own if there are none. All forms stay compiled, so that an observer can receive only every n-th step.
* ``dropped(why)`` is called with the sentence of the log when the observer is removed.

An observed program does not donate the arrays that it reads: `Run.inputs` can be run again. Programs hold observers
weakly, so recorded arrays are freed with the owner of the observer. A program that runs under a PYNATIVE gradient is
one node of the tape and is not observed.
"""

from typing import Any, NamedTuple

from msnb import log
from msnb.core.state import events, trace_state


class Run(NamedTuple):
    """One run of an observed program: inputs, outputs and extra outputs.

    Attributes:
        inputs (list[jax.Array]): In the order of ``program.jaxpr``. A later run of another program that is not observed
            may overwrite arrays of Parameters.
        outputs (list[jax.Array]): In the order of ``program.jaxpr``: results, then new values of written Parameters.
        extras (list[jax.Array]): Outputs that the observer added.
        call (int): Number of the run among the calls of the program, from 0. It selects the executable that computes
            the same bits again, see `tiered_compilation`.
    """

    inputs: list[Any]
    outputs: list[Any]
    extras: list[Any]
    call: int


class Halt(Exception):
    """Raised by an observer to end the call of the program. It reaches the user; the observer stays."""


observers: tuple[Any, ...] = ()


def add(observer: Any) -> Any:
    """Add an observer of every program, from the next call on. Returns `observer`."""
    global observers
    if observer not in observers:
        observers = (*observers, observer)
        trace_state.storage_epoch.bump()
    return observer


def remove(observer: Any) -> None:
    """Remove an observer; programs then run without its extra outputs."""
    global observers
    if observer in observers:
        observers = tuple(o for o in observers if o is not observer)
        trace_state.storage_epoch.bump()


def rewrite_program(observer: Any, program: Any) -> Any:
    """Return the variant of `program` that `observer` asks for.

    Return None if the observer raises, and remove it. `Halt` propagates.
    """
    try:
        return observer.rewrite(program)
    except Halt:
        raise
    except Exception as problem:
        _remove_failed_observer(observer, f"asked for a form of {program.name}", problem)


def send_run(observer: Any, program: Any, run: Any) -> None:
    """Send a run to `observer`. An observer that raises is removed; `Halt` propagates."""
    try:
        observer.receive(program, run)
    except Halt:
        raise
    except Exception as problem:
        _remove_failed_observer(observer, f"given a run of {program.name}", problem)


def is_wanted(observer: Any, program: Any) -> bool:
    """Return True if `observer` wants the next run of `program`. An observer that raises is removed."""
    try:
        return not hasattr(observer, "wants") or bool(observer.wants(program))
    except Exception as problem:
        _remove_failed_observer(observer, f"asked about a run of {program.name}", problem)
        return False


def _remove_failed_observer(observer, when, problem):
    remove(observer)
    why = events.describe_failure(type(observer).__name__, f"it was {when}", problem)
    log.warning("%s", why)
    if hasattr(observer, "dropped"):
        observer.dropped(why)
