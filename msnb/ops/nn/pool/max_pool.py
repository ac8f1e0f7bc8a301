"""Max pooling. If several pixels of a window are the largest, the first in row order gets the full gradient."""

from math import prod

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, IntOrTuple, OneOf, Optional, check
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import Layout, Offsets3, Pads2, PoolMode, Sides3, Window2, Window3
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.pool._windows import (
    apply_batched,
    ceil_mode_pads,
    from_channels_first,
    max_pool,
    max_with_position,
    to_channels_first,
    volume_pads,
    window_extent,
    window_pads,
)


@operator
def MaxPool(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The largest value of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid": no padding; "same": the padding that gives ceil(size / strides) outputs. Default:
            "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, (N, C, H_out, W_out) in the layout of `x`.

    Raises:
        TypeError: If an attribute has a wrong type.
        ValueError: If `x` is not 4-D or the window does not fit.

    Examples:
        >>> x = Tensor(np.arange(12).reshape(1, 1, 3, 4), mindspore.float32)
        >>> print(ops.MaxPool(kernel_size=2, strides=1)(x))
        [[[[ 5.  6.  7.]
           [ 9. 10. 11.]]]]
    """
    x = to_channels_first("MaxPool", x, data_format)
    padding = window_pads("MaxPool", pad_mode, x.shape[2:], kernel_size, strides)
    return from_channels_first(max_pool(x, kernel_size, strides, padding), data_format)


def _make_max_pool_function(kernel, strides, pad_mode, data_format="NCHW"):
    def fn(x):
        x = jnp.moveaxis(x, -1, 1) if data_format == "NHWC" else x
        y = max_pool(x, kernel, strides, window_pads("MaxPoolGrad", pad_mode, x.shape[2:], kernel, strides))
        return jnp.moveaxis(y, 1, -1) if data_format == "NHWC" else y

    return fn


@operator
@shapes("x_origin: n c h w, out_origin grad: n c p q")
def MaxPoolGrad(
    x_origin,
    out_origin,
    grad,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """Gradient of MaxPool, from the input and output of the forward pass and the cotangent."""
    _check.rank("MaxPoolGrad", "x_origin", x_origin, 4)
    return pull(_make_max_pool_function(kernel_size, strides, pad_mode, data_format), x_origin)(grad)[0]


@operator
@shapes("x_origin grad: *s")
def MaxPoolGradGrad(
    x_origin,
    out_origin,
    grad,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
):
    """Gradient of MaxPoolGrad: for each window, the element of `grad` at the position of the largest input."""
    return jax.jvp(_make_max_pool_function(kernel_size, strides, pad_mode), (x_origin,), (grad,))[1]


@operator
def MaxPoolWithArgmax(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The largest value of each window and its index.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid" or "same". Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tuple of the values (N, C, H_out, W_out) and, as int32, the flat position of each within its image (C, H, W).
    """
    x = to_channels_first("MaxPoolWithArgmax", x, data_format)
    padding = window_pads("MaxPoolWithArgmax", pad_mode, x.shape[2:], kernel_size, strides)
    values, where = max_with_position(x, kernel_size, strides, padding)
    return from_channels_first(values, data_format), from_channels_first(where, data_format)


def _check_window_count(op, x, kernel, strides, pad_mode, **windows):
    """Raise ValueError unless each of `windows` has one entry for each pooling window of `x`."""
    _check.rank(op, "x", x, 4)
    padding = window_pads(op, pad_mode, x.shape[2:], kernel, strides)
    expected = (
        *x.shape[:2],
        *((n + sum(p) - k) // s + 1 for n, p, k, s in zip(x.shape[2:], padding, kernel, strides, strict=True)),
    )
    for name, array in windows.items():
        if tuple(array.shape) != expected:
            raise ValueError(
                f"For '{op}', '{name}' should have shape {expected}, from windows of {kernel} every "
                f"{strides} pixels of 'x' of shape {x.shape} in pad_mode '{pad_mode}', but got "
                f"{array.shape}."
            )


@operator
@shapes("x: n c h w, grad argmax: n c p q")
def MaxPoolGradWithArgmax(
    x, grad, argmax, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of MaxPoolWithArgmax, from its input `x`, the cotangent `grad` and the indices `argmax` that it
    returned."""
    n = x.shape[0]
    _check_window_count("MaxPoolGradWithArgmax", x, kernel_size, strides, pad_mode, grad=grad, argmax=argmax)
    flat = jnp.zeros((n, x.size // n), grad.dtype)
    rows = jnp.arange(n)[:, None]
    return flat.at[rows, argmax.reshape(n, -1)].add(grad.reshape(n, -1)).reshape(x.shape)


@operator
@shapes("x grad: n c h w, argmax: n c p q")
def MaxPoolGradGradWithArgmax(
    x, grad, argmax, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of MaxPoolGradWithArgmax: the elements of `grad` at the indices `argmax`."""
    n = x.shape[0]
    _check_window_count("MaxPoolGradGradWithArgmax", x, kernel_size, strides, pad_mode, argmax=argmax)
    return jnp.take_along_axis(grad.reshape(n, -1), argmax.reshape(n, -1), axis=1).reshape(argmax.shape)


@operator
def _MaxPool2D(
    x,
    *,
    kernel_size: Window2,
    strides: Optional(Window2) = None,
    pads: Pads2 = (0,) * 4,
    dilation: Window2 = (1, 1),
    ceil_mode: Bool = False,
):
    """MaxPoolWithArgmaxV2 without the indices."""
    return _pool_images("max_pool2d", x, kernel_size, strides, pads, dilation, ceil_mode, max_pool)


def _check_argmax_type(attributes):
    if attributes["argmax_type"] not in (mstype.int32, mstype.int64):
        raise TypeError(
            f"For 'MaxPoolWithArgmaxV2', 'argmax_type' should be int32 or int64, but got {attributes['argmax_type']}."
        )


@operator(refuses=_check_argmax_type)
def MaxPoolWithArgmaxV2(
    x,
    *,
    kernel_size: Window2,
    strides: Optional(Window2) = None,
    pads: Pads2 = (0,) * 4,
    dilation: Window2 = (1, 1),
    ceil_mode: Bool = False,
    argmax_type: DType = mstype.int64,
):
    """The largest value of each window and its index in the plane.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window.
        strides (Union[int, tuple[int]]): step of the window. Default: None, `kernel_size`.
        pads (Union[int, tuple[int]]): padding at each side. Default: 0.
        dilation (Union[int, tuple[int]]): distance between the pixels of a window. Default: 1.
        ceil_mode (bool): whether to include a last window that extends beyond the border. Default: False.
        argmax_type (mindspore.dtype): element type of the indices, int32 or int64. Default: mstype.int64.

    Inputs:
        - **x** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tuple of the values and their flat positions within (H, W).

    Raises:
        TypeError: If `argmax_type` is neither int32 nor int64.
        ValueError: If the window does not fit.
    """

    def pool(x, *window):
        values, where = max_with_position(x, *window)
        return values, (where % (x.shape[2] * x.shape[3])).astype(mstype.np_dtype(argmax_type))

    return _pool_images("MaxPoolWithArgmaxV2", x, kernel_size, strides, pads, dilation, ceil_mode, pool)


def _pool_images(op, x, kernel, strides, padding, dilation, ceil_mode, pool):
    _check.dtype_in(op, "x", x, _check.FLOAT | _check.INT)
    strides = strides or kernel

    def of_batch(x):
        pads = ceil_mode_pads(op, x.shape[2:], window_extent(kernel, dilation), strides, padding, ceil_mode)
        return pool(x, kernel, strides, pads, dilation)

    return apply_batched(op, x, 2, of_batch)


@spelling(MaxPoolWithArgmaxV2, _MaxPool2D)
def max_pool2d(
    x: Tensor,
    kernel_size: IntOrTuple,
    stride: IntOrTuple | None = None,
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of each window.

    Args:
        x (Tensor): (N, C, H, W) or (C, H, W).
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding at each side. Default: 0.
        dilation (Union[int, tuple[int]]): Distance between the pixels of a window. Default: 1.
        return_indices (bool): Also return the indices within each plane, int64. Default: False.
        ceil_mode (bool): Whether to include a last window that extends beyond the border. Default: False.

    Returns:
        Tensor of the values, or a tuple of values and positions.
    """
    both = return_indices is not False and check(Bool, return_indices, "return_indices", "max_pool2d")
    pool = MaxPoolWithArgmaxV2 if both else _MaxPool2D
    return pool.functional(x, kernel_size, stride, padding, dilation, ceil_mode)


@operator
def MaxPool3D(
    x,
    *,
    kernel_size: Window3 = (1, 1, 1),
    strides: Window3 = (1, 1, 1),
    pad_mode: OneOf("valid", "same", "pad", fold=True) = "valid",
    pad_list: Sides3 = (0,) * 6,
    ceil_mode: Bool = False,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """The largest value of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): depth, height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad_list (Union[int, tuple[int]]): padding at head, tail, top, bottom, left, right for "pad". Default: 0.
        ceil_mode (bool): whether to include a last window that extends beyond the border, for "pad". Default: False.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C, D_out, H_out, W_out).
    """
    return max_pool(
        x, kernel_size, strides, volume_pads("MaxPool3D", x, pad_mode, pad_list, kernel_size, strides, ceil_mode)
    )


_TIES = I(2, 3, 8, 9, low=-2, high=3, dtype="float32")
_INDICES = I(1, 2, 2, 2, low=0, high=16)


def _check_volume_argmax_type(attributes):
    if attributes["argmax_type"] not in (mstype.int32, mstype.int64):
        raise TypeError(
            f"For 'MaxPool3DWithArgmax', 'argmax_type' should be int32 or int64, but got {attributes['argmax_type']}."
        )


@operator(refuses=_check_volume_argmax_type)
def MaxPool3DWithArgmax(
    x,
    *,
    ksize: Window3,
    strides: Window3,
    pads: Offsets3,
    dilation: Window3 = (1, 1, 1),
    ceil_mode: Bool = False,
    data_format: OneOf("NCDHW") = "NCDHW",
    argmax_type: DType = mstype.int64,
):
    """The largest value of each window of a volume and its index.

    Args:
        ksize (Union[int, tuple[int]]): depth, height and width of the window.
        strides (Union[int, tuple[int]]): step of the window.
        pads (Union[int, tuple[int]]): padding at both ends of each side.
        dilation (Union[int, tuple[int]]): distance between the pixels of a window. Default: 1.
        ceil_mode (bool): whether to include a last window that extends beyond the border. Default: False.
        data_format (str): "NCDHW". Default: "NCDHW".
        argmax_type (mindspore.dtype): element type of the indices, int32 or int64. Default: mstype.int64.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tuple of the values and their flat indices within (D, H, W).

    Raises:
        TypeError: If `argmax_type` is neither int32 nor int64.
        ValueError: If the window does not fit.
    """
    _check.dtype_in("MaxPool3DWithArgmax", "x", x, _check.FLOAT | _check.INT)
    padding = tuple(pad for pad in pads for _ in range(2))

    def of_batch(x):
        pads = ceil_mode_pads(
            "MaxPool3DWithArgmax", x.shape[2:], window_extent(ksize, dilation), strides, padding, ceil_mode
        )
        values, where = max_with_position(x, ksize, strides, pads, dilation)
        return values, (where % prod(x.shape[2:])).astype(mstype.np_dtype(argmax_type))

    return apply_batched("MaxPool3DWithArgmax", x, 3, of_batch)


@spelling(MaxPool3DWithArgmax)
def max_pool3d(
    x: Tensor,
    kernel_size: IntOrTuple,
    stride: IntOrTuple | None = None,
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of each window of a volume.

    Args:
        x (Tensor): (N, C, D, H, W) or (C, D, H, W).
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding at both ends of each side. Default: 0.
        dilation (Union[int, tuple[int]]): Distance between the pixels of a window. Default: 1.
        ceil_mode (bool): Whether to include a last window that extends beyond the border. Default: False.
        return_indices (bool): Also return the indices within the volume, int64. Default: False.

    Returns:
        Tensor of the values, or a tuple of values and flat indices.

    Raises:
        ValueError: If the window does not fit.
    """
    both = return_indices is not False and check(Bool, return_indices, "return_indices", "max_pool3d")
    step = kernel_size if stride is None else stride
    pads = MaxPool3DWithArgmax.functional(x, kernel_size, step, padding, dilation, ceil_mode)
    return pads if both else pads[0]


CASES = [
    case(MaxPool, F(2, 3, 8, 9), kernel_size=2, strides=2),
    case(MaxPool, _TIES, kernel_size=3, strides=2, pad_mode="same"),
    case(MaxPool, _TIES, kernel_size=(3, 2), strides=(1, 2)),
    case(MaxPool, _TIES, kernel_size=4, strides=2, pad_mode="SAME"),
    case(MaxPoolGrad, F(1, 2, 4, 4), F(1, 2, 2, 2), F(1, 2, 2, 2), kernel_size=2, strides=2),
    case(MaxPoolGradGrad, F(1, 2, 4, 4), F(1, 2, 2, 2), F(1, 2, 4, 4), kernel_size=2, strides=2),
    case(MaxPoolWithArgmax, F(1, 2, 4, 6), kernel_size=2, strides=2),
    case(MaxPoolWithArgmax, _TIES, kernel_size=2, strides=2),
    case(MaxPoolGradWithArgmax, F(1, 2, 4, 4), F(1, 2, 2, 2), _INDICES, kernel_size=2, strides=2),
    case(MaxPoolGradGradWithArgmax, F(1, 2, 4, 4), F(1, 2, 4, 4), _INDICES, kernel_size=2, strides=2),
    case(_MaxPool2D, F(1, 2, 4, 5), kernel_size=2, strides=2),
    case(max_pool2d, _TIES, kernel_size=2, stride=2),
    case(max_pool2d, _TIES, kernel_size=3, stride=2, padding=1),
    case(max_pool2d, _TIES, kernel_size=2, stride=2, ceil_mode=True),
    case(max_pool2d, F(1, 2, 7, 8), kernel_size=(3, 2), stride=1, padding=1, dilation=2),
    case(max_pool2d, F(1, 2, 9, 8), kernel_size=4, stride=2, dilation=(2, 1), ceil_mode=True, return_indices=True),
    case(MaxPoolWithArgmaxV2, F(1, 2, 4, 5), kernel_size=2, strides=2),
    case(MaxPool3D, F(1, 2, 4, 4, 6), kernel_size=2, strides=2),
    refused(ValueError, MaxPool, pad_mode="full"),
    refused(ValueError, MaxPool, kernel_size=0),
    refused(ValueError, MaxPool, F(2, 3, 4, 4), kernel_size=5, strides=1),
    case(MaxPool3DWithArgmax, F(1, 2, 4, 5, 4), ksize=2, strides=(1, 2, 1), pads=1),
    case(max_pool3d, F(1, 2, 4, 5, 4), 2),
    case(max_pool3d, F(2, 4, 5, 4), 3, 2, (1, 0, 1), 1, True, True),
]
