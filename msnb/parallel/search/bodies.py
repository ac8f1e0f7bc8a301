"""Which axes may be cut of an equation that holds a graph: loops of a known number of rounds, and what is computed once
more for a gradient.

Axes hang together through all equations inside, and through what one round hands to the next; such a group is a factor.
Where an equation inside sums over it, the devices add up in every round.
"""

import itertools
from typing import Any

from msnb.core._jax_private import scan_counts
from msnb.parallel.search.factors import FACTORS, Factors, Within, factors_of
from msnb.parallel.search.flat import KEPT, Equation, Flat, Value, flat_body

Axis = tuple[int, int]  # id of a value, and which of its axes


class _Groups:
    """Axes that hang together."""

    def __init__(self) -> None:
        self._above: dict[Axis, Axis] = {}
        self._whole: set[Axis] = set()

    def find(self, axis: Axis) -> Axis:
        while self._above.get(axis, axis) != axis:
            axis = self._above[axis]
        return axis

    def join(self, one: Axis, two: Axis) -> None:
        one, two = self.find(one), self.find(two)
        if one != two:
            self._above[one] = two
            if one in self._whole:
                self._whole.add(two)

    def keep(self, axis: Axis) -> None:
        """Such a group is not cut."""
        self._whole.add(self.find(axis))

    def label(self, value: Any, numbers: dict[Axis, int]) -> list[int | None]:
        """The factors of a value's axes."""
        if not isinstance(value, Value):
            return [None] * len(getattr(value, "shape", ()))
        found = [self.find((id(value), axis)) for axis in range(len(value.shape))]
        return [None if axis in self._whole else numbers.setdefault(axis, len(numbers)) for axis in found]


def _grouped(body: Flat) -> tuple[_Groups, list[tuple[Axis, Value, float]]]:
    """(groups of axes, (a group, value, bytes) for each value that is a sum over it)."""
    groups, summed = _Groups(), []
    for equation in body.equations:
        factors, known = factors_of(equation), {}
        made = {label for labels in factors.outputs for label in labels}
        sides = [*zip(equation.inputs, factors.inputs, strict=True)]
        sides += zip(equation.outputs, factors.outputs, strict=True)
        for value, labels in sides:
            for place, label in enumerate(labels) if isinstance(value, Value) else ():
                axis = id(value), place
                if label is not None and (label in made or factors.summed):
                    groups.join(known.setdefault(label, axis), axis)
                elif value.shape[place] > 1:
                    groups.keep(axis)
        summed += [(axis, o, o.bytes) for label, axis in known.items() if label not in made for o in equation.outputs]
        first = equation.outputs[0]
        summed += [(known[one.factor], first, one.bytes) for one in factors.inside if one.factor in known]
    return groups, summed


def _factors(body: Flat, constants: int, carried: int, rounds: int | None) -> Factors:
    """Of a graph whose first inputs are the same in each round, the next are handed from round to round, and of the
    rest, and of the results behind what is handed on, one row is that of a round; None: it runs once, as it is."""
    groups, summed = _grouped(body)
    for before, after in zip(body.inputs[constants : constants + carried], body.outputs[:carried], strict=True):
        for axis in range(len(before.shape)):
            if isinstance(after, Value):
                groups.join((id(before), axis), (id(after), axis))
            else:
                groups.keep((id(before), axis))
    for value in (*body.inputs, *(o for equation in body.equations for o in equation.outputs)):
        for axis, other in itertools.combinations(range(len(value.shape)), 2):  # a weight from a state to the next one
            if groups.find((id(value), axis)) == groups.find((id(value), other)):
                groups.keep((id(value), axis))
    numbers: dict[Axis, int] = {}

    def labelled(values, first):
        rows = [rounds is not None and place >= first for place in range(len(values))]
        return [[*([None] if row else ()), *groups.label(v, numbers)] for v, row in zip(values, rows, strict=True)]

    inputs, outputs = labelled(body.inputs, constants + carried), labelled(body.outputs, carried)
    inside = [
        Within(numbers[groups.find(axis)], size * (rounds or 1), groups.label(value, numbers))
        for axis, value, size in summed
        if groups.find(axis) in numbers
    ]
    return Factors(inputs, outputs, True, inside)


@FACTORS.register("scan")
def _scan(equation: Equation) -> Factors:
    return _factors(flat_body(equation), *scan_counts(equation), equation.params["length"])


@FACTORS.register(*KEPT)
def _recomputed(equation: Equation) -> Factors:
    return _factors(flat_body(equation), 0, 0, None)
