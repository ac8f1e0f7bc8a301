"""Activations that only 2.x has, and 2.x's functional forms of activations and dropout."""

import jax.numpy as jnp
from jax import lax

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Float, Int, OneOf, check, is_constant
from msnb.core.declare import operator
from msnb.core.operator import REGISTRY
from msnb.core.tensor import Tensor
from msnb.ops import _check
from msnb.ops._half import in_float32
from msnb.ops._host import functional
from msnb.ops.nn._kinds import Probability


def _floats(op, x):
    _check.dtype_in(op, "input", x, _check.FLOAT)


@operator(functional="leaky_relu")
def LeakyReLU(input, *, alpha: Float = 0.2):
    """x where x > 0, alpha * x elsewhere.

    Args:
        alpha (float): slope of the negative part. Default: 0.2.

    Inputs:
        - **input** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("LeakyReLU", input)
    return jnp.where(input > 0, input, jnp.asarray(alpha, input.dtype) * input)


@operator(functional="silu")
@in_float32
def SiLU(input):
    """x * sigmoid(x) (arXiv:1702.03118).

    Inputs:
        - **input** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("SiLU", input)
    return input * lax.logistic(input)


@operator(functional="logsigmoid")
@in_float32
def LogSigmoid(x):
    """log(sigmoid(x)), computed without overflow.

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("LogSigmoid", x)
    return -jnp.logaddexp(-x, jnp.zeros_like(x))


@operator(functional="hardtanh")
def HardTanh(input, *, min_val: Float = -1.0, max_val: Float = 1.0):
    """x cut to [min_val, max_val].

    Args:
        min_val (float): lower bound. Default: -1.0.
        max_val (float): upper bound. Default: 1.0.

    Inputs:
        - **input** (Tensor) - any shape.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("HardTanh", "input", input)
    low = jnp.where(input < min_val, jnp.full_like(input, min_val), input)
    return jnp.where(input > max_val, jnp.full_like(input, max_val), low)


@operator(functional="threshold")
def Threshold(input, *, thr: Float, value: Float):
    """x where x > thr, `value` elsewhere.

    Args:
        thr (float): the threshold.
        value (float): stands where x is not larger.

    Inputs:
        - **input** (Tensor) - any shape.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("Threshold", "input", input)
    return jnp.where(input > thr, input, jnp.full_like(input, value))


@operator(functional="glu")
@in_float32
def GLU(x, *, axis: Int = -1):
    """a * sigmoid(b) for the two halves a and b of `x` along `axis` (arXiv:1612.08083).

    Args:
        axis (int): the axis that is halved. Default: -1.

    Inputs:
        - **x** (Tensor) - even along `axis`.

    Outputs:
        Tensor, half as long along `axis`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("GLU", x)
    axis = _check.axis_in("GLU", axis, x.ndim)
    if x.shape[axis] % 2:
        raise ValueError(f"For 'GLU', 'x' should be even along axis {axis}, but got shape {x.shape}.")
    a, b = jnp.split(x, 2, axis)
    return a * lax.logistic(b)


@operator
@in_float32
def ErfGeLU(input):
    """Gaussian error linear unit, exact: x * Phi(x) with the normal distribution function Phi.

    Inputs:
        - **input** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("ErfGeLU", input)
    return 0.5 * input * (1 + lax.erf(input * 0.7071067811865476))


@functional("gelu")
def gelu(input, approximate="none"):
    """Gaussian error linear unit.

    Args:
        input (Tensor): Any shape, float.
        approximate (str): "none", exact, or "tanh", the form of the class `ops.GeLU`. Default: "none".

    Returns:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    approximate = OneOf("tanh", "none")(approximate, "approximate", "gelu")
    return (_tanh_gelu if approximate == "tanh" else _erf_gelu)(input)


@operator
@in_float32
def SoftplusBeta(input, *, beta: Float, threshold: Float):
    """log(1 + exp(beta x)) / beta, x itself where beta x is above `threshold`.

    Args:
        beta (float): steepness.
        threshold (float): from where on the function is linear.

    Inputs:
        - **input** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _floats("SoftplusBeta", input)
    scaled = input * beta
    return jnp.where(scaled > threshold, input, jnp.logaddexp(scaled, jnp.zeros_like(input)) / beta)


@functional("softplus")
def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta x)) / beta, x itself where beta x is above `threshold`.

    Args:
        input (Tensor): Any shape, float.
        beta (number): Steepness. Default: 1.
        threshold (number): From where on the function is linear. Default: 20.

    Returns:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _softplus_form(input, beta, threshold)


@functional("is_floating_point")
def is_floating_point(input):
    """Whether the elements of a Tensor are real floating-point numbers.

    Args:
        input (Tensor): Any.

    Returns:
        bool.
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'is_floating_point', 'input' should be a Tensor, but got {type(input).__name__}.")
    return input.dtype in (*mstype.float_type, mstype.bfloat16)


# ---------------------------------------------------------------------- dropout
def _check_training(name, training):
    return check(Bool, training, "training", name)


def _keep(name, p):
    return 1.0 - Probability(p, "p", name)


@functional("dropout")
def dropout(input, p=0.5, training=True, seed=None):
    """Sets each element to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): Any shape, float.
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` as it is. Default: True.
        seed (int): Calls with different seeds draw different masks. Default: None.

    Returns:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    keep = _keep("dropout", p)
    if not _check_training("dropout", training) or is_constant(keep, 1.0):
        return input
    if is_constant(keep, 0.0):
        return input * 0
    return REGISTRY["Dropout"].primitive(keep_prob=keep, Seed0=0 if seed is None else seed)(input)[0]


def _channel_form(name, operator_name, describe):
    def form(input, p=0.5, training=True):
        keep = _keep(name, p)
        if not _check_training(name, training) or is_constant(keep, 1.0):
            return input
        if is_constant(keep, 0.0):
            return input * 0
        return REGISTRY[operator_name].primitive(keep_prob=keep)(input)[0]

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""Sets whole channels of {describe} to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): {describe}.
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` as it is. Default: True.

    Returns:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


dropout2d = _channel_form("dropout2d", "Dropout2D", "images (N, C, H, W)")
dropout3d = _channel_form("dropout3d", "Dropout3D", "volumes (N, C, D, H, W)")

_tanh_gelu = REGISTRY["GeLU"].functional
_erf_gelu = REGISTRY["ErfGeLU"].functional
_softplus_form = REGISTRY["SoftplusBeta"].functional
