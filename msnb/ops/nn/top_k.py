"""The largest values along an axis, and a test whether targets are among the best classes."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Int, PositiveInt, check
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check


@differs_in_api2("the elements are sorted", sorted=True)
@operator
def TopK(input_x, k: Int, *, sorted: Bool = False):
    """Return the `k` largest values along the last axis and their indices.

    Args:
        sorted (bool): whether to sort the values in descending order. False has an effect only if `k` is the length of
            the axis: the values are then returned in the order of the input. Default: False.

    Inputs:
        - **input_x** (Tensor) - at least 1-D.
        - **k** (int) - number of values.

    Outputs:
        Tuple of the values (type of `input_x`) and their indices (int32).

    Raises:
        ValueError: If `k` is not in [0, length of the last axis].
    """
    op = "TopK"
    _check.tensor_only(op, "input_x", input_x)
    if input_x.ndim == 0 or not 0 <= k <= input_x.shape[-1]:
        raise ValueError(
            f"For '{op}', 'k' should be at most the length of the last axis, but got {k} for shape {input_x.shape}."
        )
    if not sorted and k == input_x.shape[-1]:
        return input_x, lax.broadcasted_iota(jnp.int32, input_x.shape, input_x.ndim - 1)
    return tuple(lax.top_k(input_x, k))


_in_order = TopK(True)


@spelling(TopK, function="topk", method="topk")
def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the `k` largest or smallest values along an axis and their indices.

    Args:
        input (Tensor): At least 1-D.
        k (int): Number of values.
        dim (int): The axis. Default: None, the last.
        largest (bool): True returns the largest values, False the smallest. Default: True.
        sorted (bool): No effect: values are always in order. Default: True.

    Returns:
        Tuple of the values and their indices (int32).
    """
    if type(largest) is not bool or type(sorted) is not bool:
        check(Bool, largest, "largest", "topk"), check(Bool, sorted, "sorted", "topk")
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'topk', 'input' should be a Tensor, but got {type(input).__name__}.")
    last = dim is None or dim in (-1, input.ndim - 1)
    x = input if last else input.swapaxes(dim, -1)
    values, indices = _in_order(x if largest else -x, k)
    values = values if largest else -values
    return (values, indices) if last else (values.swapaxes(dim, -1), indices.swapaxes(dim, -1))


@operator(functional="intopk", generation=2)
def InTopK(x1, x2, *, k: Int):
    """Test for each row whether the score of its target class is among the `k` largest.

    Args:
        k (int): number of best scores.

    Inputs:
        - **x1** (Tensor) - scores (N, C), float.
        - **x2** (Tensor) - targets (N,), int32 or int64.

    Outputs:
        Tensor, (N,), bool. True also if the score equals the k-th largest.
    """
    op = "InTopK"
    _check.dtype_in(op, "x1", x1, _check.FLOAT)
    _check.dtype_in(op, "x2", x2, _check.INDEX)
    if x1.ndim != 2 or tuple(x2.shape) != x1.shape[:1]:
        raise ValueError(f"For '{op}', 'x1' should have shape (N, C) and 'x2' (N,), but got {x1.shape} and {x2.shape}.")
    inside = (x2 >= 0) & (x2 < x1.shape[1])
    target_scores = jnp.take_along_axis(x1, jnp.where(inside, x2, 0)[:, None], axis=1)
    better = jnp.sum(x1 > target_scores, axis=1)
    return inside & (better < k) & jnp.isfinite(target_scores[:, 0])


@spelling(TopK, function="top_k", method="top_k")
def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the `k` largest values along the last axis and their indices.

    Args:
        input_x (Tensor): At least 1-D.
        k (int): Number of values.
        sorted (bool): Whether to return values in descending order. Default: True.

    Returns:
        Tuple of the values and their indices (int32).

    Raises:
        TypeError: If `k` is not an int, or `sorted` not a bool.
        ValueError: If `k` is not in [0, length of the last axis].
    """
    return TopK.functional(input_x, k, sorted)


@operator(methods=("kthvalue",), generation=2)
def _KthValue(input, k: PositiveInt, dim: Int = -1, keepdim: Bool = False):
    """The k-th smallest element along a dimension and its index.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **k** (int) - 1-based rank of the element.
        - **dim** (int) - The dimension. Default: -1.
        - **keepdim** (bool) - Keep the dimension with length 1. Default: False.

    Outputs:
        A tuple of two Tensors: the elements, and their indices, int64.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` or `k` is out of range.
    """
    _check.dtype_in("kthvalue", "input", input, _check.NUMBER)
    dim = _check.axis_in("kthvalue", dim, input.ndim, "dim")
    if k > input.shape[dim]:
        raise ValueError(f"For 'kthvalue', 'k' should be at most {input.shape[dim]}, but got {k}.")
    order = jnp.argsort(lax.stop_gradient(input), dim, stable=True)
    index = lax.slice_in_dim(order, k - 1, k, axis=dim)
    value = jnp.take_along_axis(input, index, dim)
    return tuple(x if keepdim else x.squeeze(dim) for x in (value, index.astype(jnp.int64)))


CASES = [
    case(_KthValue, F(2, 4), 2).without("mindspore", "2.7.1 has it on Ascend"),
    case(_KthValue, F(3, 2), 3, 0, True).without("mindspore", "2.7.1 has it on Ascend"),
    refused(ValueError, _KthValue, F(3), 4, says="kthvalue"),
    case(TopK, F(3, 7), 4, sorted=True),
    case(topk, F(3, 6), 2, dim=0, largest=False),
    case(InTopK, F(4, 5), I(4, low=0, high=5), k=2),
    refused(ValueError, TopK, F(2, 3), 9),
    case(top_k, F(2, 5), 3),
]
