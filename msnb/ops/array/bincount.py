"""Functions that count how often each nonnegative integer occurs in a vector."""

import jax.numpy as jnp

from msnb.common.kinds import NonNegInt, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INT, dtype_in, rank, same_shape
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor
from msnb.ops.array.nonzero import concrete_array


@operator
def _BinCount(x, weights=None, *, length: NonNegInt):
    """Count how often each number from 0 to `length` - 1 occurs, or add up the weights of its occurrences.

    Args:
        length (int): Number of counts; elements >= `length` are ignored.

    Inputs:
        - **x** (Tensor) - Integers, a vector; negative elements are treated as 0.
        - **weights** (Tensor) - Weight of each element, of the shape of `x`. Default: None, all weights are 1.

    Outputs:
        Tensor of float32, of shape (length,).

    Raises:
        TypeError: If `x` does not consist of integers.
        ValueError: If `x` is no vector, or the shapes differ.
    """
    dtype_in("bincount", "x", x, INT)
    rank("bincount", "x", x, 1)
    if weights is not None:
        same_shape("bincount", x=x, weights=weights)
    counted = jnp.ones(x.shape, jnp.float32) if weights is None else weights.astype(jnp.float32)
    return jnp.zeros(length, jnp.float32).at[jnp.maximum(x, 0)].add(counted, mode="drop")


@spelling(_BinCount, function="bincount", method="bincount")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each nonnegative integer occurs in a vector. This does not run in a compiled graph, because the
    length of the result depends on data.

    Args:
        input (Tensor): Integers, not negative, a vector.
        weights (Tensor): Weight of each element, of the shape of `input`. Default: None, all weights are 1.
        minlength (int): The result has at least this length. Default: 0.

    Returns:
        Tensor of float32, as in MindSpore.

    Raises:
        TypeError: If `input` does not consist of integers.
        ValueError: If an element is negative, `input` is no vector, or the shapes differ.
    """
    values = concrete_array("bincount", input)
    dtype_in("bincount", "input", values, INT)
    if values.size and values.min() < 0:
        raise ValueError(f"For 'bincount', 'input' should not be negative, but got {values.min()}.")
    length = max(minlength, int(values.max()) + 1 if values.size else 0)
    return _BinCount(length)(input, weights)


@spelling(_BinCount, numpy="bincount")
def _numpy_bincount(
    x: ArrayLike, weights: ArrayLike | None = None, minlength: NonNegInt = 0, length: NonNegInt | None = None
) -> Tensor:
    """Count how often each nonnegative integer occurs in a vector. A compiled graph requires `length`.

    Args:
        x (Union[Tensor, list, tuple]): Integers, a vector; negative elements are treated as 0.
        weights (Union[Tensor, list, tuple]): Weight of each element, of the shape of `x`. Default: None, all weights
            are 1.
        minlength (int): The result has at least this length. Default: 0.
        length (int): The length of the result; elements >= `length` are ignored. Default: None, the largest element
            plus 1, which is only known in PYNATIVE mode.

    Returns:
        Tensor of float32, a vector.

    Raises:
        TypeError: If `x` does not consist of integers, or an argument has the wrong type.
        ValueError: If `x` is no vector, or the shapes differ.

    Examples:
        >>> print(mindspore.numpy.bincount([0, 1, 1, 3], length=3))
        [1. 2. 0.]
    """
    x = as_tensor(x, "bincount", "x")
    if length is None:
        if is_tracer(x._array):
            raise DataDependentShape("bincount", "the length of the result", "give it 'length'")
        values = concrete_array("bincount", x)
        needed = max(int(values.max()), 0) + 1 if values.size else 0
        length = max(check(NonNegInt, minlength, "minlength", "bincount"), needed)
    return _BinCount(length)(x, None if weights is None else as_tensor(weights, "bincount", "weights"))


@operator(generation=2)
def Bincount(array, size: NonNegInt, weights):
    """Count how often each number from 0 to `size` - 1 occurs, or add up the weights of its occurrences.

    Inputs:
        - **array** (Tensor) - int32, not negative; elements >= `size` are ignored.
        - **size** (Union[Tensor, int]) - Number of counts.
        - **weights** (Tensor) - Weight of each element, of the shape of `array`. If it is empty, all weights are 1.

    Outputs:
        Tensor of the element type of `weights`, of shape (size,).

    Raises:
        TypeError: If `array` does not consist of integers.
        ValueError: If the shapes differ.
    """
    dtype_in("Bincount", "array", array, INT)
    if weights.size:
        same_shape("Bincount", array=array, weights=weights)
    counted = weights if weights.size else jnp.ones(array.shape, weights.dtype)
    return jnp.zeros(size, weights.dtype).at[array].add(counted, mode="drop", wrap_negative_indices=False)


CASES = [
    case(Bincount, Values([0, 1, 1, 7]), Values(3), F(4)).without("gradient", "2.7.1 has none"),
    case(_BinCount, Values([1, 3, 1, 0, 7]), F(5), length=4)
    .without("mindspore", NUMPYS)
    .without("differences", "it adds in float32"),
]
