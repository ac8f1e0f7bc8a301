"""What a search has found, in the words of strategies: for each operator how its inputs are cut."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from msnb.parallel.calls import OperatorCall, network_calls
from msnb.parallel.rules import Call, rule_of
from msnb.parallel.search.costs import Layout
from msnb.parallel.search.flat import Flat, Opened, Value
from msnb.parallel.search.problem import Choice

Strategy = list[list[int]]


def told(
    jaxpr: Any, graph: Flat, chosen: Sequence[Choice], sizes: dict[str, int]
) -> Iterator[tuple[OperatorCall, Strategy]]:
    """(call, its strategy) of the operators in a graph, without those that stand behind its gradients
    and those that no result needs.

    An input is cut as the operator's first equation that reads it wants it. One with a strategy of its own has that.

    Args:
        jaxpr (Jaxpr): The graph.
        graph (Flat): The same, opened.
        chosen (Sequence[Choice]): What was chosen for its inputs and equations.
        sizes (dict[str, int]): Number of devices along each axis that the search cuts by.
    """
    needed = graph.needed()
    for call in network_calls(jaxpr):
        place = graph.calls.get(call.eqn.outvars[0])
        if place is None or not any(id(o) in needed for o in place.outputs):
            continue
        own, meaning = len(place.inputs) - len(call.inputs), call.meaning
        if meaning.strategy is not None:
            yield call, [list(cuts) for cuts in meaning.strategy]
            continue
        cuts = [_cut(_lies("inputs", value, place, graph, chosen), value, sizes) for value in place.inputs[own:]]
        made = [_cut(_lies("outputs", value, place, graph, chosen), value, sizes) for value in place.outputs]
        yield call, _said(Call(meaning.operator, meaning.settings, list(map(_shape, call.inputs))), cuts, made)


def _lies(side: str, value: Any, place: Opened, graph: Flat, chosen: Sequence[Choice]) -> Layout:
    """How the first equation of a call with a value among its "inputs" or "outputs" has it: () where none has, as of
    what a call does not read, or hands on as it was given."""
    for number in range(place.first, place.end):
        equation, choice = graph.equations[number], chosen[len(graph.inputs) + number]
        for one, layout in zip(getattr(equation, side), getattr(choice, side)):
            if one is value:
                return layout
    return ()


def _cut(layout: Layout, value: Any, sizes: dict[str, int]) -> list[int]:
    shape = value.shape if isinstance(value, Value) else np.shape(value)
    return [math.prod(sizes[axis] for axis in axes) for axes in layout] or [1] * len(shape)


def _said(call: Call, cuts: Strategy, made: Strategy) -> Strategy:
    """The strategy as MindSpore gives it, which may speak of other axes than those of an input."""
    rule = rule_of(call)
    if rule is None or not rule.strategy_axes:
        return cuts if rule is None else cuts[: rule.num_inputs]
    parts = {}
    for letters, numbers in zip([*rule.inputs, *rule.outputs], [*cuts, *made]):
        parts.update({c: n for c, n in zip(letters or "", numbers) if n > 1})
    return [
        [parts.get(c, 1) for c in rule.strategy_axes[i][0]] if i in rule.strategy_axes else own
        for i, own in enumerate(cuts)
    ]


def _shape(var: Any) -> tuple[int, ...]:
    return tuple(np.shape(var.aval))
