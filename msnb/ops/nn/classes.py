"""Classes as vectors, what ranks them, and the small shape operators of networks."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Int, OneOf, PositiveInt
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._half import in_float32


@operator
def OneHot(indices, depth: PositiveInt, on_value, off_value, *, axis: Int = -1):
    """A new axis of length `depth` with `on_value` at each index and `off_value` elsewhere.

    Args:
        axis (int): where the new axis goes. Default: -1, last.

    Inputs:
        - **indices** (Tensor) - any shape, int; an index outside [0, depth) gives `off_value` everywhere.
        - **depth** (int) - length of the new axis.
        - **on_value** (Tensor) - a scalar.
        - **off_value** (Tensor) - a scalar of the same type.

    Outputs:
        Tensor, type of `on_value`.

    Raises:
        TypeError: If `indices` is not int.
        ValueError: If `axis` is out of range or `depth` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> on, off = Tensor(1.0, mindspore.float32), Tensor(0.0, mindspore.float32)
        >>> print(ops.OneHot()(Tensor([0, 2]), 3, on, off))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """
    op = "OneHot"
    _check.dtype_in(op, "indices", indices, _check.INT)
    on_value, off_value = jnp.asarray(on_value), jnp.asarray(off_value)
    if on_value.size != 1 or off_value.size != 1:
        raise ValueError(
            f"For '{op}', 'on_value' and 'off_value' should be scalars, but got shapes {on_value.shape} "
            f"and {off_value.shape}."
        )
    axis = _check.axis_in(op, axis, indices.ndim + 1)
    classes = lax.broadcasted_iota(indices.dtype, (*indices.shape[:axis], depth, *indices.shape[axis:]), axis)
    chosen = jnp.expand_dims(indices, axis) == classes
    on_value, off_value = lax.stop_gradient((on_value, off_value))
    return jnp.where(chosen, on_value.reshape(()), off_value.reshape(()).astype(on_value.dtype))


@operator
def TopK(input_x, k: Int, *, sorted: Bool = False):
    """The `k` largest values along the last axis, and where they stand.

    Args:
        sorted (bool): whether values come in falling order; without, they do too unless all are asked for, which
            then stay where they are. Default: False.

    Inputs:
        - **input_x** (Tensor) - at least 1-D.
        - **k** (int) - how many.

    Outputs:
        Tuple of the values (type of `input_x`) and their places (int32).

    Raises:
        ValueError: If `k` is not in [0, length of the last axis].

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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


@operator(functional="in_top_k")
def InTopK(x1, x2, *, k: Int):
    """Whether the score of each target is among the `k` best of its row.

    Args:
        k (int): how many count.

    Inputs:
        - **x1** (Tensor) - scores (N, C), float.
        - **x2** (Tensor) - targets (N,), int32 or int64.

    Outputs:
        Tensor, (N,), bool. Ties with the k-th score count.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "InTopK"
    _check.dtype_in(op, "x1", x1, _check.FLOAT)
    _check.dtype_in(op, "x2", x2, _check.INDEX)
    if x1.ndim != 2 or tuple(x2.shape) != x1.shape[:1]:
        raise ValueError(f"For '{op}', 'x1' should have shape (N, C) and 'x2' (N,), but got {x1.shape} and {x2.shape}.")
    inside = (x2 >= 0) & (x2 < x1.shape[1])
    own = jnp.take_along_axis(x1, jnp.where(inside, x2, 0)[:, None], axis=1)
    better = jnp.sum(x1 > own, axis=1)
    return inside & (better < k) & jnp.isfinite(own[:, 0])


@operator(functional="bias_add")
@in_float32
def BiasAdd(input_x, bias, *, data_format: OneOf("NCHW", "NHWC", "NCDHW") = "NCHW"):
    """Adds one number a channel.

    Args:
        data_format (str): "NCHW", "NHWC" or "NCDHW": which axis is the channel. Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - 2-D to 5-D.
        - **bias** (Tensor) - (C,).

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        ValueError: If `bias` does not fit the channels.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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
    return input_x + bias.reshape((-1,) + (1,) * (input_x.ndim - 1 - axis))


@operator
def Flatten(input_x):
    """Keeps axis 0 and joins all others.

    Inputs:
        - **input_x** (Tensor) - at least 1-D.

    Outputs:
        Tensor, (N, product of the other lengths).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("Flatten", "input_x", input_x)
    if input_x.ndim == 0:
        raise ValueError("For 'Flatten', 'input_x' should have at least 1 dimension, but got a scalar.")
    return input_x.reshape(input_x.shape[0], input_x.size // max(input_x.shape[0], 1))
