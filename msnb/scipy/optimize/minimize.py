"""`minimize`: a minimum of a function of several variables."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb import log
from msnb.core.tensor.tensor import Tensor
from msnb.scipy.optimize._objective import Objective

_METHODS = {"BFGS": "BFGS", "LBFGS": "L-BFGS-B"}


class OptimizeResults(NamedTuple):
    """Result of `minimize`.

    Attributes:
        x (Tensor): The position of the minimum.
        success (bool): True if the gradient is smaller than `gtol`.
        status (int): SciPy's number for the reason of the end; 0 is success.
        fun (float): The value at `x`.
        jac (Tensor): The gradient at `x`.
        hess_inv (Tensor): Approximate inverse of the Hessian for "BFGS", otherwise None.
        nfev (int): Number of values that were computed.
        njev (int): Number of gradients that were computed.
        nit (int): Number of iterations.
    """

    x: Tensor
    success: bool
    status: int
    fun: float
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


def minimize(
    func: Callable[..., Any],
    x0: Tensor,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    jac: Callable[..., Any] | None = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: Any = None,
    callback: Any = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResults:
    """Return a local minimum of a function of several variables, computed by SciPy's quasi-Newton methods.

    Args:
        func (Callable): Takes a 1-D Tensor and `args`, returns a scalar Tensor.
        x0 (Tensor): First position, of shape (N,), floats.
        args (tuple): Further arguments of `func`. Default: ().
        method (str): "BFGS" or "LBFGS", in upper or lower case.
        jac (Callable): Takes the arguments of `func`, returns its gradient. Default: None, computed from `func`.
        hess (Any): Not used, as in MindSpore. Default: None.
        hessp (Any): Not used, as in MindSpore. Default: None.
        bounds (Any): Not used, as in MindSpore. Default: None.
        constraints (Any): Not used, as in MindSpore for these methods. Default: ().
        tol (Any): Not used, as in MindSpore. Default: None.
        callback (Any): Not used, as in MindSpore. Default: None.
        options (dict): `maxiter`; `gtol`, the largest gradient at the minimum, 1e-5 by default; `norm`, the order of
            its norm, infinity by default; `line_search_maxiter` and `history_size` for "LBFGS", 10 and 20 by default.

    Returns:
        OptimizeResults.

    Raises:
        TypeError: If `x0` is not a Tensor of floats, or an option has no meaning for the method.
        ValueError: If `x0` does not have one axis, or the method is unknown.
        NotImplementedError: For the method "LAGRANGE".

    Examples:
        >>> from mindspore.scipy.optimize import minimize
        >>> def bowl(x):
        ...     return ((x - 3) ** 2).sum()
        >>> print(minimize(bowl, Tensor(np.zeros(2), mindspore.float32), method="BFGS").x)
        [3. 3.]
    """
    if not isinstance(method, str):
        raise ValueError("For 'minimize', 'method' is needed: 'BFGS' or 'LBFGS'.")
    if method.upper() == "LAGRANGE":
        raise NotImplementedError("For 'minimize', 'LAGRANGE' is not there; scipy.optimize.minimize has constraints.")
    if method.upper() not in _METHODS:
        raise ValueError(f"For 'minimize', 'method' should be 'BFGS' or 'LBFGS', but got {method!r}.")
    log.unused(
        "minimize",
        "MindSpore's method has no use for it",
        hess=hess is not None,
        hessp=hessp is not None,
        bounds=bounds is not None,
        tol=tol is not None,
        callback=callback is not None,
        constraints=bool(constraints),
    )
    objective = Objective("minimize", func, x0, args, jac)
    from scipy import optimize  # lazy import: it takes 150 ms

    result = optimize.minimize(
        objective.compute_value_and_gradient,
        x0.asnumpy().astype(np.float64),
        method=_METHODS[method.upper()],
        jac=True,
        options=_translate_options(method.upper(), **options or {}),
    )
    return OptimizeResults(
        objective.as_tensor(result.x),
        bool(result.success),
        int(result.status),
        float(result.fun),
        objective.as_tensor(result.jac),
        objective.as_tensor(result.hess_inv) if method.upper() == "BFGS" else None,
        int(result.nfev),
        int(result.njev),
        int(result.nit),
    )


def _translate_options(method, maxiter=None, gtol=1e-5, norm=np.inf, line_search_maxiter=None, history_size=None):
    """Return options of SciPy's method."""
    options = {"gtol": gtol}
    if maxiter is not None:
        options["maxiter"] = maxiter
    if method == "BFGS":
        if history_size is not None:
            raise TypeError("For 'minimize', 'BFGS' has no option 'history_size'; use 'LBFGS'.")
        log.unused("minimize", "SciPy's BFGS limits its line search by itself", line_search_maxiter=line_search_maxiter)
        return {**options, "norm": norm}
    if norm != np.inf:
        raise ValueError("For 'minimize', 'LBFGS' measures gradients by their largest element; leave 'norm' out.")
    return {**options, "ftol": 0, "maxls": line_search_maxiter or 10, "maxcor": history_size or 20}
