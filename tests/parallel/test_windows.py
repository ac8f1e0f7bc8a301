"""Local improvement of solutions of large choice problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msnb.parallel.search import large_neighborhood
from msnb.parallel.search.graph_reduction import ReducedProblem
from msnb.parallel.search.ilp import solve_ilp


def create_random_problem(seed, nodes, further):
    """Return a chain of `nodes` nodes with `further` random pairs, and a random choice for each node."""
    random = np.random.default_rng(seed)
    costs = [random.integers(0, 20, random.integers(1, 5)).astype(float) for _ in range(nodes)]
    pairs = [{} for _ in costs]
    ends = {(n, n + 1) for n in range(nodes - 1)}
    ends |= {tuple(sorted(random.choice(nodes, 2, replace=False))) for _ in range(further)}
    for one, other in sorted(ends):
        table = random.integers(0, 30, (len(costs[one]), len(costs[other]))).astype(float)
        pairs[one][other], pairs[other][one] = table, table.T
    return costs, pairs, [int(random.integers(len(cost))) for cost in costs]


def total_cost(costs, pairs, chosen):
    own = sum(cost[k] for cost, k in zip(costs, chosen, strict=True))
    return own + sum(t[chosen[n], chosen[m]] for n, near in enumerate(pairs) for m, t in near.items() if m > n)


def solve_exhaustively(costs, pairs):
    reduced = ReducedProblem(list(costs), [dict(near) for near in pairs])
    return total_cost(costs, pairs, reduced.expand(solve_ilp(reduced, 60.0)))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(0, 8))
def test_single_window_is_solved_exactly(seed, nodes, further):
    costs, pairs, begin = create_random_problem(seed, nodes, further)
    solution = large_neighborhood.improve_by_windows(costs, pairs, begin, float("inf"))
    assert total_cost(costs, pairs, solution) == pytest.approx(solve_exhaustively(costs, pairs), rel=2e-4)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_windows_improve_solution(seed):
    costs, pairs, begin = create_random_problem(seed, 60, 10)
    size, large_neighborhood._WINDOW_SIZE = large_neighborhood._WINDOW_SIZE, 12
    try:
        solution = large_neighborhood.improve_by_windows(costs, pairs, begin, float("inf"))
    finally:
        large_neighborhood._WINDOW_SIZE = size
    assert total_cost(costs, pairs, solution) <= min(
        total_cost(costs, pairs, begin), solve_exhaustively(costs, pairs) * 1.1
    )


def test_solution_is_unchanged_after_deadline():
    costs, pairs, begin = create_random_problem(0, 30, 5)
    assert large_neighborhood.improve_by_windows(costs, pairs, begin, -1.0) == begin
