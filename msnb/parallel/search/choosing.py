"""The cheapest choice for each node: an integer linear program, or one mesh axis after the other.

In the program each node has one choice, and each pair of neighbours one pair of choices; HiGHS, which comes with
scipy, solves it (the linear form of pairs is that of Alpa).
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from msnb.parallel.search.problem import Problem

BYTE = 200.0  # operations in the time that one byte takes; of an accelerator with 100 TFLOP/s and 500 GB/s


def dynamic_programming(
    problem: Problem, memory: float | None = None, seconds: float = 60.0, operation: float = 1 / BYTE
) -> list[int]:
    """Number of the choice for each node that together send the fewest bytes.

    Args:
        problem (Problem): The choices.
        memory (float): Bytes that the inputs may take on each device. Default: None, any number.
        seconds (float): How long it may take; the best that was found until then is returned. Default: 60.
        operation (float): What an operation costs, in bytes. Default: 0.005.

    Raises:
        RuntimeError: If nothing was found: no choice fits into the memory, or the time was too short.
    """
    starts = np.cumsum([0, *map(len, problem.nodes)])
    single = int(starts[-1])
    cost = [choice.sent + operation * choice.operations for node in problem.nodes for choice in node]
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for edge in problem.edges:
        key = edge.source[0], edge.target[0]
        table = problem.moving(edge)
        pairs[key] = pairs[key] + table if key in pairs else table
    rows, columns, values, lows, highs = [], [], [], [], []

    def constraint(entries, low, high):
        rows.extend([len(lows)] * len(entries))
        columns.extend(column for column, _ in entries)
        values.extend(value for _, value in entries)
        lows.append(low)
        highs.append(high)

    for first, last in zip(starts[:-1], starts[1:], strict=True):
        constraint([(column, 1.0) for column in range(first, last)], 1, 1)
    for (source, target), table in pairs.items():
        if not table.any():
            continue
        base, (many, wide) = len(cost), table.shape
        cost.extend(table.ravel())
        for i in range(many):
            constraint([*((base + i * wide + j, 1.0) for j in range(wide)), (starts[source] + i, -1.0)], 0, 0)
        for j in range(wide):
            constraint([*((base + i * wide + j, 1.0) for i in range(many)), (starts[target] + j, -1.0)], 0, 0)
    if memory is not None:
        kept = range(len(problem.graph.inputs))
        held = [(starts[n] + k, choice.held) for n in kept for k, choice in enumerate(problem.nodes[n])]
        constraint(held, 0, memory)
    scale = max(cost) or 1.0
    matrix = coo_matrix((values, (rows, columns)), shape=(len(lows), len(cost))).tocsr()
    found = milp(
        np.array(cost) / scale,
        constraints=LinearConstraint(matrix, lows, highs),
        bounds=Bounds(0, 1),
        integrality=np.r_[np.ones(single), np.zeros(len(cost) - single)],
        options={"time_limit": seconds, "mip_rel_gap": 1e-4},
    )
    if found.x is None:
        raise RuntimeError(f"No way was found to spread the program over the devices: {found.message}")
    return [int(np.argmax(found.x[a:b])) for a, b in zip(starts[:-1], starts[1:], strict=True)]


def cost_of(problem: Problem, choice: list[int]) -> float:
    """Weighted bytes that each device sends with a choice for each node."""
    own = sum(node[k].sent for node, k in zip(problem.nodes, choice, strict=True))
    moved = 0.0
    for edge in problem.edges:
        (source, result), (target, operand) = edge.source, edge.target
        after = problem.nodes[target][choice[target]]
        wanted = after.outputs[0] if operand is None else after.inputs[operand]
        before = problem.nodes[source][choice[source]].outputs[result]
        moved += problem.machines.moving(before, wanted, edge.bytes)
    return own + moved
