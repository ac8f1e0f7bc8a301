"""The graph of a network that fails to trace: the operators before the failure, and a last node for what failed."""

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msnb.core.compat.jax_private import Literal
from msnb.core.jaxpr import partial_trace
from msnb.core.jaxpr.op_names import number_names

from .anf import CNode, TensorType, ValueNode
from .api import of_program
from .read import default_operator_of, dtype_name
from .scope import parse

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph

_NAMED = re.compile(r"For '([A-Za-z_]\w*)'")  # how sentences of msnb begin


def graph_before(error: BaseException, name: str | None = None, said: str | None = None) -> "FuncGraph | None":
    """The part of a network that was traced before `error`.

    Args:
        error (BaseException): what tracing the network has raised.
        name (str): name of the graph. Default: None, the program's.
        said (str): the sentence of the error for its reader. Default: None, class and first line of the error.

    Returns:
        FuncGraph, whose last node is what failed: its `problem` is `said`, and it has no results.
        None for an error that did not come of tracing.
    """
    found = partial_trace.partial_trace_of(error)
    if found is None:
        return None
    closed, names = number_names(found.jaxpr)
    closed, inputs = _without_unread(closed, found.inputs)
    program = SimpleNamespace(
        jaxpr=closed, names=names, inputs=inputs, written=(), static=[None] * len(closed.jaxpr.outvars)
    )
    graph = of_program(program, name or found.name)
    uses = [_constant(value) if place is None else graph.outputs[place] for place, value in found.taken]
    own = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    said_of = _NAMED.search(own)
    op, attrs = default_operator_of(found.operator or "") or (said_of[1] if said_of else type(error).__name__, {})
    node = CNode(
        op,
        tuple(source for source, _ in uses),
        tuple(slot for _, slot in uses),
        (),
        attrs=attrs,
        scope="/".join(_scope(found.stacks)),
        source=found.source,
        id=len(graph),
        problem=said or own,
    )
    node.func_graph = graph
    graph.nodes.append(node)
    graph.outputs = []
    return graph


def _without_unread(closed, inputs):
    """(jaxpr, inputs) without Parameters and random numbers that the trace has not come to."""
    jaxpr = closed.jaxpr
    read = {var for eqn in jaxpr.eqns for var in eqn.invars if not isinstance(var, Literal)}.union(jaxpr.outvars)
    kept = [(v, entry) for v, entry in zip(jaxpr.invars, inputs, strict=True) if v in read or entry[0] == "arg"]
    debug = jaxpr.debug_info.with_unknown_names()
    return closed.replace(jaxpr=jaxpr.replace(invars=[v for v, _ in kept], debug_info=debug)), [e for _, e in kept]


def _scope(stacks):
    """The segments of the innermost name stack, with those around where it begins anew."""
    path = ()
    for stack in stacks:
        segments, _ = parse(stack)
        if path[: len(segments)] != segments:
            path = segments + path
    return path


def _constant(value):
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    types = () if shape is None else (TensorType(dtype_name(dtype), tuple(shape), getattr(dtype, "itemsize", 0)),)
    return ValueNode(value, types), 0
