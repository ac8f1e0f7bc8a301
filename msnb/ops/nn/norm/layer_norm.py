"""Normalisation of each example over its trailing axes."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Float, Int, Shape, check
from msnb.core.operator.cases import F, U, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._check import tensor_argument
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.norm._standardize import moments, standardise


@operator
def LayerNorm(
    input_x,
    gamma=None,
    beta=None,
    *,
    begin_norm_axis: Int = 1,
    begin_params_axis: Int = 1,
    epsilon: Float = 1e-7,
):
    """Normalises each example over its trailing axes (arXiv:1607.06450).

    Args:
        begin_norm_axis (int): the first axis to normalise over. Default: 1.
        begin_params_axis (int): the first axis that `gamma` and `beta` have. Default: 1.
        epsilon (float): added to the variance. Default: 1e-7.

    Inputs:
        - **input_x** (Tensor) - any shape.
        - **gamma**, **beta** (Tensor, optional) - scale and offset, of the shape of `input_x` from `begin_params_axis`
          on. Without them, 1 and 0 are used.

    Outputs:
        Tuple of the result (shape and type of `input_x`), and mean and variance, in which the normalised axes have
        length 1.

    Raises:
        ValueError: If an axis is out of range or a shape does not fit.

    Examples:
        >>> x = Tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
        >>> print(ops.LayerNorm()(x, ops.ones(3, mindspore.float32), ops.zeros(3, mindspore.float32))[0])
        [[-1.2247448  0.         1.2247448]
         [-1.2247448  0.         1.2247448]]
    """
    op = "LayerNorm"
    _check.dtype_in(op, "input_x", input_x, _check.FLOAT)
    first = _check.axis_in(op, begin_norm_axis, input_x.ndim, "begin_norm_axis")
    params = _check.axis_in(op, begin_params_axis, input_x.ndim, "begin_params_axis")
    for name, v in (("gamma", gamma), ("beta", beta)):
        if v is not None and tuple(v.shape) != tuple(input_x.shape[params:]):
            raise ValueError(
                f"For '{op}', '{name}' should have shape {tuple(input_x.shape[params:])}, but got {v.shape}."
            )
    y, mean, variance = standardise(input_x, tuple(range(first, input_x.ndim)), epsilon, gamma, beta)
    return y.astype(input_x.dtype), mean, variance


@spelling(LayerNorm)
def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises `input` over its trailing dimensions, whose shape is `normalized_shape`.

    Args:
        input (Tensor): Any shape, float.
        normalized_shape (Union[int, tuple[int], list[int]]): The trailing dimensions.
        weight (Tensor): Shape `normalized_shape`. Default: None, the same as 1.
        bias (Tensor): Shape `normalized_shape`. Default: None, the same as 0.
        eps (float): Added to the variance. Default: 1e-5.

    Returns:
        Tensor, shape and type of `input`.

    Raises:
        TypeError: If `input` is not a Tensor of float or `normalized_shape` does not consist of int.
        ValueError: If `normalized_shape` is not the end of the shape of `input`.
    """
    if type(normalized_shape) is not tuple:
        normalized_shape = check(Shape, normalized_shape, "normalized_shape", "layer_norm")
    tensor_argument("layer_norm", "input", input)
    shape = input._array.shape
    first = len(shape) - len(normalized_shape)
    if not normalized_shape or shape[first:] != normalized_shape:
        raise ValueError(
            f"For 'layer_norm', 'normalized_shape' should be the trailing dimensions of 'input', but got "
            f"{normalized_shape} for shape {shape}."
        )
    return LayerNorm.functional(input, weight, bias, first, first, eps)[0]


_LAYER_NORM_EPSILON = 1e-12  # the operator has no such attribute; the value is that of MindSpore's kernel


def _check_statistics_shapes(op, x, variance, mean, gamma, norm_axis, params_axis):
    norm, params = (
        _check.axis_in(op, axis, x.ndim, name)
        for axis, name in ((norm_axis, "begin_norm_axis"), (params_axis, "begin_params_axis"))
    )
    each = x.shape[:norm] + (1,) * (x.ndim - norm)
    for name, array, shape in (("variance", variance, each), ("mean", mean, each), ("gamma", gamma, x.shape[params:])):
        if array.shape != shape:
            raise ValueError(f"For '{op}', '{name}' should have shape {shape}, but got {array.shape}.")


def _layer_norm_grad(x, dy, variance, mean, gamma, norm_axis, params_axis):
    axes = tuple(range(norm_axis % x.ndim, x.ndim))
    outer = tuple(range(params_axis % x.ndim))
    inverse = lax.rsqrt(variance + _LAYER_NORM_EPSILON)
    hat = (x - mean) * inverse
    g = dy * gamma
    dx = inverse * (g - jnp.mean(g, axes, keepdims=True) - hat * jnp.mean(g * hat, axes, keepdims=True))
    return dx, jnp.sum(dy * hat, outer), jnp.sum(dy, outer)


@operator
@shapes("x dy: *s")
@in_float32
def LayerNormGrad(x, dy, variance, mean, gamma, *, begin_norm_axis: Int = 1, begin_params_axis: Int = 1):
    """Gradients of LayerNorm with respect to input, gamma and beta, from the mean and variance that LayerNorm
    returned."""
    _check_statistics_shapes("LayerNormGrad", x, variance, mean, gamma, begin_norm_axis, begin_params_axis)
    return _layer_norm_grad(x, dy, variance, mean, gamma, begin_norm_axis, begin_params_axis)


@operator
@shapes("x dy grad_dx: *s, gamma grad_dg grad_db: *g")
@in_float32
def LayerNormGradGrad(
    x, dy, variance, mean, gamma, grad_dx, grad_dg, grad_db, *, begin_norm_axis: Int = 1, begin_params_axis: Int = 1
):
    """Gradients of LayerNormGrad with respect to `x`, `dy` and `gamma`. Mean and variance are differentiated as
    functions of `x`.
    """
    _check_statistics_shapes("LayerNormGradGrad", x, variance, mean, gamma, begin_norm_axis, begin_params_axis)
    axes = tuple(range(begin_norm_axis % x.ndim, x.ndim))

    def gradients(x, dy, gamma):
        mean, variance = moments(x, axes)
        return _layer_norm_grad(x, dy, variance, mean, gamma, begin_norm_axis, begin_params_axis)

    return pull(gradients, x, dy, gamma)((grad_dx, grad_dg, grad_db))


_OTHER_MOMENTS = "it takes mean and variance for those of `x`, which the row's are not"

CASES = [
    case(LayerNorm, F(3, 7), F(7), F(7), epsilon=1e-5).wrt(of=0),
    case(LayerNorm, F(2, 3, 6), F(6), F(6), begin_norm_axis=-1, begin_params_axis=-1).wrt(of=0),
    case(LayerNorm, F(2, 3, 4), F(3, 4), F(3, 4), epsilon=1e-5).wrt(of=0),
    case(layer_norm, F(2, 3, 4), (3, 4), F(3, 4), F(3, 4)),
    case(LayerNormGrad, F(3, 4), F(3, 4), U(3, 1, low=0.5), F(3, 1), F(4)).without("mindspore", _OTHER_MOMENTS),
    case(LayerNormGradGrad, F(3, 4), F(3, 4), U(3, 1, low=0.5), F(3, 1), F(4), F(3, 4), F(4), F(4)).without(
        "mindspore", _OTHER_MOMENTS
    ),
    refused(TypeError, LayerNorm, begin_norm_axis=1.5),
]
