"""Adds measurements to a program: the same equations, and further outputs that are computed from values inside it.

`instrument` takes a jaxpr and gives one back that JAX compiles as one program. What is measured and how is the
caller's: gradient summaries, watchpoints and summaries of tensors stand on it alike.

A value inside a loop is measured in each round, and the rounds are merged; one inside a branch is measured when the
branch runs. Values in the condition of a `while` cannot be measured: they are listed in `Instrumented.missed`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.core.jaxpr.instrument import TRANSPARENT, Measure
from msnb.core.jaxpr.instrument import instrument as measured
from msnb.ir.anf import CNode
from msnb.ir.read import read


@dataclasses.dataclass(frozen=True)
class Point:
    """A value inside a program.

    Attributes:
        node (Union[CNode, None]): the operator that makes it; None for a value that `checkpoint_name` labelled.
        slot (int): which of the results of its equation it is.
        shape (tuple), dtype (numpy.dtype): what it is.
        label (str): the name that `checkpoint_name` gave, "" for other values.
        nested (bool): whether it stands inside a loop or a branch.
    """

    node: CNode | None
    slot: int
    shape: tuple[Any, ...]
    dtype: np.dtype
    label: str = ""
    nested: bool = False


@dataclasses.dataclass(frozen=True)
class Instrumented:
    """What `instrument` returns.

    Attributes:
        jaxpr (ClosedJaxpr): the program's inputs; its own outputs, then the further ones.
        points (list[Point]): what is measured, in the order of execution.
        missed (list[Point]): what was chosen but stands where nothing can be measured.
        graph (FuncGraph): the program as it was read; the nodes of the points are its nodes.
    """

    jaxpr: object
    points: list[Any]
    missed: list[Any]
    graph: object


def instrument(
    closed: ClosedJaxpr,
    choose: Callable[..., Any],
    measure: Measure,
    inputs: list[tuple[Any, ...]] | None = None,
    name: str = "main",
) -> Instrumented:
    """Add measurements to a program.

    Args:
        closed (ClosedJaxpr): the program.
        choose (Callable): from the list of all Points to those that are to be measured.
        measure (Measure): how.
        inputs (list[tuple]): what the inputs are, as for `msnb.ir.read`. Default: None.
        name (str): name of the graph. Default: "main".

    Returns:
        Instrumented.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> class Largest(Measure):
        ...     def measure(self, point, array):
        ...         return jnp.abs(array).max()
        >>> made = instrument(jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(jnp.ones(3)), lambda points: points, Largest())
        >>> [point.node.op for point in made.points]
        ['sin', 'mul']
    """
    order = []

    def visit(node, eqn, path):
        label = eqn.params["name"] if node is None else ""
        key = (*path, id(eqn))
        nested = any(kinds[number] not in TRANSPARENT for number, _ in path)
        found = [
            Point(node, slot, tuple(var.aval.shape), var.aval.dtype, label, nested)
            for slot, var in enumerate(eqn.outvars)
            if type(var).__name__ != "DropVar" and hasattr(var.aval, "shape")
        ]
        order.append((key, found))

    kinds = _kinds(closed.jaxpr, {})
    graph = read(closed, name, inputs, visit=visit)
    everything = [point for _, found in order for point in found]
    chosen = {id(point) for point in choose(everything)}
    wanted = {}
    for key, found in order:
        picked = [point for point in found if id(point) in chosen]
        if picked:
            wanted[key] = picked
    made, points = measured(closed, wanted, measure)
    reached = {id(point) for point in points}
    return Instrumented(made, points, [p for p in everything if id(p) in chosen and id(p) not in reached], graph)


def _kinds(jaxpr, kinds):
    """{id of an equation: its primitive}, of nested ones too."""
    for eqn in jaxpr.eqns:
        kinds[id(eqn)] = eqn.primitive.name
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    _kinds(inner, kinds)
    return kinds
