"""Solve a choice problem as an integer linear program, with HiGHS.

Exactly one choice is selected for each node, and one pair of choices for each pair of neighbors. Pairs are written in
linear form as in Alpa.
"""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from msnb.parallel.search.graph_reduction import Array, ReducedProblem


def solve_ilp(reduced: ReducedProblem, seconds: float, gap: float = 1e-4) -> dict[int, int] | None:
    """Return the cheapest choice for each remaining node, or None if no solution was reached in time.

    Args:
        reduced (ReducedProblem): The remaining problem.
        seconds (float): Approximate time limit, after which the best solution so far is returned.
        gap (float): Relative gap to the optimum that is accepted. Default: 0.0001.
    """
    if not reduced.remaining:
        return {}
    starts, cost = {}, []
    for node in reduced.remaining:
        starts[node] = len(cost)
        cost.extend(reduced.costs[node])
    num_node_variables = len(cost)
    rows, columns, values, totals = [], [], [], []

    def add_constraint(entries, total):
        rows.extend([len(totals)] * len(entries))
        columns.extend(column for column, _ in entries)
        values.extend(value for _, value in entries)
        totals.append(total)

    for node in reduced.remaining:
        add_constraint([(starts[node] + k, 1.0) for k in range(len(reduced.costs[node]))], 1)
    for source in reduced.remaining:
        for target, table in reduced.pairs[source].items():
            if target < source or not table.any():
                continue
            row_groups, column_groups, table = _group_equal_rows_and_columns(table)
            base, (num_rows, num_columns) = len(cost), table.shape
            cost.extend(table.ravel())
            for i in range(num_rows):
                node_entries = ((starts[source] + k, -1.0) for k in np.flatnonzero(row_groups == i))
                add_constraint([*((base + i * num_columns + j, 1.0) for j in range(num_columns)), *node_entries], 0)
            for j in range(num_columns):
                node_entries = ((starts[target] + k, -1.0) for k in np.flatnonzero(column_groups == j))
                add_constraint([*((base + i * num_columns + j, 1.0) for i in range(num_rows)), *node_entries], 0)
    scale = max(map(abs, cost)) or 1.0
    bound: Any = np.array(totals)  # lower and upper bound; typed Any because scipy's stubs expect numbers
    matrix = coo_matrix((values, (rows, columns)), shape=(len(totals), len(cost))).tocsr()
    solution = milp(
        np.array(cost) / scale,
        constraints=LinearConstraint(matrix, bound, bound),
        bounds=Bounds(0, 1),
        integrality=np.r_[np.ones(num_node_variables), np.zeros(len(cost) - num_node_variables)],
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    if solution.x is None:
        return None
    return {
        node: int(np.argmax(solution.x[start : start + len(reduced.costs[node])])) for node, start in starts.items()
    }


def _group_equal_rows_and_columns(table: Array) -> tuple[Array, Array, Array]:
    """Return (group of each row, group of each column, table of the groups), where equal rows or columns form a group.

    Choices of a node that leave a value in the same layout have equal rows. One variable then covers all pairs of them.
    """
    merged, rows = np.unique(table, axis=0, return_inverse=True)
    merged, columns = np.unique(merged, axis=1, return_inverse=True)
    return rows.ravel(), columns.ravel(), merged
