"""Matrix product of a dense layer, and addition of a bias."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import OneOf
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32


@operator(functional="dense", generation=2)
@shapes("input: *s i, weight: o i | i, bias: o | 1 | ()")
def Dense(input, weight, bias=None):
    """input @ weight^T + bias.

    Inputs:
        - **input** (Tensor) - (..., C_in).
        - **weight** (Tensor) - (C_out, C_in), or (C_in,).
        - **bias** (Tensor, optional) - (C_out,), or one number for all.

    Outputs:
        Tensor, (..., C_out).
    """
    _check.same_dtype("Dense", input=input, weight=weight)
    if input.shape[-1:] != weight.shape[-1:]:
        raise ValueError(
            f"For 'Dense', the last dimensions of 'input' and 'weight' should be equal, but got "
            f"{input.shape} and {weight.shape}."
        )
    if bias is not None and bias.ndim >= weight.ndim:
        raise ValueError(f"For 'Dense', a 'weight' of shape {weight.shape} has no 'bias' of shape {bias.shape}.")
    y = input @ weight.T
    return y if bias is None else y + bias


@operator(functional="bias_add", generation=2)
@in_float32
def BiasAdd(input_x, bias, *, data_format: OneOf("NCHW", "NHWC", "NCDHW") = "NCHW"):
    """Adds a bias to each channel.

    Args:
        data_format (str): "NCHW", "NHWC" or "NCDHW": the layout, which determines the channel axis. Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - 2-D to 5-D.
        - **bias** (Tensor) - (C,).

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        ValueError: If `bias` does not fit the channels.
    """
    op = "BiasAdd"
    _check.tensor_only(op, "input_x", input_x)
    _check.rank(op, "bias", bias, 1)
    if input_x.ndim < 2:
        raise ValueError(f"For '{op}', 'input_x' should have at least 2 dimensions, but got shape {input_x.shape}.")
    _check.same_dtype(op, input_x=input_x, bias=bias)
    axis = input_x.ndim - 1 if data_format == "NHWC" else 1
    if bias.shape[0] != input_x.shape[axis]:
        raise ValueError(
            f"For '{op}', 'bias' should have {input_x.shape[axis]} elements, one a channel of 'input_x', "
            f"but got {bias.shape[0]}."
        )
    return lax.add(input_x, lax.broadcast_in_dim(bias, input_x.shape, (axis,)))


@operator
@in_float32
def BiasAddGrad(dout, *, data_format: OneOf("NCHW", "NHWC", "NCDHW") = "NCHW"):
    """Gradient of BiasAdd with respect to the bias."""
    axis = dout.ndim - 1 if data_format == "NHWC" else 1
    if dout.ndim < 2:
        raise ValueError(f"For 'BiasAddGrad', 'dout' should have at least 2 dimensions, but got shape {dout.shape}.")
    return jnp.sum(dout, tuple(i for i in range(dout.ndim) if i != axis))


CASES = [
    case(Dense, F(2, 3, 4), F(5, 4), F(5)),
    case(Dense, F(2, 4), F(5, 4), F()),
    case(BiasAdd, F(2, 3, 4, 4), F(3)),
    case(BiasAdd, F(2, 3), F(3)),
    refused(ValueError, BiasAdd, F(2, 3, 4, 4), F(2)),
]
