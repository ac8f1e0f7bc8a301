"""A graph held to what was chosen: each equation finds its operands, and leaves its results, as its choice says.

All are pinned: what is left to XLA's propagation in between may cost several times what was foreseen.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from msnb.parallel.mesh import sharding
from msnb.parallel.search.costs import Layout
from msnb.parallel.search.flat import Flat, Value
from msnb.parallel.search.problem import Choice


def pinned(graph: Flat, choices: list[Choice], place: Callable[[Layout], NamedSharding]) -> Callable[..., list[Any]]:
    """The function that `graph` stands for, its first equations held to `choices`.

    Args:
        graph (Flat): The graph.
        choices (list[Choice]): One for each of its equations, as far as there are any.
        place (Callable): From a layout to a sharding.
    """

    def hold(value, layout):
        return jax.lax.with_sharding_constraint(value, place(layout)) if layout else value

    def run(*arguments):
        known = {id(v): a for v, a in zip(graph.inputs, arguments, strict=True)}
        for number, equation in enumerate(graph.equations):
            given = [known[id(i)] if isinstance(i, Value) else i for i in equation.inputs]
            choice = choices[number] if number < len(choices) else None
            if choice is not None:
                held = zip(equation.inputs, given, choice.inputs, strict=True)
                given = [hold(g, layout) if isinstance(i, Value) else g for i, g, layout in held]
            params = equation.primitive.get_bind_params(equation.params)
            made = _bound(equation.primitive, given, params)
            if choice is not None:
                made = [hold(m, layout) for m, layout in zip(made, choice.outputs, strict=True)]
            known.update({id(v): m for v, m in zip(equation.outputs, made, strict=True)})
        return [known[id(o)] if isinstance(o, Value) else o for o in graph.outputs]

    return run


def _bound(primitive, given, params):
    if isinstance(params, tuple):  # of JAX before 0.10: functions that it takes besides
        functions, params = params
        given = [*functions, *given]
    made = primitive.bind(*given, **params)
    return list(made) if primitive.multiple_results else [made]


def placing(mesh: AbstractMesh | Mesh, names: dict[str, tuple[str, ...]]) -> Callable[[Layout], NamedSharding]:
    """From layouts to shardings on a mesh; `names` has the axes of the mesh for each axis of the search."""
    return lambda layout: sharding(mesh, [tuple(n for axis in axes for n in names[axis]) for axes in layout])
