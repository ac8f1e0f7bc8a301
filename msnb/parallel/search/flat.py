"""A traced graph as one list of JAX's equations: what calls of operators and Cells hold stands in their place.

Loops and branches stay what they are, one equation each, and so does what is to be computed once more for a gradient.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from msnb.core._jax_private import inside_call, under
from msnb.core.measured import TRANSPARENT

KEPT = (
    "checkpoint",
    "remat",
    "remat2",
)  # what they hold is computed once more for a gradient: opened, it would be kept


class Value:
    """What an equation makes, or the graph is given.

    Attributes:
        shape (tuple[int, ...]): Its shape.
        bytes (int): Its size.
        aval (jax.core.AbstractValue): What JAX says of it.
    """

    __slots__ = ("aval", "bytes", "shape")

    def __init__(self, aval: Any) -> None:
        self.aval = aval
        self.shape: tuple[int, ...] = tuple(getattr(aval, "shape", ()))
        self.bytes: int = math.prod(self.shape) * getattr(getattr(aval, "dtype", None), "itemsize", 0)


class Equation(NamedTuple):
    """One equation.

    Attributes:
        primitive (jax.extend.core.Primitive): What is computed.
        params (dict): How.
        inputs (list): `Value`, or a constant of the graph: an array or a number.
        outputs (list[Value]): What it makes.
        where (SourceInfo): Its line, and its scope within the calls that were opened; None where that is not known.
            Default: None.
    """

    primitive: Any
    params: dict[str, Any]
    inputs: list[Any]
    outputs: list[Value]
    where: Any = None

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the inputs."""
        return [i.shape if isinstance(i, Value) else np.shape(i) for i in self.inputs]


class Opened(NamedTuple):
    """What a call of the graph was replaced by.

    Attributes:
        inputs (list): What it was given: `Value`, or a constant.
        outputs (list): What it makes.
        first (int): Number of its first equation.
        end (int): Number of the first one behind it.
    """

    inputs: list[Any]
    outputs: list[Any]
    first: int
    end: int


class Flat(NamedTuple):
    """A graph without calls.

    Attributes:
        inputs (list[Value]): What it is given.
        equations (list[Equation]): In an order in which they can be computed.
        outputs (list): `Value`, or a constant.
        calls (dict[Var, Opened]): The calls that stood in the graph itself, by the first variable that each makes.
    """

    inputs: list[Value]
    equations: list[Equation]
    outputs: list[Any]
    calls: dict[Any, Opened]

    def needed(self) -> set[int]:
        """Of the values that a result needs, and all that are made beside one of these, the ids."""
        found = {id(o) for o in self.outputs}
        for equation in reversed(self.equations):
            if any(id(o) in found for o in equation.outputs):
                found.update(map(id, (*equation.inputs, *equation.outputs)))
        return found


def flat(closed: ClosedJaxpr) -> Flat:
    """The graph `closed` without calls."""
    return _flat(closed.jaxpr, closed.consts)


def flat_body(equation: Equation) -> Flat:
    """The graph that an equation holds as its parameter `jaxpr`, without calls."""
    body = equation.params["jaxpr"]
    return _flat(getattr(body, "jaxpr", body), getattr(body, "consts", ()))


def _flat(graph: Jaxpr, constants: Any) -> Flat:
    equations: list[Equation] = []
    calls: dict[Any, Opened] = {}

    def walk(jaxpr: Jaxpr, held: Any, arguments: Any, call: Any = None) -> list[Any]:
        scopes: dict[Any, Any] = {}
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, held, strict=True))
        known.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom):
            return atom.val if isinstance(atom, Literal) else known[atom]

        for eqn in jaxpr.eqns:
            given = [read(v) for v in eqn.invars]
            where = eqn.source_info if call is None else under(eqn.source_info, call, scopes)
            opened = TRANSPARENT.get(eqn.primitive.name, "") if eqn.primitive.name not in KEPT else ""
            body = eqn.params.get(opened)
            if body is None:
                made = [Value(v.aval) for v in eqn.outvars]
                equations.append(Equation(eqn.primitive, eqn.params, given, made, where))
            else:
                first = len(equations)
                inside = inside_call(where, eqn.params.get("name"))
                made = walk(getattr(body, "jaxpr", body), getattr(body, "consts", ()), given, inside)
                if jaxpr is graph and eqn.outvars:
                    calls[eqn.outvars[0]] = Opened(given, made, first, len(equations))
            known.update(zip(eqn.outvars, made, strict=True))
        return [read(v) for v in jaxpr.outvars]

    inputs = [Value(v.aval) for v in graph.invars]
    return Flat(inputs, equations, walk(graph, constants, inputs), calls)
