"""Constrain a graph to the selected choices: each equation's operands and results get the layouts of its choice.

All equations are constrained, because XLA's sharding propagation may send several times the predicted bytes. A value
is resharded in the predicted steps, each of which is constrained as well.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from msnb.core.compat.jax_private import source_context
from msnb.parallel.cost_model.transfer_cost import Layout, MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import FlatGraph, Value
from msnb.parallel.search.choice_problem import Choice
from msnb.parallel.sharding.mesh import sharding


def constrain_graph(
    graph: FlatGraph,
    choices: list[Choice],
    cost_model: MeshCostModel,
    make_sharding: Callable[[Layout], NamedSharding],
    returned: Mapping[int, Layout],
) -> Callable[..., list[Any]]:
    """Return the function that `graph` represents, constrained to `choices`.

    Args:
        graph (FlatGraph): The graph.
        choices (list[Choice]): The choice of each input, then of each equation in order. An equation without one
            is not constrained.
        cost_model (MeshCostModel): The cost model of the search.
        make_sharding (Callable): Returns the JAX sharding of a layout.
        returned (Mapping): {output: layout} for outputs with a required layout.
    """
    count = len(graph.inputs)

    def run(*arguments):
        arrays = {id(v): a for v, a in zip(graph.inputs, arguments, strict=True)}
        layouts = {id(v): choice.outputs[0] for v, choice in zip(graph.inputs, choices, strict=False)}
        resharded = {}

        def fetch(value, layout):
            """Return a value resharded to a layout. A value that several equations read in one layout is resharded
            once.
            """
            if not isinstance(value, Value):
                return value
            if not layout or id(value) not in layouts:
                return arrays[id(value)]
            if (id(value), layout) not in resharded:
                array = arrays[id(value)]
                for step in cost_model.layout_path(layouts[id(value)], layout, value.shape) or [layout]:
                    array = jax.lax.with_sharding_constraint(array, make_sharding(step))
                resharded[id(value), layout] = array
            return resharded[id(value), layout]

        for number, equation in enumerate(graph.equations, count):
            choice = choices[number] if number < len(choices) else None
            operand_layouts = [()] * len(equation.inputs) if choice is None else choice.inputs
            with source_context(equation.source_info):  # resharding of operands gets the equation's source location too
                operands = [fetch(i, layout) for i, layout in zip(equation.inputs, operand_layouts, strict=True)]
                results = _bind_primitive(
                    equation.primitive, operands, equation.primitive.get_bind_params(equation.params)
                )
                if choice is not None:
                    layouts.update({id(v): layout for v, layout in zip(equation.outputs, choice.outputs, strict=True)})
                    results = [
                        jax.lax.with_sharding_constraint(m, make_sharding(layout)) if layout else m
                        for m, layout in zip(results, choice.outputs, strict=True)
                    ]
            arrays.update({id(v): m for v, m in zip(equation.outputs, results, strict=True)})
        return [fetch(o, returned.get(i, ())) for i, o in enumerate(graph.outputs)]

    return run


def _bind_primitive(primitive, operands, params):
    if isinstance(params, tuple):  # JAX before 0.10 returns (functions, params)
        functions, params = params
        operands = [*functions, *operands]
    results = primitive.bind(*operands, **params)
    return list(results) if primitive.multiple_results else [results]


def make_layout_sharder(
    mesh: AbstractMesh | Mesh, names: dict[str, tuple[str, ...]]
) -> Callable[[Layout], NamedSharding]:
    """Return a function from layouts to shardings on a mesh; `names` has the mesh axes for each axis of the search."""
    return lambda layout: sharding(mesh, [tuple(n for axis in axes for n in names[axis]) for axes in layout])
