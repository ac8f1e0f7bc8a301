"""What was traced of a network that fails to trace: the operators before, and what failed.

It is kept with the error, so that a view can draw it. While nothing fails, nothing of this runs.
"""

import contextlib
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.compat.jax_private import is_tracer, name_stack, traced_so_far
from msnb.core.errors.messages import is_machinery
from msnb.core.jaxpr.inline_calls import inline_calls
from msnb.core.jaxpr.op_names import GraphName

_ON = "_msnb_unfinished"  # the error's attribute


class Unfinished:
    """The trace of a program that an error has ended.

    Attributes:
        name (str): Name of the program.
        jaxpr (ClosedJaxpr): What was traced; its results are the inputs of what failed, as far as they are known.
        inputs (list): Per jaxpr input what it is, as `Program.inputs` says it.
        operator (GraphName): What failed; None where that was no operator.
        stacks (list[str]): JAX's name stacks around it, innermost first; one within a branch or loop begins anew.
        taken (list): Per input of what failed its place among the results; of one that is none of them, its value.
        source (tuple): (file, line, function) of the user's code there, None where none of it was running.
    """

    def __init__(self) -> None:
        self.name: str = ""
        self.jaxpr: Any = None
        self.inputs: list[tuple[Any, ...]] = []
        self.operator: GraphName | None = None
        self.stacks: list[str] = []
        self.taken: list[tuple[int | None, Any]] = []
        self.source: tuple[Any, ...] | None = None
        self.arrays: Sequence[Any] = ()  # until `keep` has looked


def of(error: BaseException) -> Unfinished | None:
    """What was traced before `error`; None where it came of something else."""
    found = vars(error).get(_ON)
    return found if found is not None and found.jaxpr is not None else None


def note(error: BaseException, operator: GraphName | None = None, arrays: Sequence[Any] = ()) -> None:
    """Remember with `error` where in the trace it came up: who stands nearest to it says what failed, who stands around
    says where that was."""
    found = vars(error).get(_ON)
    if found is None or found.jaxpr is not None:  # or it was raised in another trace before
        found = Unfinished()
        found.operator, found.arrays = operator, arrays
        vars(error)[_ON] = found
    found.stacks.append(name_stack())


def keeping(traced: Callable[..., Any], describe: Callable[[], tuple[str, list[Any], Any]]) -> Callable[..., Any]:
    """`traced`, which keeps with an error what JAX has traced so far.

    Args:
        traced (Callable): What JAX traces.
        describe (Callable): Gives the name of the program, what its inputs are, and the Parameters that it reads
            without having them as inputs.
    """

    def kept(*args):
        try:
            return traced(*args)
        except Exception as error:
            note(error)
            _keep(vars(error)[_ON], error, describe)
            raise

    return kept


def _keep(found, error, describe):
    # the error counts, and no fault of looking at its trace may take its place
    with contextlib.suppress(Exception):
        name, inputs, further = describe()
        closed, places, there = traced_so_far(found.arrays, [p._stored() for p in further])
        read = [("param", p.name, p.requires_grad) for p, met in zip(further, there, strict=True) if met]
        found.name, found.inputs = name, [*inputs, *read]
        found.taken = [(place, None if is_tracer(a) else a) for place, a in zip(places, found.arrays, strict=True)]
        found.source = _users_line(error.__traceback__)
        found.jaxpr = inline_calls(closed)
    found.arrays = ()


def _users_line(tb: types.TracebackType | None) -> tuple[Any, ...] | None:
    """The innermost line of the user's code: what it calls in the library and in Python's own is not theirs."""
    found, inside = None, False
    while tb is not None:
        code = tb.tb_frame.f_code
        if is_machinery(code.co_filename):
            inside = True
        elif not (inside and code.co_filename.startswith((sys.prefix, sys.base_prefix))):
            name = code.co_qualname
            if found is not None and "__msnb_" in name:  # a block of a function that was converted
                name = found[2]
            found, inside = (code.co_filename, tb.tb_lineno, name), False
        tb = tb.tb_next
    return found
