"""`line_search`: the length of a step along a direction of descent."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.scipy.optimize._objective import Objective


class LineSearchResults(NamedTuple):
    """Result of `line_search`.

    Attributes:
        failed (bool): True if no length satisfies the conditions.
        nfev (int): Number of values that were computed.
        ngev (int): Number of gradients that were computed.
        a_k (float): The length of the step; 1 after a failure.
        f_k (float): The value behind the step, after a failure that at `xk`.
        g_k (Tensor): The gradient behind the step, after a failure that at `xk`.
        status (int): 0, or 1 after a failure.
    """

    failed: bool
    nfev: int
    ngev: int
    a_k: float
    f_k: float
    g_k: Tensor
    status: int


def line_search(
    f: Callable[[Tensor], Tensor],
    xk: Tensor,
    pk: Tensor,
    jac: Callable[[Tensor], Tensor] | None = None,
    gfk: Tensor | None = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> LineSearchResults:
    """Return a length of a step along `pk` that satisfies the strong Wolfe conditions (Nocedal and Wright, 2006).

    Args:
        f (Callable): Takes a 1-D Tensor, returns a scalar Tensor.
        xk (Tensor): Position, of shape (N,), floats.
        pk (Tensor): Direction of descent, of shape (N,).
        jac (Callable): Returns the gradient of `f`. Default: None, computed from `f`.
        gfk (Tensor): Gradient at `xk`. Default: None, computed.
        old_fval (Union[Tensor, float]): Value at `xk`. Default: None, computed.
        old_old_fval (Union[Tensor, float]): Value at the position before; it gives the first length. Default: None.
        c1 (float): Smallest decrease of the value, relative to the slope. Default: 1e-4.
        c2 (float): Largest slope behind the step, relative to the slope before. Default: 0.9.
        maxiter (int): Largest number of lengths that are tried. Default: 20.

    Returns:
        LineSearchResults.

    Examples:
        >>> from mindspore.scipy.optimize import line_search
        >>> def bowl(x):
        ...     return (x * x).sum()
        >>> print(line_search(bowl, Tensor([1.8, 1.7]), Tensor([-1.0, -1.0])).a_k)
        1.0
    """
    objective = Objective("line_search", f, xk, (), jac)
    from scipy import optimize  # lazy import: it takes 150 ms

    direction = pk.asnumpy().astype(np.float64)
    start = xk.asnumpy().astype(np.float64)
    length, nfev, ngev, value, _, _ = optimize.line_search(
        objective.compute_value,
        objective.compute_gradient,
        start,
        direction,
        None if gfk is None else gfk.asnumpy().astype(np.float64),
        None if old_fval is None else float(old_fval),
        None if old_old_fval is None else float(old_old_fval),
        c1=c1,
        c2=c2,
        maxiter=maxiter,
    )
    if length is None:
        gradient = objective.as_tensor(objective.compute_gradient(start))
        return LineSearchResults(True, nfev, ngev + 1, 1.0, objective.compute_value(start), gradient, 1)
    gradient = objective.as_tensor(objective.compute_gradient(start + length * direction))
    return LineSearchResults(False, nfev, ngev + 1, float(length), float(value), gradient, 0)
