"""Convert a solution of the search to strategies: for each operator the number of shards of its inputs."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from msnb.parallel.cost_model.transfer_cost import Layout
from msnb.parallel.graph.flatten_jaxpr import FlatGraph, InlinedCall, Value
from msnb.parallel.graph.operator_calls import OperatorCall, network_calls
from msnb.parallel.rules import Call, rule_of
from msnb.parallel.search.choice_problem import Choice

Strategy = list[list[int]]


def strategies_of_choices(
    jaxpr: Any, graph: FlatGraph, chosen: Sequence[Choice], sizes: dict[str, int]
) -> Iterator[tuple[OperatorCall, Strategy]]:
    """Iterate over (call, strategy) of the network's own operators, see `network_calls`, without dead ones.

    The strategy of an input is its layout in the operator's first equation that reads it. An operator with its own
    strategy keeps it.

    Args:
        jaxpr (Jaxpr): The graph.
        graph (FlatGraph): The flattened graph.
        chosen (Sequence[Choice]): The choices of its inputs and equations.
        sizes (dict[str, int]): Number of devices along each axis of the search.
    """
    live = graph.live_values()
    for call in network_calls(jaxpr):
        inlined = graph.calls.get(call.eqn.outvars[0])
        if inlined is None or not any(id(o) in live for o in inlined.outputs):
            continue
        num_keys, meaning = len(inlined.inputs) - len(call.inputs), call.meaning
        if meaning.strategy is not None:
            yield call, [list(input_strategy) for input_strategy in meaning.strategy]
            continue
        input_strategy = [
            _count_shards(_find_layout("inputs", value, inlined, graph, chosen), value, sizes)
            for value in inlined.inputs[num_keys:]
        ]
        output_strategy = [
            _count_shards(_find_layout("outputs", value, inlined, graph, chosen), value, sizes)
            for value in inlined.outputs
        ]
        yield (
            call,
            _to_mindspore_strategy(
                Call(meaning.operator, meaning.settings, list(map(_get_shape, call.inputs))),
                input_strategy,
                output_strategy,
            ),
        )


def _find_layout(side: str, value: Any, inlined: InlinedCall, graph: FlatGraph, chosen: Sequence[Choice]) -> Layout:
    """Return the layout of a value in the first equation of a call that reads it (`side` is "inputs") or computes it
    ("outputs").

    The layout is () if no equation has it, because the call does not read it or returns it unchanged.
    """
    for number in range(inlined.first, inlined.end):
        equation, choice = graph.equations[number], chosen[len(graph.inputs) + number]
        for one, layout in zip(getattr(equation, side), getattr(choice, side)):
            if one is value:
                return layout
    return ()


def _count_shards(layout: Layout, value: Any, sizes: dict[str, int]) -> list[int]:
    shape = value.shape if isinstance(value, Value) else np.shape(value)
    return [math.prod(sizes[axis] for axis in axes) for axes in layout] or [1] * len(shape)


def _to_mindspore_strategy(call: Call, input_strategy: Strategy, output_strategy: Strategy) -> Strategy:
    """Return the strategy in MindSpore's form, which may describe other axes than those of an input."""
    rule = rule_of(call)
    if rule is None or not rule.strategy_axes:
        return input_strategy if rule is None else input_strategy[: rule.num_inputs]
    shard_counts = {}
    for letters, numbers in zip([*rule.inputs, *rule.outputs], [*input_strategy, *output_strategy]):
        shard_counts.update({c: n for c, n in zip(letters or "", numbers) if n > 1})
    return [
        [shard_counts.get(c, 1) for c in rule.strategy_axes[i][0]] if i in rule.strategy_axes else strategy
        for i, strategy in enumerate(input_strategy)
    ]


def _get_shape(var: Any) -> tuple[int, ...]:
    return tuple(np.shape(var.aval))
