"""Find common subexpressions of a graph: results that are computed from equal operands, which XLA stores once."""

import itertools
from typing import Any

from msnb.core.compat.jax_private import scan_counts
from msnb.parallel.graph.flatten_jaxpr import Equation, FlatGraph, Value, flatten_body


def first_equal_results(equation: Equation) -> list[int]:
    """Return, for each result of a loop or `shard_map`, the index of the first result that has the same value.

    Args:
        equation (Equation): A loop or a `shard_map`.
    """
    if equation.primitive.name == "scan":
        return _find_equal_results_of_loop(equation)
    return _find_first_occurrences(_number_results(flatten_body(equation)))


def _find_equal_results_of_loop(equation):
    # A carried value differs from round to round, so it is never equal to another result.
    carried = scan_counts(equation)[1]
    numbers = _number_results(flatten_body(equation))
    return [*range(carried), *(carried + index for index in _find_first_occurrences(numbers[carried:]))]


def _find_first_occurrences(numbers: list[Any]) -> list[int]:
    return [numbers.index(number) for number in numbers]


def _number_results(graph: FlatGraph) -> list[Any]:
    """Number the results of a graph; results of equal expressions get the same number."""
    fresh = itertools.count()
    numbers: dict[int, int] = {id(value): next(fresh) for value in graph.inputs}
    number_of: dict[Any, int] = {}

    def read(value):
        return numbers[id(value)] if isinstance(value, Value) else ("constant", repr(value))

    for number, equation in enumerate(graph.equations):
        is_loop = equation.primitive.name == "scan"
        key: Any = equation.primitive, tuple(equation.params.items()), tuple(map(read, equation.inputs))
        if is_loop or not _is_hashable(key):
            key = number
        indices = _find_equal_results_of_loop(equation) if is_loop else range(len(equation.outputs))
        for value, index in zip(equation.outputs, indices, strict=True):
            if (key, index) not in number_of:
                number_of[key, index] = next(fresh)
            numbers[id(value)] = number_of[key, index]
    return [read(value) for value in graph.outputs]


def _is_hashable(key):
    try:
        hash(key)
    except TypeError:
        return False
    return True
