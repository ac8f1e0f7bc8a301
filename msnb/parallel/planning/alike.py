"""Which results of a graph are one: a gradient asks for what three products read three times, and XLA keeps it once."""

import itertools
from typing import Any

from msnb.core._jax_private import scan_counts
from msnb.parallel.search.flat import Equation, FlatGraph, Value, flatten_body


def first_alike(equation: Equation) -> list[int]:
    """For each result of an equation that holds a graph, the first one that is computed from the same alike.

    Args:
        equation (Equation): A loop, or what runs on each device.
    """
    if equation.primitive.name == "scan":
        return _of_a_loop(equation)
    return _first(_numbered(flatten_body(equation)))


def _of_a_loop(equation):
    """What is handed from round to round is no other result, whatever it is after the last one."""
    carried = scan_counts(equation)[1]
    numbers = _numbered(flatten_body(equation))
    return [*range(carried), *(carried + place for place in _first(numbers[carried:]))]


def _first(numbers: list[Any]) -> list[int]:
    return [numbers.index(number) for number in numbers]


def _numbered(graph: FlatGraph) -> list[Any]:
    """A number for each result of a graph, equal for those that are computed alike."""
    fresh = itertools.count()
    numbers: dict[int, int] = {id(value): next(fresh) for value in graph.inputs}
    known: dict[Any, int] = {}

    def read(value):
        return numbers[id(value)] if isinstance(value, Value) else ("constant", repr(value))

    for number, equation in enumerate(graph.equations):
        held = equation.primitive.name == "scan"
        key: Any = equation.primitive, tuple(equation.params.items()), tuple(map(read, equation.inputs))
        if held or not _has_a_hash(key):
            key = number
        places = _of_a_loop(equation) if held else range(len(equation.outputs))
        for value, place in zip(equation.outputs, places, strict=True):
            if (key, place) not in known:
                known[key, place] = next(fresh)
            numbers[id(value)] = known[key, place]
    return [read(value) for value in graph.outputs]


def _has_a_hash(key):
    try:
        hash(key)
    except TypeError:
        return False
    return True
