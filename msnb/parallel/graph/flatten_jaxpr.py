"""Flatten a traced graph to one list of JAX equations, with calls of operators and Cells inlined.

Loops and branches remain one equation each, and so do recomputed Cells.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from msnb.core.compat.jax_private import inside_call, nest_source_info
from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES, TRANSPARENT


class Value:
    """A result of an equation, or an input of the graph.

    Attributes:
        shape (tuple[int, ...]): Shape of the value.
        bytes (int): Size of the value in bytes.
        aval (jax.core.AbstractValue): JAX type of the value.
    """

    __slots__ = ("aval", "bytes", "shape")

    def __init__(self, aval: Any) -> None:
        self.aval = aval
        self.shape: tuple[int, ...] = tuple(getattr(aval, "shape", ()))
        self.bytes: int = math.prod(self.shape) * getattr(getattr(aval, "dtype", None), "itemsize", 0)


class Equation(NamedTuple):
    """An equation of JAX: a primitive applied to inputs.

    Attributes:
        primitive (jax.extend.core.Primitive): The primitive.
        params (dict): Parameters of the primitive.
        inputs (list): `Value`, or a constant of the graph: an array or a number.
        outputs (list[Value]): The results.
        source_info (SourceInfo): Source location and scope, including the inlined calls. Default: None, unknown.
    """

    primitive: Any
    params: dict[str, Any]
    inputs: list[Any]
    outputs: list[Value]
    source_info: Any = None

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the inputs."""
        return [i.shape if isinstance(i, Value) else np.shape(i) for i in self.inputs]


class InlinedCall(NamedTuple):
    """A call in the traced graph that was replaced by the equations of its body.

    Attributes:
        inputs (list): Arguments of the call: `Value`, or a constant.
        outputs (list): Results of the call.
        first (int): Index of its first equation.
        end (int): Index of the first equation after it.
    """

    inputs: list[Any]
    outputs: list[Any]
    first: int
    end: int


class FlatGraph(NamedTuple):
    """A graph without calls.

    Attributes:
        inputs (list[Value]): The inputs.
        equations (list[Equation]): In topological order.
        outputs (list): `Value`, or a constant.
        calls (dict[Var, InlinedCall]): The calls in the graph's top level, by the first variable that each defines.
    """

    inputs: list[Value]
    equations: list[Equation]
    outputs: list[Any]
    calls: dict[Any, InlinedCall]

    def live_values(self) -> set[int]:
        """Return the ids of all values that a result depends on, with all other results of the same equations."""
        live = {id(o) for o in self.outputs}
        for equation in reversed(self.equations):
            if any(id(o) in live for o in equation.outputs):
                live.update(map(id, (*equation.inputs, *equation.outputs)))
        return live


def flatten_jaxpr(closed: ClosedJaxpr) -> FlatGraph:
    """Return the graph `closed` with calls inlined."""
    return _inline_calls(closed.jaxpr, closed.consts)


def flatten_body(equation: Equation) -> FlatGraph:
    """Return the graph in an equation's parameter `jaxpr`, with calls inlined."""
    body = equation.params["jaxpr"]
    return _inline_calls(getattr(body, "jaxpr", body), getattr(body, "consts", ()))


def _inline_calls(graph: Jaxpr, constants: Any) -> FlatGraph:
    equations: list[Equation] = []
    calls: dict[Any, InlinedCall] = {}

    def walk(jaxpr: Jaxpr, constants: Any, arguments: Any, call: Any = None) -> list[Any]:
        scopes: dict[Any, Any] = {}
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, constants, strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom):
            return atom.val if isinstance(atom, Literal) else values[atom]

        for eqn in jaxpr.eqns:
            operands = [read(v) for v in eqn.invars]
            source_info = eqn.source_info if call is None else nest_source_info(eqn.source_info, call, scopes)
            body_param = TRANSPARENT.get(eqn.primitive.name, "") if eqn.primitive.name not in REMAT_PRIMITIVES else ""
            body = eqn.params.get(body_param)
            if body is None:
                results = [Value(v.aval) for v in eqn.outvars]
                equations.append(Equation(eqn.primitive, eqn.params, operands, results, source_info))
            else:
                first = len(equations)
                inner_call = inside_call(source_info, eqn.params.get("name"))
                results = walk(getattr(body, "jaxpr", body), getattr(body, "consts", ()), operands, inner_call)
                if jaxpr is graph and eqn.outvars:
                    calls[eqn.outvars[0]] = InlinedCall(operands, results, first, len(equations))
            values.update(zip(eqn.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    inputs = [Value(v.aval) for v in graph.invars]
    return FlatGraph(inputs, equations, walk(graph, constants, inputs), calls)
