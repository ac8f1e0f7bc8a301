"""Products of several matrices."""

from msnb.common.kinds import NonNegInt, check
from msnb.core.declare import spelling
from msnb.core.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, common_type
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.eye import Eye
from msnb.ops.array.reshape import Reshape
from msnb.ops.math.matmul import _matmul_of_numpy
from msnb.ops.math.products import _dot_of_numpy


@spelling(numpy="matrix_power")
def matrix_power(a: ArrayLike, n: NonNegInt) -> Tensor:
    """Square matrices to the power of a whole number.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of shape (*, N, N).
        n (int): The exponent, not negative.

    Returns:
        Tensor of the shape and element type of `a`.

    Raises:
        TypeError: If `a` is none of these, or `n` is not an int.
        ValueError: If the last two dimensions differ, or `n` is negative.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.matrix_power([[1, 1], [0, 1]], 5))
        [[1 5]
         [0 1]]
    """
    x, n = as_tensor(a, "matrix_power", "a"), check(NonNegInt, n, "n", "matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'matrix_power', 'a' should have shape (*, N, N), but got {x.shape}.")
    power = None
    for bit in reversed(f"{n:b}"):  # squares of squares, of which those are multiplied that n has
        if bit == "1":
            power = x if power is None else _matmul_of_numpy(power, x)
            n -= n & -n
        if n:
            x = _matmul_of_numpy(x, x)
    if power is None:
        size = x.shape[-1]
        return BroadcastTo.functional(Eye.functional(size, size, x.dtype), x.shape)
    return power


@spelling(numpy="multi_dot")
def multi_dot(arrays: list[ArrayLike] | tuple[ArrayLike, ...]) -> Tensor:
    """Product of several matrices, in the order of multiplication that costs least.

    Args:
        arrays (Union[list, tuple]): At least 2 matrices; the first may be a vector, a row, and the last one, a column.

    Returns:
        Tensor of the element type in which theirs meet.

    Raises:
        TypeError: If `arrays` holds something else.
        ValueError: If there are fewer than 2, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.multi_dot([[[1, 0], [0, 2]], [[1, 1], [1, 1]], [1, 2]]))
        [3 6]
    """
    if isinstance(arrays, Tensor):
        arrays = list(arrays)
    if not isinstance(arrays, (list, tuple)) or len(arrays) < 2:
        raise ValueError(f"For 'multi_dot', 'arrays' should be at least 2 matrices, but got {arrays!r}.")
    factors = common_type(*[as_tensor(a, "multi_dot", f"arrays[{i}]") for i, a in enumerate(arrays)])
    ends = [factors[0].ndim == 1, factors[-1].ndim == 1]
    if ends[0]:
        factors[0] = Reshape.functional(factors[0], (1, -1))
    if ends[1]:
        factors[-1] = Reshape.functional(factors[-1], (-1, 1))
    for i, factor in enumerate(factors):
        if factor.ndim != 2:
            raise ValueError(f"For 'multi_dot', 'arrays[{i}]' should be a matrix, but got shape {factor.shape}.")
    found = _cheapest(factors)
    shape = found.shape[1 if ends[0] else 0 : 1 if ends[1] else 2]
    return found if shape == found.shape else Reshape.functional(found, shape)


def _cheapest(factors):
    """The product of matrices; where to part them is found for every run of neighbours, the short ones first."""
    sizes = [f.shape[0] for f in factors] + [factors[-1].shape[1]]
    cost = {(i, i): (0, i) for i, _ in enumerate(factors)}
    for length in range(1, len(factors)):
        for i in range(len(factors) - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i, j):
        if i == j:
            return factors[i]
        k = cost[i, j][1]
        return _dot_of_numpy(product(i, k), product(k + 1, j))

    return product(0, len(factors) - 1)
