"""Softmax, log-softmax and softmin."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Int, IntOrTuple, Kind, Optional, kind_of
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast


def _accept_axis_as_tuple(value):
    value = kind_of(IntOrTuple).accept(value)
    return value if isinstance(value, tuple) else (value,)


# MindSpore's Softmax stores its axis as a tuple, and user code reads that attribute.
Axes = Kind("an int or a tuple of int", _accept_axis_as_tuple, python=int | tuple[int, ...])


@operator
@in_float32
def Softmax(logits, *, axis: Axes = (-1,)):
    """exp(x - max) / sum(exp(x - max)) along `axis`.

    Args:
        axis (Union[int, tuple[int]]): the axis or axes along which the results sum to 1. Default: -1.

    Inputs:
        - **logits** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `logits`.

    Raises:
        TypeError: If `axis` is not an int or a tuple of int.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.Softmax()(Tensor([1.0, 2.0, 3.0])))
        [0.09003058 0.24472848 0.66524094]
    """
    _check.dtype_in("Softmax", "logits", logits, _check.FLOAT)
    if axis == ():
        raise ValueError("For 'Softmax', 'axis' should name at least one axis, but got ().")
    return jax.nn.softmax(logits, axis=_check.axes_in("Softmax", axis, logits.ndim))


@spelling(Softmax, function="softmax", method="softmax")
def softmax(input: Tensor, axis: IntOrTuple = -1, *, dtype: DType | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`.

    Args:
        input (Tensor): Any shape, float.
        axis (Union[int, tuple[int]]): The axis along which the results sum to 1. Default: -1.

    Keyword Args:
        dtype (mindspore.dtype): Type to which `input` is converted first. Default: None.

    Returns:
        Tensor, shape of `input`.
    """
    return Softmax.functional(input if dtype is None else Cast.functional(input, dtype), axis)


@spelling(Softmax)
def softmin(x: Tensor, axis: IntOrTuple = -1, *, dtype: DType | None = None) -> Tensor:
    """exp(-x) / sum(exp(-x)) along `axis`.

    Args:
        x (Tensor): Any shape, float.
        axis (Union[int, tuple[int]]): The axis along which the results sum to 1. Default: -1.

    Keyword Args:
        dtype (mindspore.dtype): Type to which `x` is converted first. Default: None.

    Returns:
        Tensor, shape of `x`.
    """
    return softmax(-_check.tensor_argument("softmin", "x", x), axis, dtype=dtype)


@operator(functional="log_softmax")
@in_float32
def LogSoftmax(logits, *, axis: Int = -1):
    """x - log(sum(exp(x))) along `axis`.

    Args:
        axis (int): the axis along which the exponentials of the results sum to 1. Default: -1.

    Inputs:
        - **logits** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `logits`.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    _check.dtype_in("LogSoftmax", "logits", logits, _check.FLOAT)
    return jax.nn.log_softmax(logits, axis=_check.axis_in("LogSoftmax", axis, logits.ndim))


@operator
@shapes("y dy: *s")
@in_float32
def SoftmaxGrad(y, dy):
    """Gradient of Softmax over the last axis, from the output of Softmax and the cotangent."""
    return (dy - jnp.sum(y * dy, -1, keepdims=True)) * y


@operator
@shapes("dout out: *s")
@in_float32
def _SoftmaxBackward(dout, out, *, dim: Int = -1):
    """Gradient of Softmax over `dim`, from the cotangent and the output of Softmax. Exported files of MindSpore 2
    contain this operator."""
    dim = _check.axis_in("SoftmaxBackward", dim, out.ndim)
    return (dout - jnp.sum(out * dout, dim, keepdims=True)) * out


@operator(generation=2)
def LogSoftmaxExt(input, dim: Optional(Int) = None, dtype: Optional(DType) = None):
    """x - log(sum(exp(x))) along `dim`, in the element type `dtype`.

    Inputs:
        - **input** (Tensor) - any shape, float.
        - **dim** (int) - the axis. Default: None, which means 0 if `input` has 0, 1 or 3 dimensions, and 1 otherwise.
        - **dtype** (mindspore.dtype) - element type of the result, to which `input` is cast first. Default: None, that
          of `input`.

    Outputs:
        Tensor, shape of `input`.

    Raises:
        TypeError: If `input` is not float.
        ValueError: If `dim` is out of range.
    """
    x = input if dtype is None else input.astype(mstype.dtype_to_nptype(dtype))
    if dim is None:
        dim = 0 if x.ndim in (0, 1, 3) else 1
    return LogSoftmax.kernel(x, axis=_check.axis_in("LogSoftmaxExt", dim, x.ndim, "dim"))


@operator
@shapes("y dy: *s")
@in_float32
def LogSoftmaxGrad(y, dy, *, axis: Int = -1):
    """Gradient of LogSoftmax, from the output of the forward pass and the cotangent."""
    axis = _check.axis_in("LogSoftmaxGrad", axis, y.ndim)
    return dy - jnp.exp(y) * jnp.sum(dy, axis, keepdims=True)


CASES = [
    case(Softmax, F(3, 5)),
    case(Softmax, F(2, 3, 4), axis=1),
    case(softmax, F(3, 6), axis=0),
    case(softmin, F(3, 6)),
    case(LogSoftmax, F(3, 5, low=-20, high=20)),
    case(LogSoftmax, F(3, 5), axis=0),
    case(LogSoftmaxExt, F(3, 5)).without("mindspore", "the CPU has no kernel"),
    case(LogSoftmaxExt, F(2, 3, 4), -1, mstype.float32).without("mindspore", "the CPU has no kernel"),
    refused(TypeError, Softmax, axis=1.0),
    refused(ValueError, Softmax, F(2, 3), axis=4),
    refused(TypeError, LogSoftmax, axis="0"),
]
