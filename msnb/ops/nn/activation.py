"""Activation functions. Gradients at the kinks are MindSpore's: zero where the function is flat on one side."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Float
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._half import in_float32
from msnb.ops.nn._kinds import NotZero, UnitAlpha

_REAL = _check.INT | _check.FLOAT


@operator(functional="relu")
def ReLU(input_x):
    """max(x, 0), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, any number type.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.ReLU()(Tensor([[-1.0, 4.0], [2.0, -5.0]])))
        [[0. 4.]
         [2. 0.]]
    """
    _check.dtype_in("ReLU", "input_x", input_x, _REAL)
    return jnp.where(input_x <= 0, jnp.zeros_like(input_x), input_x)  # lets NaN through, as max() does


@operator(functional="relu6")
def ReLU6(input_x):
    """min(max(x, 0), 6), element by element (MobileNets, arXiv:1704.04861).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("ReLU6", "input_x", input_x, _REAL)
    low = jnp.where(input_x <= 0, jnp.zeros_like(input_x), input_x)
    return jnp.where(input_x > 6, jnp.full_like(input_x, 6), low)


@operator
def ReLUV2(input_x):
    """ReLU of a 4-D Tensor that also returns where the input was positive.

    Inputs:
        - **input_x** (Tensor) - shape (N, C, H, W).

    Outputs:
        Tuple of the activation (shape and type of `input_x`) and the mask (uint8, 1 where `input_x` > 0).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("ReLUV2", "input_x", input_x, _REAL)
    if input_x.ndim != 4:
        raise ValueError(f"For 'ReLUV2', 'input_x' should have 4 dimensions, but got shape {input_x.shape}.")
    positive = input_x > 0
    return jnp.where(positive, input_x, jnp.zeros_like(input_x)), positive.astype(jnp.uint8)


@operator(functional="elu")
@in_float32
def Elu(input_x, *, alpha: UnitAlpha = 1.0):
    """x where x > 0, alpha * (exp(x) - 1) elsewhere (arXiv:1511.07289).

    Args:
        alpha (float): scale of the negative part; only 1.0 is defined in MindSpore. Default: 1.0.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("Elu", "input_x", input_x, _check.FLOAT)
    return _elu(input_x, alpha)


def _elu(x, alpha):
    negative = jnp.where(x > 0, jnp.zeros_like(x), x)  # keeps exp() of large values, and its gradient, finite
    return jnp.where(x > 0, x, alpha * jnp.expm1(negative))


@operator(functional="celu")
@in_float32
def CeLU(x, *, alpha: NotZero = 1.0):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483).

    Args:
        alpha (float): scale of the negative part, not zero. Default: 1.0.

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("CeLU", "x", x, _check.FLOAT)
    negative = jnp.where(x > 0, jnp.zeros_like(x), x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(negative / alpha))


@operator(functional="selu")
@in_float32
def SeLU(input_x):
    """Self-normalising exponential linear unit (arXiv:1706.02515).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("SeLU", "input_x", input_x, _check.FLOAT)
    return jnp.asarray(1.05070098735548, input_x.dtype) * _elu(input_x, 1.67326324235437)


@operator(functional="hardswish")
@in_float32
def HSwish(input_x):
    """x * relu6(x + 3) / 6 (Searching for MobileNetV3, arXiv:1905.02244).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("HSwish", "input_x", input_x, _check.FLOAT)
    # Both ends belong to the parabola, with its slopes of -0.5 and 1.5, as MindSpore has it.
    inside = jnp.where((input_x < -3) | (input_x > 3), jnp.zeros_like(input_x), input_x)
    flat = jnp.where(input_x < -3, jnp.zeros_like(input_x), input_x)
    return jnp.where((input_x < -3) | (input_x > 3), flat, inside * (inside + 3) / 6)


@operator(functional="hardsigmoid")
def HSigmoid(input_x):
    """relu6(x + 3) / 6, the piecewise linear sigmoid of MobileNetV3.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("HSigmoid", "input_x", input_x, _REAL)
    return (_relu6_of_shifted(input_x) / 6).astype(input_x.dtype)


def _relu6_of_shifted(x):
    shifted = x + 3
    low = jnp.where(shifted <= 0, jnp.zeros_like(shifted), shifted)
    return jnp.where(shifted >= 6, jnp.full_like(shifted, 6), low)


@operator(functional="sigmoid")
@in_float32
def Sigmoid(input_x):
    """1 / (1 + exp(-x)), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Sigmoid()(Tensor([0.0, 2.0])))
        [0.5       0.8807971]
    """
    _check.dtype_in("Sigmoid", "input_x", input_x, _check.FLOAT | _check.COMPLEX)
    return jax.lax.logistic(input_x)


@operator(functional="tanh", methods=("tanh",))
@in_float32
def Tanh(input_x):
    """Hyperbolic tangent, element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("Tanh", "input_x", input_x, _check.FLOAT | _check.COMPLEX)
    return jnp.tanh(input_x)


@operator
@in_float32
def Softplus(input_x):
    """log(1 + exp(x)), computed without overflow.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("Softplus", "input_x", input_x, _check.FLOAT)
    return jnp.logaddexp(input_x, jnp.zeros_like(input_x))


@operator(functional="softsign")
@in_float32
def Softsign(input_x):
    """x / (1 + |x|), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("Softsign", "input_x", input_x, _check.FLOAT)
    # |x| by where: its slope at 0 does not matter, x / 1 has slope 1 there whichever side is taken.
    return input_x / (1 + jnp.where(input_x < 0, -input_x, input_x))


@operator(aliases=("Gelu",))
@in_float32
def GeLU(input_x):
    """Gaussian error linear unit, tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (arXiv:1606.08415).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("GeLU", "input_x", input_x, _check.FLOAT)
    return 0.5 * input_x * (1 + jnp.tanh(0.7978845608028654 * (input_x + 0.044715 * input_x * input_x * input_x)))


@operator(aliases=("FastGelu",), functional="fast_gelu")
@in_float32
def FastGeLU(input_x):
    """x * sigmoid(1.702 x), written as MindSpore does to stay finite.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("FastGeLU", "input_x", input_x, _check.FLOAT)
    return input_x * jax.lax.logistic(1.702 * input_x)


@operator(functional="prelu")
def PReLU(input_x, weight):
    """x where x > 0, weight * x elsewhere, one weight a channel (arXiv:1502.01852).

    Inputs:
        - **input_x** (Tensor) - at least 2-D; axis 1 is the channel.
        - **weight** (Tensor) - shape (C,) or (1,).

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        ValueError: If `input_x` has fewer than 2 dimensions or `weight` does not fit its channels.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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


@operator(functional="mish")
@in_float32
def Mish(x):
    """x * tanh(log(1 + exp(x))) (arXiv:1908.08681).

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("Mish", "x", x, _check.FLOAT)
    return x * jnp.tanh(jnp.logaddexp(x, jnp.zeros_like(x)))


@operator(functional="hardshrink")
def HShrink(input_x, *, lambd: Float = 0.5):
    """x where |x| > lambd, 0 elsewhere.

    Args:
        lambd (float): the threshold. Default: 0.5.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("HShrink", "input_x", input_x, _check.FLOAT)
    return jnp.where((input_x >= -lambd) & (input_x <= lambd), jnp.zeros_like(input_x), input_x)


@operator(functional="softshrink")
def SoftShrink(input_x, *, lambd: Float = 0.5):
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between.

    Args:
        lambd (float): the threshold. Default: 0.5.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("SoftShrink", "input_x", input_x, _check.FLOAT)
    return jnp.where(
        input_x > lambd, input_x - lambd, jnp.where(input_x < -lambd, input_x + lambd, jnp.zeros_like(input_x))
    )
