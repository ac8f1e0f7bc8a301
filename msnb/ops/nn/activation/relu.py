"""Rectifiers: x for large inputs; 0, a multiple of x or a constant for small ones.

Gradients at the kinks are MindSpore's: zero where the function is flat on one side.
"""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Float
from msnb.core.operator.cases import F16, F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.math._elementwise import floating, is_integer
from msnb.ops.nn._pullback import pull

_REAL = _check.INT | _check.FLOAT


def _compute_relu(x):
    """Return max(x, 0). NaN stays NaN."""
    # `lax` traces faster than `jax.numpy`, and this is the most frequent operator of a network.
    zero = lax.full_like(x, 0)
    return lax.select(lax.le(x, zero), zero, x)


@operator
def ReLU(input_x):
    """max(x, 0), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, any number type; in MindSpore 2 also bool.

    Outputs:
        Tensor, shape and type of `input_x`.

    Examples:
        >>> print(ops.ReLU()(Tensor([[-1.0, 4.0], [2.0, -5.0]])))
        [[0. 4.]
         [2. 0.]]
    """
    _check.dtype_in("ReLU", "input_x", input_x, _REAL, api2=_check.BOOL)
    return _compute_relu(input_x)


_relu = ReLU()


@spelling(ReLU, function="relu")
def relu(input: Tensor, inplace: Bool = False) -> Tensor:
    """max(x, 0), element by element.

    Args:
        input (Tensor): Any shape, any number type.
        inplace (bool): Whether to write the result to `input` as well. Default: False.

    Returns:
        Tensor of the shape and type of `input`; `input` itself with `inplace`.

    Raises:
        TypeError: If `input` does not consist of numbers.

    Examples:
        >>> print(ops.relu(Tensor([-1.0, 4.0], mindspore.float32)))
        [0. 4.]
    """
    return input.assign_value(_relu(input)) if inplace else _relu(input)


@operator
def ReluGrad(y_backprop, x):
    """Gradient of ReLU, from the cotangent and the input or output of the forward pass."""
    _check.same_shape("ReluGrad", y_backprop=y_backprop, x=x)
    return jnp.where(x > 0, y_backprop, jnp.zeros_like(y_backprop))


@operator(functional="relu6", called=(("x", "input"),), generation=2)
def ReLU6(input_x):
    """min(max(x, 0), 6), element by element (MobileNets, arXiv:1704.04861).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("ReLU6", "input_x", input_x, _REAL)
    low = _compute_relu(input_x)
    return jnp.where(input_x > 6, jnp.full_like(input_x, 6), low)


@operator
def ReLU6Grad(y_grad, x):
    """Gradient of ReLU6, from the cotangent and the input of the forward pass."""
    _check.same_shape("ReLU6Grad", y_grad=y_grad, x=x)
    return jnp.where((x > 0) & (x <= 6), y_grad, jnp.zeros_like(y_grad))


@operator
def ReLUV2(input_x):
    """ReLU of a 4-D Tensor, and a mask of the positive inputs.

    Inputs:
        - **input_x** (Tensor) - shape (N, C, H, W).

    Outputs:
        Tuple of the activation (shape and type of `input_x`) and the mask (uint8, 1 where `input_x` > 0).
    """
    _check.dtype_in("ReLUV2", "input_x", input_x, _REAL)
    if input_x.ndim != 4:
        raise ValueError(f"For 'ReLUV2', 'input_x' should have 4 dimensions, but got shape {input_x.shape}.")
    positive = input_x > 0
    return jnp.where(input_x <= 0, jnp.zeros_like(input_x), input_x), positive.astype(jnp.uint8)  # NaN stays NaN


@operator
@shapes("gradients mask: *s")
def ReluGradV2(gradients, mask):
    """Gradient of ReLUV2, from the cotangent and the mask of the forward pass."""
    return jnp.where(mask > 0, gradients, jnp.zeros_like(gradients))


@operator(functional="prelu", called=(("input", "x"),), generation=2)
def PReLU(input_x, weight):
    """x where x > 0, weight * x elsewhere, with one weight per channel (arXiv:1502.01852).

    Inputs:
        - **input_x** (Tensor) - at least 2-D; axis 1 is the channel.
        - **weight** (Tensor) - shape (C,) or (1,).

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        ValueError: If `input_x` has fewer than 2 dimensions or `weight` does not fit its channels.
    """
    _check.dtype_in("PReLU", "input_x", input_x, _check.FLOAT)
    _check.dtype_in("PReLU", "weight", weight, _check.FLOAT)
    _check.rank("PReLU", "weight", weight, 1)
    if input_x.ndim < 2:
        if weight.shape[0] != 1:
            raise ValueError(
                f"For 'PReLU', 'input_x' should have at least 2 dimensions when 'weight' has "
                f"{weight.shape[0]} elements, but got shape {input_x.shape}."
            )
        slope = weight.reshape((1,) * input_x.ndim)
    else:
        if weight.shape[0] not in (1, input_x.shape[1]):
            raise ValueError(
                f"For 'PReLU', 'weight' should have 1 or {input_x.shape[1]} elements (the channels of "
                f"'input_x'), but got {weight.shape[0]}."
            )
        slope = weight.reshape((1, -1) + (1,) * (input_x.ndim - 2))
    return jnp.where(input_x > 0, input_x, slope.astype(input_x.dtype) * input_x)


@operator
@shapes("y_backprop x: *s")
def PReLUGrad(y_backprop, x, w):
    """Gradients of PReLU with respect to input and weight."""
    return pull(PReLU.kernel, x, w)(y_backprop)


@operator(functional="leaky_relu", generation=2)
def LeakyReLUExt(input, *, alpha: Float = 0.2):
    """x where x > 0, alpha * x elsewhere.

    Args:
        alpha (float): slope of the negative part. Default: 0.2.

    Inputs:
        - **input** (Tensor) - any shape, real numbers or bool.

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.dtype_in("LeakyReLUExt", "input", input, _check.FLOAT | _check.INT | _check.BOOL)
    if is_integer(input):  # fractions are truncated
        return jnp.where(input > 0, input, (alpha * input.astype(jnp.float32)).astype(input.dtype))
    return jnp.where(input > 0, input, jnp.asarray(alpha, input.dtype) * input)


@operator(functional="threshold", generation=2)
def Threshold(input, *, thr: Float, value: Float):
    """x where x > thr, `value` elsewhere.

    Args:
        thr (float): the threshold.
        value (float): result where x is not above the threshold.

    Inputs:
        - **input** (Tensor) - any shape.

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.tensor_only("Threshold", "input", input)
    # NaN stays NaN, and no number is above a threshold that is NaN
    return jnp.where((input > thr) | (input != input), input, jnp.full_like(input, value))


@operator(functional="hardtanh", generation=2)
def Hardtanh(input, *, min_val: Float = -1.0, max_val: Float = 1.0):
    """min(max(x, min_val), max_val), element by element.

    Args:
        min_val (float): lower bound. Default: -1.0.
        max_val (float): upper bound. Default: 1.0.

    Inputs:
        - **input** (Tensor) - any shape.

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.tensor_only("Hardtanh", "input", input)
    # NaN stays NaN, and a bound that is NaN gives NaN
    is_nan = input != input
    low = jnp.where((input >= min_val) | is_nan, input, jnp.full_like(input, min_val))
    return jnp.where((low <= max_val) | is_nan, low, jnp.full_like(input, max_val))


@operator(random=True)
def _RRelu(key, input, lower, upper):
    """x where x >= 0, slope * x elsewhere, with a slope for each element drawn uniformly from [lower, upper)."""
    _check.dtype_in("rrelu", "input", input, _check.FLOAT | _check.INDEX)
    wide = jnp.promote_types(floating(input).dtype, jnp.float32)
    slope = jax.random.uniform(key, input.shape, wide) * (upper - lower) + lower
    if is_integer(input):  # the slope has the element type of the input
        slope = slope.astype(input.dtype)
    return jnp.where(input >= 0, input, (input * slope).astype(input.dtype))


@spelling(_RRelu)
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """x where x >= 0, slope * x elsewhere, with a slope drawn for each element (arXiv:1505.00853).

    Args:
        input (Tensor): Any shape, float, int32 or int64. Slopes of integers are truncated to integers.
        lower (float): The smallest slope. Default: 1/8.
        upper (float): The largest slope. Default: 1/3.

    Returns:
        Tensor, shape and type of `input`.

    Raises:
        TypeError: If `input` is of another element type.
        ValueError: If `lower` is above `upper`.
    """
    if not lower <= upper:
        raise ValueError(f"For 'rrelu', there should be lower <= upper, but got {lower} and {upper}.")
    return _RRelu.functional(input, lower, upper)


CASES = [
    case(ReLU, F(3, 5)),
    case(ReLU, F16(3, 5)),
    case(ReLU, I(3, 4, low=-2, high=3)),
    case(ReLU6, F(3, 5, low=-4, high=9)),
    case(ReLUV2, F(1, 2, 3, 3)),
    case(PReLU, F(2, 3, 4, 4), F(3)),
    case(PReLU, F(2, 3, 4), F(1)),
    case(PReLUGrad, F(2, 3, 4, 4), F(2, 3, 4, 4), F(3)),
    case(LeakyReLUExt, F(3, 6), alpha=0.1),
    case(Threshold, F(3, 6), thr=0.2, value=3.0),
    case(Hardtanh, F(3, 6), max_val=0.5),
    refused(ValueError, PReLU, F(2, 3, 4, 4), F(2)),
]
