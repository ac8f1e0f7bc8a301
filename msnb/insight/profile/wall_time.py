"""Convert overlapping intervals to wall time.

Kernels run on several threads at once, so their durations add up to more than the elapsed time. Here every instant
is divided evenly among the kernels that run at it: the shares add up to the time during which anything ran.
"""

from collections.abc import Collection, Sequence
from typing import Any


def shares(intervals: list[tuple[int, int]], containers: Collection[int] = ()) -> list[float]:
    """Return the wall time of each interval. Where n intervals overlap, each gets 1/n of the time.

    Args:
        intervals (list[tuple[int, int]]): (start, end).
        containers (Collection[int]): indices of intervals that only enclose others, such as the run of a loop. They get
            the time in which no other interval is active.

    Returns:
        list[float], one share per interval; their sum is the length of the union of all intervals.

    Examples:
        >>> shares([(0, 10), (5, 15)])
        [7.5, 7.5]
    """
    edges = [(start, 1, index) for index, (start, end) in enumerate(intervals) if end > start]
    edges += [(end, 0, index) for index, (start, end) in enumerate(intervals) if end > start]
    edges.sort()
    outer = frozenset(containers)
    got = [0.0] * len(intervals)
    inside, around, before = set(), set(), 0
    for time, begins, index in edges:
        active = inside or around
        if active and time > before:
            part = (time - before) / len(active)
            for one in active:
                got[one] += part
        before = time
        group = around if index in outer else inside
        (group.add if begins else group.discard)(index)
    return got


def union(intervals: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the union of intervals as disjoint intervals in order."""
    merged = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return [tuple(pair) for pair in merged]


def minus(first: Any, second: Any) -> list[tuple[float, float]]:
    """Return the difference of two lists of disjoint ordered intervals."""
    left = []
    for start, end in first:
        for low, high in second:
            if high <= start:
                continue
            if low >= end:
                break
            if low > start:
                left.append((start, low))
            start = max(start, high)
            if start >= end:
                break
        if start < end:
            left.append((start, end))
    return left


def clip(intervals: Sequence[tuple[float, float]], start: float, end: float) -> list[tuple[float, float]]:
    """Return the parts of intervals between `start` and `end`."""
    return [(max(a, start), min(b, end)) for a, b in intervals if min(b, end) > max(a, start)]


def length(intervals: Sequence[tuple[float, float]]) -> float:
    """Return the total length of disjoint intervals."""
    return sum(end - start for start, end in intervals)
