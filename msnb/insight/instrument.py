"""Add measurements to a program: the same equations, with extra outputs that are computed from intermediate values.

`instrument` takes a jaxpr and returns a jaxpr that JAX compiles as one program. The caller supplies the measurement:
gradient statistics, watchpoints and summaries of tensors all use it.

A value inside a loop is measured in each iteration, and the results are merged. A value inside a branch is measured
when the branch runs. Values in the condition of a `while` can't be measured; `Instrumented.missed` lists them.
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
        node (Union[CNode, None]): the operator that computes it; None for a value labelled by `checkpoint_name`.
        slot (int): index among the results of its equation.
        shape (tuple), dtype (numpy.dtype): shape and dtype of the value.
        label (str): label of the value from `checkpoint_name`, "" for other values.
        nested (bool): True inside a loop or a branch.
        loops (int): number of loops around the value.
        in_condition (bool): True in the condition of a `while`, where a value can be neither measured nor replaced.
        vmapped (bool): True inside a function that `vmap` maps, where the value has one more axis.
    """

    node: CNode | None
    slot: int
    shape: tuple[Any, ...]
    dtype: np.dtype
    label: str = ""
    nested: bool = False
    loops: int = 0
    in_condition: bool = False
    vmapped: bool = False


@dataclasses.dataclass(frozen=True)
class Instrumented:
    """The result of `instrument`.

    Attributes:
        jaxpr (ClosedJaxpr): has the program's inputs and outputs, followed by the extra outputs.
        points (list[Point]): the measured values, in the order of execution.
        missed (list[Point]): chosen values that can't be measured.
        graph (FuncGraph): the original program; the nodes of the points are its nodes.
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
        choose (Callable): takes the list of all Points and returns those to measure.
        measure (Measure): the measurement.
        inputs (list[tuple]): descriptions of the inputs, as for `msnb.ir.read`. Default: None.
        name (str): name of the graph. Default: "main".

    Returns:
        Instrumented.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> class Largest(Measure):
        ...     def measure(self, point, array):
        ...         return jnp.abs(array).max()
        >>> result = instrument(jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(jnp.ones(3)), lambda points: points, Largest())
        >>> [point.node.op for point in result.points]
        ['sin', 'mul']
    """
    points_by_key, graph = list_points(closed, inputs, name)
    everything = [point for points in points_by_key.values() for point in points]
    chosen = {id(point) for point in choose(everything)}
    picked_by_equation = {}
    for key, points_of_equation in points_by_key.items():
        picked = [point for point in points_of_equation if id(point) in chosen]
        if picked:
            picked_by_equation[key] = picked
    measured_jaxpr, points = measured(closed, picked_by_equation, measure)
    reached = {id(point) for point in points}
    return Instrumented(
        measured_jaxpr, points, [p for p in everything if id(p) in chosen and id(p) not in reached], graph
    )


def list_points(
    closed: ClosedJaxpr, inputs: list[tuple[Any, ...]] | None = None, name: str = "main"
) -> tuple[dict[tuple[Any, ...], list[Point]], Any]:
    """Return ({key of an equation: its points, in the order of execution}, graph) of a program.

    Keys have the form that `core.jaxpr.instrument.instrument` documents.
    """
    points_by_key: dict[tuple[Any, ...], list[Point]] = {}

    def visit(node, eqn, path):
        label = eqn.params["name"] if node is None else ""
        around = [kinds[number] for number, _ in path]
        nested = any(kind not in TRANSPARENT for kind in around)
        loops = sum(kind in ("while", "scan") for kind in around)
        in_condition = any(kinds[number] == "while" and index == 0 for number, index in path)
        vmapped = "vmap(" in str(eqn.source_info.name_stack)
        points_by_key[(*path, id(eqn))] = [
            Point(node, slot, tuple(var.aval.shape), var.aval.dtype, label, nested, loops, in_condition, vmapped)
            for slot, var in enumerate(eqn.outvars)
            if type(var).__name__ != "DropVar" and hasattr(var.aval, "shape")
        ]

    kinds = _map_id_to_primitive(closed.jaxpr, {})
    return points_by_key, read(closed, name, inputs, visit=visit)


def _map_id_to_primitive(jaxpr, kinds):
    """Return {id of an equation: its primitive}, including nested equations."""
    for eqn in jaxpr.eqns:
        kinds[id(eqn)] = eqn.primitive.name
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    _map_id_to_primitive(inner, kinds)
    return kinds
