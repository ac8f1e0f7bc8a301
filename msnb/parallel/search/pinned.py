"""A graph held to what was chosen: each equation finds its operands, and leaves its results, as its choice says.

All are pinned: what is left to XLA's propagation in between may cost several times what was foreseen. From one layout
to another a value goes by the steps that were foreseen, each of which is pinned as well.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from msnb.core._jax_private import written_at
from msnb.parallel.mesh import sharding
from msnb.parallel.search.costs import Layout, Machines
from msnb.parallel.search.flat import Flat, Value
from msnb.parallel.search.problem import Choice


def pinned(
    graph: Flat,
    choices: list[Choice],
    machines: Machines,
    place: Callable[[Layout], NamedSharding],
    returned: Mapping[int, Layout],
) -> Callable[..., list[Any]]:
    """The function that `graph` stands for, held to `choices`.

    Args:
        graph (Flat): The graph.
        choices (list[Choice]): One for each of its inputs, then one for each of its first equations.
        machines (Machines): What it was chosen for.
        place (Callable): From a layout to a sharding.
        returned (Mapping): {output: layout} for those that are to lie so.
    """
    count = len(graph.inputs)

    def run(*arguments):
        known = {id(v): a for v, a in zip(graph.inputs, arguments, strict=True)}
        lying = {id(v): choice.outputs[0] for v, choice in zip(graph.inputs, choices, strict=False)}
        moved = {}

        def fetch(value, layout):
            """A value as it is wanted; for several who want it alike it is moved once."""
            if not isinstance(value, Value):
                return value
            if not layout or id(value) not in lying:
                return known[id(value)]
            if (id(value), layout) not in moved:
                array = known[id(value)]
                for step in machines.way(lying[id(value)], layout, value.shape) or [layout]:
                    array = jax.lax.with_sharding_constraint(array, place(step))
                moved[id(value), layout] = array
            return moved[id(value), layout]

        for number, equation in enumerate(graph.equations, count):
            choice = choices[number] if number < len(choices) else None
            wanted = [()] * len(equation.inputs) if choice is None else choice.inputs
            with written_at(equation.where):  # what it sends for its operands stands there as well
                given = [fetch(i, layout) for i, layout in zip(equation.inputs, wanted, strict=True)]
                made = _bound(equation.primitive, given, equation.primitive.get_bind_params(equation.params))
                if choice is not None:
                    lying.update({id(v): layout for v, layout in zip(equation.outputs, choice.outputs, strict=True)})
                    made = [
                        jax.lax.with_sharding_constraint(m, place(layout)) if layout else m
                        for m, layout in zip(made, choice.outputs, strict=True)
                    ]
            known.update({id(v): m for v, m in zip(equation.outputs, made, strict=True)})
        return [fetch(o, returned.get(i, ())) for i, o in enumerate(graph.outputs)]

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
