"""Find the axes that may be sharded in equations with a nested graph: loops with a fixed number of rounds, and
recomputed Cells.

Axes are connected through all equations inside, and through the values that one round passes to the next. A connected
group is a factor. If an equation inside sums over a sharded factor, the devices do an all-reduce in every round.
"""

import itertools
from typing import Any

from msnb.core.compat.jax_private import scan_counts
from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES
from msnb.parallel.graph.flatten_jaxpr import Equation, FlatGraph, Value, flatten_body
from msnb.parallel.search.axis_factors import FACTORS, Factors, InnerSum, factors_of

Axis = tuple[int, int]  # (id of a value, index of its axis)


class _AxisGroups:
    """Groups of connected axes, as disjoint sets."""

    def __init__(self) -> None:
        self._parents: dict[Axis, Axis] = {}
        self._unsharded: set[Axis] = set()

    def find(self, axis: Axis) -> Axis:
        while self._parents.get(axis, axis) != axis:
            axis = self._parents[axis]
        return axis

    def join(self, first: Axis, second: Axis) -> None:
        first, second = self.find(first), self.find(second)
        if first != second:
            self._parents[first] = second
            if first in self._unsharded:
                self._unsharded.add(second)

    def exclude(self, axis: Axis) -> None:
        """Mark the group of `axis` as not shardable."""
        self._unsharded.add(self.find(axis))

    def label(self, value: Any, numbers: dict[Axis, int]) -> list[int | None]:
        """Return the factor of each axis of a value, None for an axis that is not shardable."""
        if not isinstance(value, Value):
            return [None] * len(getattr(value, "shape", ()))
        roots = [self.find((id(value), axis)) for axis in range(len(value.shape))]
        return [None if axis in self._unsharded else numbers.setdefault(axis, len(numbers)) for axis in roots]


def _group_connected_axes(body: FlatGraph) -> tuple[_AxisGroups, list[tuple[Axis, Value, float]]]:
    """Return (groups of axes, [(group, value, bytes)] for the values that are sums over a group)."""
    groups, sums = _AxisGroups(), []
    for equation in body.equations:
        factors, axis_of = factors_of(equation), {}
        output_labels = {label for labels in factors.outputs for label in labels}
        values = [*zip(equation.inputs, factors.inputs, strict=True)]
        values += zip(equation.outputs, factors.outputs, strict=True)
        for value, labels in values:
            for index, label in enumerate(labels) if isinstance(value, Value) else ():
                axis = id(value), index
                if label is not None and (label in output_labels or factors.can_sum):
                    groups.join(axis_of.setdefault(label, axis), axis)
                elif value.shape[index] > 1:
                    groups.exclude(axis)
        sums += [
            (axis, o, o.bytes)
            for label, axis in axis_of.items()
            if label not in output_labels
            for o in equation.outputs
        ]
        first = equation.outputs[0]
        sums += [(axis_of[one.factor], first, one.bytes) for one in factors.inner_sums if one.factor in axis_of]
    return groups, sums


def _compute_body_factors(body: FlatGraph, constants: int, carried: int, rounds: int | None) -> Factors:
    """Return the factors of a nested graph.

    The first `constants` inputs are the same in each round, and the next `carried` inputs are passed from round to
    round. All other inputs, and the outputs after the carried ones, have an extra leading axis for the rounds.
    `rounds` is None for a graph that runs once and has no such axis.
    """
    groups, sums = _group_connected_axes(body)
    for before, after in zip(body.inputs[constants : constants + carried], body.outputs[:carried], strict=True):
        for axis in range(len(before.shape)):
            if isinstance(after, Value):
                groups.join((id(before), axis), (id(after), axis))
            else:
                groups.exclude((id(before), axis))
    for value in (*body.inputs, *(o for equation in body.equations for o in equation.outputs)):
        # Two axes of one value cannot be sharded alike. A weight that maps one state to the next has such axes.
        for axis, other in itertools.combinations(range(len(value.shape)), 2):
            if groups.find((id(value), axis)) == groups.find((id(value), other)):
                groups.exclude((id(value), axis))
    numbers: dict[Axis, int] = {}

    def label_values(values, first):
        has_round_axis = [rounds is not None and index >= first for index in range(len(values))]
        return [
            [*([None] if row else ()), *groups.label(v, numbers)] for v, row in zip(values, has_round_axis, strict=True)
        ]

    inputs, outputs = label_values(body.inputs, constants + carried), label_values(body.outputs, carried)
    inner_sums = [
        InnerSum(numbers[groups.find(axis)], size * (rounds or 1), groups.label(value, numbers))
        for axis, value, size in sums
        if groups.find(axis) in numbers
    ]
    return Factors(inputs, outputs, True, inner_sums)


@FACTORS.register("scan")
def _scan_factors(equation: Equation) -> Factors:
    return _compute_body_factors(flatten_body(equation), *scan_counts(equation), equation.params["length"])


@FACTORS.register(*REMAT_PRIMITIVES)
def _remat_factors(equation: Equation) -> Factors:
    return _compute_body_factors(flatten_body(equation), 0, 0, None)
