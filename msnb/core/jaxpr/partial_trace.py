"""The partial trace of a network that fails to trace: the operators before the error, and the one that failed.

It is stored on the exception, for graph views. A trace without errors has no overhead.
"""

import contextlib
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.compat.jax_private import get_partial_jaxpr, is_tracer, name_stack
from msnb.core.errors.messages import is_library_code
from msnb.core.jaxpr.inline_calls import inline_calls
from msnb.core.jaxpr.op_names import GraphName

_ATTRIBUTE = "_msnb_unfinished"  # attribute of the exception that stores the partial trace


class PartialTrace:
    """The equations that were traced before an error, and the operator that failed.

    Attributes:
        name (str): Name of the program.
        jaxpr (ClosedJaxpr): The equations so far; its results are the traced inputs of the failed operator.
        inputs (list): Description of each jaxpr input, as in `Program.inputs`.
        operator (GraphName): The operator that failed; None if other code failed.
        stacks (list[str]): JAX's name stacks around the error, innermost first, one for each nested trace (branch or
            loop body).
        taken (list): For each input of the failed operator (index of the jaxpr result, None), or (None, value) if it is
            not a result.
        source (tuple): (file, line, function) of the user's code, None if none was running.
    """

    def __init__(self) -> None:
        self.name: str = ""
        self.jaxpr: Any = None
        self.inputs: list[tuple[Any, ...]] = []
        self.operator: GraphName | None = None
        self.stacks: list[str] = []
        self.taken: list[tuple[int | None, Any]] = []
        self.source: tuple[Any, ...] | None = None
        self.arrays: Sequence[Any] = ()  # inputs of the operator, until the jaxpr is stored


def partial_trace_of(error: BaseException) -> PartialTrace | None:
    """Return the partial trace stored on `error`, or None."""
    partial = vars(error).get(_ATTRIBUTE)
    return partial if partial is not None and partial.jaxpr is not None else None


def record_error(error: BaseException, operator: GraphName | None = None, arrays: Sequence[Any] = ()) -> None:
    """Record on `error` its position in the trace. The innermost caller names the operator; outer callers add name
    stacks.
    """
    partial = vars(error).get(_ATTRIBUTE)
    if partial is None or partial.jaxpr is not None:  # an entry with a jaxpr belongs to an earlier trace
        partial = PartialTrace()
        partial.operator, partial.arrays = operator, arrays
        vars(error)[_ATTRIBUTE] = partial
    partial.stacks.append(name_stack())


def store_on_error(
    traced: Callable[..., Any], describe: Callable[[], tuple[str, list[Any], Any]]
) -> Callable[..., Any]:
    """Wrap `traced` so that an error stores the partial trace on itself.

    Args:
        traced (Callable): The function that JAX traces.
        describe (Callable): Returns the name of the program, the descriptions of its inputs, and the Parameters that it
            reads without having them as inputs.
    """

    def wrapper(*args):
        try:
            return traced(*args)
        except Exception as error:
            record_error(error)
            _store_partial_trace(vars(error)[_ATTRIBUTE], error, describe)
            raise

    return wrapper


def _store_partial_trace(partial, error, describe):
    # An error in this function must not replace the user's error.
    with contextlib.suppress(Exception):
        name, inputs, extra_params = describe()
        closed, indices, is_input = get_partial_jaxpr(partial.arrays, [p._get_stored_array() for p in extra_params])
        read = [
            ("param", p.name, p.requires_grad) for p, is_read in zip(extra_params, is_input, strict=True) if is_read
        ]
        partial.name, partial.inputs = name, [*inputs, *read]
        partial.taken = [(index, None if is_tracer(a) else a) for index, a in zip(indices, partial.arrays, strict=True)]
        partial.source = _find_user_location(error.__traceback__)
        partial.jaxpr = inline_calls(closed)
    partial.arrays = ()


def _find_user_location(tb: types.TracebackType | None) -> tuple[Any, ...] | None:
    """Return the innermost location in the user's code, ignoring libraries that msnb or JAX call."""
    location, in_library = None, False
    while tb is not None:
        code = tb.tb_frame.f_code
        if is_library_code(code.co_filename):
            in_library = True
        elif not (in_library and code.co_filename.startswith((sys.prefix, sys.base_prefix))):
            name = code.co_qualname
            if location is not None and "__msnb_" in name:  # a block of a converted function
                name = location[2]
            location, in_library = (code.co_filename, tb.tb_lineno, name), False
        tb = tb.tb_next
    return location
