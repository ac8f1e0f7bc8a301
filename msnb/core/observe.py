"""Observers of compiled programs: what a tool adds to the outputs while it looks on; nothing when none does.

An observer has two methods:

* ``rewrite(program)`` returns a ClosedJaxpr with the inputs of ``program.jaxpr`` whose outputs are the program's own,
  followed by further arrays; or None to leave this program alone. It is asked again when observers come and go.
* ``receive(program, run)`` is called after each run with a `Run`, whose arrays may still be computing. An exception in
  it reaches the caller of the program, whose Parameters are written by then.

An observed program leaves the arrays that it reads alive: whoever keeps `Run.inputs` can run it again. Programs hold
observers weakly, so that what one has recorded goes when its owner lets go of it. A program that is run under a
PYNATIVE gradient is one node of the tape and is not observed.
"""

from typing import NamedTuple

from msnb.core import trace


class Run(NamedTuple):
    """One run of an observed program.

    Attributes:
        inputs (list[jax.Array]): in the order of ``program.jaxpr``. Another program that is not observed may write
            over those of Parameters later on.
        outputs (list[jax.Array]): likewise: the results, then the new values of the written Parameters.
        extras (list[jax.Array]): what the observer added.
    """

    inputs: list
    outputs: list
    extras: list


observers = ()


def add(observer):
    """Let `observer` look on from the next call of each program on. Returns it."""
    global observers
    if observer not in observers:
        observers = (*observers, observer)
        trace.moves.bump()
    return observer


def remove(observer):
    """Undo `add`; programs run their own form again."""
    global observers
    if observer in observers:
        observers = tuple(o for o in observers if o is not observer)
        trace.moves.bump()
