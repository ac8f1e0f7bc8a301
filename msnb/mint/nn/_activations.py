"""Activation functions of mint, and in-place variants."""

import inspect
from collections.abc import Callable
from typing import Any

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, readable
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops._in_place import take_over
from msnb.ops.array.cast import Cast

__all__ = [
    "dropout",
    "dropout2d",
    "elu",
    "elu_",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "log_softmax",
    "normalize",
    "one_hot",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "sigmoid_",
    "silu",
    "softmax",
    "threshold",
    "threshold_",
]


def _make_in_place_function(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function that writes the result of `fn` into its first argument."""

    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return take_over(name, input, fn(input, *args, **kwargs))

    function.__name__ = function.__qualname__ = name
    parameters = list(inspect.signature(fn).parameters.values())
    function.__signature__ = inspect.Signature([p for p in parameters if p.name != "inplace"], return_annotation=Tensor)
    function.__doc__ = f"`{name[:-1]}`, written into `input`.\n\n{(fn.__doc__ or '').partition(chr(10))[2]}"
    return function


def npu_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return `gelu`, x times the distribution function of the normal distribution.

    Args:
        input (Tensor): Floating point numbers.
        approximate (str): "none", or "tanh" for the approximation by tanh. Default: "none".

    Returns:
        Tensor of the same shape and element type.
    """
    return F.gelu(input, approximate)


def _write_if_inplace(name, input, result, inplace):
    return take_over(name, input, result) if inplace else result


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where x > 0, and alpha * (exp(x) - 1) elsewhere.

    Args:
        input (Tensor): Floating point numbers.
        alpha (float): The results are greater than -alpha. Default: 1.0.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("elu", input, F.elu(input, float(alpha)), inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limit every element to [min_val, max_val].

    Args:
        input (Tensor): Numbers.
        min_val (Union[int, float]): The lower limit. Default: -1.0.
        max_val (Union[int, float]): The upper limit. Default: 1.0.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("hardtanh", input, F.hardtanh(input, min_val, max_val), inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return x where x > 0, and negative_slope * x elsewhere.

    Args:
        input (Tensor): Floating point numbers.
        negative_slope (Union[int, float]): Slope for negative numbers. Default: 0.01.

    Returns:
        Tensor.
    """
    return F.leaky_relu(input, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x where x > 0, and weight * x elsewhere.

    Args:
        input (Tensor): Floating point.
        weight (Tensor): One slope for each channel (dimension 1), or one for all.

    Returns:
        Tensor of the shape of `input`.
    """
    return F.prelu(input, weight if weight.ndim else weight.reshape(1))


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(x, 0).

    Args:
        input (Tensor): Numbers.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("relu", input, F.relu(input), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x, 0), 6).

    Args:
        input (Tensor): Floating point numbers.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("relu6", input, F.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * sigmoid(x).

    Args:
        input (Tensor): Floating point numbers.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("silu", input, F.silu(input), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x where x > threshold, and `value` elsewhere.

    Args:
        input (Tensor): Numbers.
        threshold (Union[int, float]): The threshold.
        value (Union[int, float]): Replacement of elements that are not greater than the threshold.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("threshold", input, F.threshold(input, threshold, value), inplace)


elu_, hardtanh_, relu_, threshold_ = (
    _make_in_place_function(f"{fn.__name__}_", fn) for fn in (elu, hardtanh, relu, threshold)
)
sigmoid_ = F.inplace_sigmoid


def _get_default_softmax_dim(input):
    """Return the default dimension of a softmax: 0 for inputs with 0, 1 or 3 dimensions, and 1 for others."""
    return 0 if input.ndim in (0, 1, 3) else 1


@readable
def softmax(input: Tensor, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """Return exp(x) / sum(exp(x)), with the sum over a dimension.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: None, which is 0 for inputs with 0, 1 or 3 dimensions, and 1 for others.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    return F.softmax(input, _get_default_softmax_dim(input) if dim is None else dim, dtype=dtype)


@readable
def log_softmax(input: Tensor, dim: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """Return the logarithm of the softmax.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: None, which is 0 for inputs with 0, 1 or 3 dimensions, and 1 for others.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    x = input if dtype is None else Cast.functional(input, dtype)
    return F.log_softmax(x, _get_default_softmax_dim(input) if dim is None else dim)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set random elements to 0, and divide the others by 1 - p.

    Args:
        input (Tensor): Floating point numbers.
        p (float): Probability of 0, in [0, 1]. Default: 0.5.
        training (bool): Whether to apply dropout; otherwise the values are unchanged. Default: True.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("dropout", input, F.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set random channels to 0, and divide the others by 1 - p.

    Args:
        input (Tensor): (N, C, H, W) or (C, H, W).
        p (float): Probability of 0, in [0, 1]. Default: 0.5.
        training (bool): Whether to apply dropout; otherwise the values are unchanged. Default: True.
        inplace (bool): Whether the result is written into `input`. Default: False.

    Returns:
        Tensor.
    """
    return _write_if_inplace("dropout2d", input, F.dropout2d(input, p, training), inplace)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divide each vector along a dimension by its norm.

    Args:
        input (Tensor): Floating point numbers.
        p (float): The order of the norm. Default: 2.0.
        dim (int): The dimension of the vectors. Default: 1.
        eps (float): Lower bound of the norm. Default: 1e-12.

    Returns:
        Tensor.
    """
    return input / F.maximum(F.vector_norm(input, p, dim, True), eps)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return one-hot vectors: 1 at the index given by each element, 0 elsewhere.

    Args:
        tensor (Tensor): Indices, integers from 0 on.
        num_classes (int): Number of classes. Default: -1, one more than the largest element.

    Returns:
        Tensor of int64, with a further dimension.
    """
    if num_classes == -1:
        num_classes = int(F.amax(tensor)) + 1
    return Cast.functional(F.one_hot(tensor, num_classes), mstype.int64)
