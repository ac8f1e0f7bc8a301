"""`multi_dot`: products of several matrices."""

from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, common_type
from msnb.ops.array.reshape import Reshape
from msnb.ops.math.products import _numpy_dot


@spelling(numpy="multi_dot")
def multi_dot(arrays: list[ArrayLike] | tuple[ArrayLike, ...]) -> Tensor:
    """Multiply several matrices in the order with the fewest operations.

    Args:
        arrays (Union[list, tuple]): At least 2 matrices. The first may be a vector, treated as a row. The last may be a
            vector, treated as a column.

    Returns:
        Tensor of the promoted element type.

    Raises:
        TypeError: If an element of `arrays` is no matrix or vector of numbers.
        ValueError: If there are fewer than 2 matrices, or their shapes can't be multiplied.

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
    product = _multiply_in_cheapest_order(factors)
    shape = product.shape[1 if ends[0] else 0 : 1 if ends[1] else 2]
    return product if shape == product.shape else Reshape.functional(product, shape)


def _multiply_in_cheapest_order(factors):
    """Return the product of matrices in the cheapest order, which dynamic programming over subsequences of adjacent
    matrices determines."""
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
        return _numpy_dot(product(i, k), product(k + 1, j))

    return product(0, len(factors) - 1)
