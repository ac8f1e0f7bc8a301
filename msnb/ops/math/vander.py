"""Vandermonde matrices: powers of a vector as columns."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, NonNegInt
from msnb.core.operator.cases import F, I, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import rank, tensor_argument
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor


@operator
def _Vander(x, *, count: NonNegInt, increasing: Bool = False):
    """Vandermonde matrix: the columns are powers of a vector.

    Args:
        count (int): Number of columns.
        increasing (bool): The 0th power is the first column rather than the last. Default: False.

    Inputs:
        - **x** (Tensor) - A vector of numbers.

    Outputs:
        Tensor of shape (x.size, count) and the element type of `x`.
    """
    rank("vander", "x", x, 1)
    # The columns are computed as products, because the gradient of a power may be wrong at 0.
    powers = [jnp.ones_like(x)]
    for _ in range(count - 1):
        powers.append(powers[-1] * x)
    columns = powers[:count] if increasing else powers[:count][::-1]
    return jnp.stack(columns, 1) if columns else jnp.zeros((x.shape[0], 0), x.dtype)


@spelling(_Vander, numpy="vander")
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde matrix: the columns are powers of a vector.

    Args:
        x (Union[Tensor, list, tuple]): A vector of numbers.
        N (int): Number of columns. Default: None, as many as `x` has elements.
        increasing (bool): The 0th power is the first column rather than the last. Default: False.

    Returns:
        Tensor of shape (x.size, N) and the element type of `x`.

    Raises:
        TypeError: If `N` is not an int, or `increasing` not a bool.
        ValueError: If `x` is not a vector, or `N` is negative.

    Examples:
        >>> print(mindspore.numpy.vander([1., 2., 3.], 3))
        [[1. 1. 1.]
         [4. 2. 1.]
         [9. 3. 1.]]
    """
    x = as_tensor(x, "vander", "x")
    return _Vander.functional(x, x.size if N is None else N, increasing)


@spelling(_Vander, function="vander")
def _ops_vander(x: Tensor, N: int | None = None) -> Tensor:
    """Vandermonde matrix: the columns are powers of a vector, in descending order; for integers they are int64.

    Args:
        x (Tensor): A vector of numbers.
        N (int): Number of columns. Default: None, as many as `x` has elements.

    Returns:
        Tensor of shape (x.size, N).

    Raises:
        TypeError: If `N` is not an int.
        ValueError: If `x` is not a vector, or `N` is negative.
    """
    tensor_argument("vander", "x", x)
    x = x.astype(mstype.int64) if x._array.dtype.kind in "iu" else x
    return _Vander.functional(x, x.size if N is None else N)


CASES = [
    case(_Vander, F(3), count=4).without("mindspore", NUMPYS),
    case(_Vander, F(3), count=2, increasing=True).without("mindspore", NUMPYS),
    case(_ops_vander, F(3), 4),
    case(_ops_vander, I(3)),
]
