"""A choice problem as an integer linear program, which HiGHS solves.

Each node has one choice and each pair of neighbours one pair of choices; the linear form of pairs is that of Alpa.
"""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from msnb.parallel.search.reducing import Array, Reduced


def cheapest(reduced: Reduced, seconds: float, gap: float = 1e-4) -> dict[int, int] | None:
    """The cheapest choice for each node that is left; None where none was found in the time.

    Args:
        reduced (Reduced): What is left of a problem.
        seconds (float): About how long it may take; the best that was found until then is returned.
        gap (float): How much dearer than the cheapest it may be, as a part of that. Default: 0.0001.
    """
    if not reduced.left:
        return {}
    starts, cost = {}, []
    for node in reduced.left:
        starts[node] = len(cost)
        cost.extend(reduced.costs[node])
    single = len(cost)
    rows, columns, values, totals = [], [], [], []

    def constraint(entries, total):
        rows.extend([len(totals)] * len(entries))
        columns.extend(column for column, _ in entries)
        values.extend(value for _, value in entries)
        totals.append(total)

    for node in reduced.left:
        constraint([(starts[node] + k, 1.0) for k in range(len(reduced.costs[node]))], 1)
    for source in reduced.left:
        for target, table in reduced.pairs[source].items():
            if target < source or not table.any():
                continue
            rows_alike, columns_alike, table = _alike(table)
            base, (many, wide) = len(cost), table.shape
            cost.extend(table.ravel())
            for i in range(many):
                ours = ((starts[source] + k, -1.0) for k in np.flatnonzero(rows_alike == i))
                constraint([*((base + i * wide + j, 1.0) for j in range(wide)), *ours], 0)
            for j in range(wide):
                ours = ((starts[target] + k, -1.0) for k in np.flatnonzero(columns_alike == j))
                constraint([*((base + i * wide + j, 1.0) for i in range(many)), *ours], 0)
    scale = max(map(abs, cost)) or 1.0
    either: Any = np.array(totals)  # both bounds: scipy's stubs say numbers
    matrix = coo_matrix((values, (rows, columns)), shape=(len(totals), len(cost))).tocsr()
    found = milp(
        np.array(cost) / scale,
        constraints=LinearConstraint(matrix, either, either),
        bounds=Bounds(0, 1),
        integrality=np.r_[np.ones(single), np.zeros(len(cost) - single)],
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    if found.x is None:
        return None
    return {node: int(np.argmax(found.x[at : at + len(reduced.costs[node])])) for node, at in starts.items()}


def _alike(table: Array) -> tuple[Array, Array, Array]:
    """(number of each row, number of each column, the table of these): equal ones have one number, as the choices of a
    node have that leave a value alike, so that a program has one variable for all pairs of them."""
    several, rows = np.unique(table, axis=0, return_inverse=True)
    several, columns = np.unique(several, axis=1, return_inverse=True)
    return rows.ravel(), columns.ravel(), several
