"""Large choice problems, which are made better part by part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msnb.parallel.search import windows
from msnb.parallel.search.program import solve_ilp
from msnb.parallel.search.reducing import ReducedProblem


def drawn(seed, nodes, further):
    """A chain of so many nodes with so many further pairs at random, and a choice for each node at random."""
    random = np.random.default_rng(seed)
    costs = [random.integers(0, 20, random.integers(1, 5)).astype(float) for _ in range(nodes)]
    pairs = [{} for _ in costs]
    ends = {(n, n + 1) for n in range(nodes - 1)}
    ends |= {tuple(sorted(random.choice(nodes, 2, replace=False))) for _ in range(further)}
    for one, other in sorted(ends):
        table = random.integers(0, 30, (len(costs[one]), len(costs[other]))).astype(float)
        pairs[one][other], pairs[other][one] = table, table.T
    return costs, pairs, [int(random.integers(len(cost))) for cost in costs]


def total(costs, pairs, chosen):
    own = sum(cost[k] for cost, k in zip(costs, chosen, strict=True))
    return own + sum(t[chosen[n], chosen[m]] for n, near in enumerate(pairs) for m, t in near.items() if m > n)


def best(costs, pairs):
    reduced = ReducedProblem(list(costs), [dict(near) for near in pairs])
    return total(costs, pairs, reduced.expand(solve_ilp(reduced, 60.0)))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(0, 8))
def test_a_problem_of_one_part_is_solved(seed, nodes, further):
    costs, pairs, begin = drawn(seed, nodes, further)
    found = windows.improve_by_windows(costs, pairs, begin, float("inf"))
    assert total(costs, pairs, found) == pytest.approx(best(costs, pairs), rel=2e-4)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_several_parts_come_to_no_more_than_before_and_close_to_the_cheapest(seed):
    costs, pairs, begin = drawn(seed, 60, 10)
    size, windows._WINDOW_SIZE = windows._WINDOW_SIZE, 12
    try:
        found = windows.improve_by_windows(costs, pairs, begin, float("inf"))
    finally:
        windows._WINDOW_SIZE = size
    assert total(costs, pairs, found) <= min(total(costs, pairs, begin), best(costs, pairs) * 1.1)


def test_once_the_time_is_over_nothing_is_changed():
    costs, pairs, begin = drawn(0, 30, 5)
    assert windows.improve_by_windows(costs, pairs, begin, -1.0) == begin
