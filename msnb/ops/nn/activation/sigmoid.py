"""The sigmoid, its logarithm, gated units, and piecewise linear approximations."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Float, Int, Static
from msnb.core.operator.cases import F16, F, I, U, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._in_place import take_over
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import larger, smaller
from msnb.ops._upcast import in_float32
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.activation.softplus import log_one_plus_exp

_REAL = _check.INT | _check.FLOAT


@operator(functional="sigmoid", called=("input",), methods=("sigmoid",), generation=2)
@in_float32
def Sigmoid(input_x):
    """1 / (1 + exp(-x)), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Examples:
        >>> print(ops.Sigmoid()(Tensor([0.0, 2.0])))
        [0.5       0.8807971]
    """
    _check.dtype_in("Sigmoid", "input_x", input_x, _check.FLOAT | _check.COMPLEX)
    return jax.lax.logistic(input_x)


@operator
@shapes("y dy: *s")
@in_float32
def SigmoidGrad(y, dy):
    """Gradient of Sigmoid, from the output of the forward pass and the cotangent."""
    return dy * y * (1 - y)


@operator(functional="logsigmoid", generation=2)
@in_float32
def LogSigmoid(x):
    """log(sigmoid(x)), computed without overflow.

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.
    """
    _check.dtype_in("LogSigmoid", "x", x, _check.FLOAT | _check.COMPLEX)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return -jnp.log(1 + jnp.exp(-x))
    return -log_one_plus_exp(-x)


@operator(functional="silu", generation=2)
@in_float32
def SiLU(input):
    """x * sigmoid(x) (arXiv:1702.03118).

    Inputs:
        - **input** (Tensor) - any shape, float or complex.

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.dtype_in("SiLU", "input", input, _check.FLOAT | _check.COMPLEX)
    return input * lax.logistic(input)


@operator(functional="glu", generation=2)
@in_float32
def GLU(x, *, axis: Int = -1):
    """a * sigmoid(b) for the two halves a and b of `x` along `axis` (arXiv:1612.08083).

    Args:
        axis (int): the axis that is halved. Default: -1.

    Inputs:
        - **x** (Tensor) - even along `axis`.

    Outputs:
        Tensor, half as long along `axis`.
    """
    _check.dtype_in("GLU", "x", x, _check.FLOAT | _check.COMPLEX)
    axis = _check.axis_in("GLU", axis, x.ndim)
    if x.shape[axis] % 2:
        raise ValueError(f"For 'GLU', 'x' should be even along axis {axis}, but got shape {x.shape}.")
    a, b = jnp.split(x, 2, axis)
    return a * lax.logistic(b)


@operator(functional="hardsigmoid", called=("input",), generation=2)
def HSigmoid(input_x):
    """relu6(x + 3) / 6, the piecewise linear sigmoid of MobileNetV3.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("HSigmoid", "input_x", input_x, _REAL)
    return (_compute_relu6_of_x_plus_3(input_x) / 6).astype(input_x.dtype)


def _compute_relu6_of_x_plus_3(x):
    shifted = x + 3
    low = jnp.where(shifted <= 0, jnp.zeros_like(shifted), shifted)
    return jnp.where(shifted >= 6, jnp.full_like(shifted, 6), low)


@operator
@shapes("y_grad x: *s")
def HSigmoidGrad(y_grad, x):
    """Gradient of HSigmoid, from the cotangent and the input of the forward pass."""
    return pull(HSigmoid.kernel, x)(y_grad)[0]


@operator(functional="hardswish", called=(("input", "x"),), generation=2)
@in_float32
def HSwish(input_x):
    """x * relu6(x + 3) / 6 (Searching for MobileNetV3, arXiv:1905.02244).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("HSwish", "input_x", input_x, _REAL)
    # At -3 and 3 the gradient is that of the parabola, -0.5 and 1.5, as in MindSpore.
    inside = jnp.where((input_x < -3) | (input_x > 3), jnp.zeros_like(input_x), input_x)
    flat = jnp.where(input_x < -3, jnp.zeros_like(input_x), input_x)
    return jnp.where((input_x < -3) | (input_x > 3), flat, (inside * (inside + 3) / 6).astype(input_x.dtype))


@operator
@shapes("y_grad x: *s")
def HSwishGrad(y_grad, x):
    """Gradient of HSwish, from the cotangent and the input of the forward pass."""
    return pull(HSwish.kernel, x)(y_grad)[0]


@spelling(Sigmoid, method="sigmoid_")
def _sigmoid_inplace(self: Tensor) -> Tensor:
    """Replace each element by 1 / (1 + exp(-x)), in place, and return the Tensor."""
    return take_over("sigmoid_", self, Sigmoid.functional(self))


@operator(functional="swiglu", generation=2)
@in_float32
def _SwiGlu(input, *, dim: Int = -1):
    """a * sigmoid(a) * b for the two halves a and b of `input` along `dim` (arXiv:2002.05202).

    Args:
        input (Tensor): Any shape, float.
        dim (int): The axis, of an even length. Default: -1.

    Returns:
        Tensor; the axis is half as long.

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If `dim` is out of range, or its length is odd.
    """
    _check.dtype_in("swiglu", "input", input, _check.FLOAT)
    dim = _check.axis_in("swiglu", dim, input.ndim, "dim")
    if input.shape[dim] % 2:
        raise ValueError(f"For 'swiglu', the length of axis {dim} should be even, but got shape {input.shape}.")
    gate, value = jnp.split(input, 2, dim)
    return jax.nn.silu(gate) * value


@spelling(Sigmoid)
def inplace_sigmoid(input: Tensor) -> Tensor:
    """Replace each element by 1 / (1 + exp(-x)), in place.

    Args:
        input (Tensor): Tensor to update, floating point.

    Returns:
        Tensor, `input` itself.
    """
    return take_over("inplace_sigmoid", input, Sigmoid.functional(input))


@operator
@in_float32
def Logit(x, *, eps: Static(Float) = -1.0):
    """Logarithm of the odds, log(x / (1 - x)).

    Args:
        eps (float): Clips `x` to [eps, 1 - eps]; a negative `eps` does not clip. Default: -1.0.

    Inputs:
        - **x** (Tensor) - Floating point.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
    """
    _check.dtype_in("logit", "input", x, _check.FLOAT)
    x = x if eps < 0 else smaller(larger(x, eps), 1 - eps)
    return jnp.log(x / (1 - x))


@spelling(Logit, function="logit", method="logit")
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Logarithm of the odds, log(x / (1 - x)).

    Args:
        input (Tensor): Floating point.
        eps (float): Clips `input` to [eps, 1 - eps]. Default: None, no clipping.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` is not floating point.
    """
    return Logit(-1.0 if eps is None else float(eps))(input)


CASES = [
    case(logit, U(2, 3)),
    case(logit, U(2, 3), 0.3),
    case(Logit, U(2, 3)),
    case(Sigmoid, F(3, 5, low=-6, high=6)),
    case(Sigmoid, F16(3, 5)),
    case(LogSigmoid, F(3, 6, low=-6, high=6)),
    case(SiLU, F(3, 6, low=-6, high=6)),
    case(GLU, F(3, 6)),
    case(HSigmoid, F(3, 5, low=-6, high=6)),
    case(HSwish, F(3, 5, low=-6, high=6)),
    refused(TypeError, Sigmoid, I(2)),
    case(_SwiGlu, F(2, 6)).without("mindspore", "the CPU has no kernel"),
]
