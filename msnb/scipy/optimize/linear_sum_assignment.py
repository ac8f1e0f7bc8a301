"""`linear_sum_assignment`: the cheapest assignment of columns to rows."""

import numpy as np

from msnb.common.kinds import Bool, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor


def linear_sum_assignment(
    cost_matrix: Tensor, maximize: bool, dimension_limit: Tensor | int | None = None
) -> tuple[Tensor, Tensor]:
    """Assign columns to rows, each at most once, so that the sum of costs is smallest (Crouse, 2016).

    Args:
        cost_matrix (Tensor): Costs, of shape (M, N).
        maximize (bool): True for the largest sum.
        dimension_limit (Union[Tensor, int]): Number of columns that are used. Default: None, all.

    Returns:
        tuple of 2 Tensors of int64 and shape (min(M, N),): rows, and the columns assigned to them. -1 follows where
        `dimension_limit` leaves fewer columns.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the costs do not have two axes.
        RuntimeError: If the costs have no values, because a graph is compiled.

    Examples:
        >>> from mindspore.scipy.optimize import linear_sum_assignment
        >>> rows, columns = linear_sum_assignment(Tensor([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]]), False)
        >>> print(columns)
        [1 0 2]
    """
    if not isinstance(cost_matrix, Tensor):
        raise TypeError(
            f"For 'linear_sum_assignment', 'cost_matrix' should be a Tensor, but got {describe(cost_matrix)}."
        )
    if cost_matrix.ndim != 2:
        raise ValueError(
            f"For 'linear_sum_assignment', 'cost_matrix' should have 2 axes, but got shape {cost_matrix.shape}."
        )
    if is_tracer(cost_matrix._array):
        raise RuntimeError("For 'linear_sum_assignment', SciPy needs the values; call it outside a graph.")
    check(Bool, maximize, "maximize", "linear_sum_assignment")
    from scipy import optimize  # lazy import: it takes 150 ms

    costs = cost_matrix.asnumpy().astype(np.float64)
    limit = costs.shape[1] if dimension_limit is None else int(dimension_limit)
    pairs = np.full((2, min(costs.shape)), -1)
    rows_and_columns = optimize.linear_sum_assignment(costs[:, :limit], maximize)
    pairs[:, : len(rows_and_columns[0])] = rows_and_columns
    return Tensor(pairs[0]), Tensor(pairs[1])
