"""Build the graph of a network that fails to trace: the operators before the failure, then a node for the failure."""

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

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_NAMED = re.compile(r"For '([A-Za-z_]\w*)'")  # the beginning of msnb's messages


def graph_before(error: BaseException, name: str | None = None, message: str | None = None) -> "FuncGraph | None":
    """Return the part of a network that was traced before `error`.

    Args:
        error (BaseException): the error of tracing.
        name (str): name of the graph. Default: None, the program's name.
        message (str): message for the reader. Default: None, the class and first line of the error.

    Returns:
        FuncGraph, whose last node represents the failure: its `problem` is `message`, and it has no results. None for
            an error that tracing did not raise.
    """
    trace = partial_trace.partial_trace_of(error)
    if trace is None:
        return None
    closed, names = number_names(trace.jaxpr)
    closed, inputs = _drop_unread_inputs(closed, trace.inputs)
    results = SimpleNamespace(static=[None] * len(closed.jaxpr.outvars), rebuild=tuple)
    program = SimpleNamespace(jaxpr=closed, names=names, inputs=inputs, written=(), results=results)
    graph = of_program(program, name or trace.name)
    uses = [_make_constant_node(value) if index is None else graph.outputs[index] for index, value in trace.taken]
    default_message = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    operator_match = _NAMED.search(default_message)
    op, attrs = default_operator_of(trace.operator or "") or (
        operator_match[1] if operator_match else type(error).__name__,
        {},
    )
    node = CNode(
        op,
        tuple(source for source, _ in uses),
        tuple(slot for _, slot in uses),
        (),
        attrs=attrs,
        scope="/".join(_join_scope_segments(trace.stacks)),
        source=trace.source,
        id=len(graph),
        problem=message or default_message,
    )
    node.func_graph = graph
    graph.nodes.append(node)
    graph.outputs, graph.result_names = [], ()
    return graph


def _drop_unread_inputs(closed, inputs):
    """Return (jaxpr, inputs) without the Parameters and random keys that no traced equation reads."""
    jaxpr = closed.jaxpr
    read = {var for eqn in jaxpr.eqns for var in eqn.invars if not isinstance(var, Literal)}.union(jaxpr.outvars)
    read_inputs = [(v, entry) for v, entry in zip(jaxpr.invars, inputs, strict=True) if v in read or entry[0] == "arg"]
    debug = jaxpr.debug_info.with_unknown_names()
    return closed.replace(jaxpr=jaxpr.replace(invars=[v for v, _ in read_inputs], debug_info=debug)), [
        e for _, e in read_inputs
    ]


def _join_scope_segments(stacks):
    """Return the segments of the innermost name stack, preceded by the outer stacks."""
    path = ()
    for stack in stacks:
        segments, _ = parse(stack)
        if path[: len(segments)] != segments:
            path = segments + path
    return path


def _make_constant_node(value):
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    types = () if shape is None else (TensorType(dtype_name(dtype), tuple(shape), getattr(dtype, "itemsize", 0)),)
    return ValueNode(value, types), 0
