"""Gradients of convolution, pooling, resizing and recurrent operators, as operators of their own."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, OneOf, PositiveInt, Shape, StrictFloat
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops.nn import pool, resize, rnn
from msnb.ops.nn._kinds import Layout, PadMode, PoolMode, Sides2, Sides3, Window2, Window3
from msnb.ops.nn.conv import _conv2d, check_depthwise, check_weight, compare_pad_list, pads
from msnb.ops.nn.conv_lowering import Geometry, direct
from msnb.ops.nn.grads import pull
from msnb.ops.nn.max_pool import max_pool
from msnb.ops.nn.roi_align import ROIAlign


def _transpose(fn, shape, dy):
    return jax.linear_transpose(fn, jax.ShapeDtypeStruct(tuple(shape), dy.dtype))(dy)[0]


# ---------------------------------------------------------------------- pooling
def _max_pool(kernel, strides, pad_mode, data_format="NCHW"):
    def fn(x):
        x = jnp.moveaxis(x, -1, 1) if data_format == "NHWC" else x
        y = max_pool(x, kernel, strides, pool.window_pads("MaxPoolGrad", pad_mode, x.shape[2:], kernel, strides))
        return jnp.moveaxis(y, 1, -1) if data_format == "NHWC" else y

    return fn


@operator
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
    """Gradient of MaxPool from its input, its output and the cotangent."""
    _check.rank("MaxPoolGrad", "x_origin", x_origin, 4)
    return pull(_max_pool(kernel_size, strides, pad_mode, data_format), x_origin)(grad)[0]


@operator
def MaxPoolGradGrad(
    x_origin,
    out_origin,
    grad,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
):
    """Gradient of MaxPoolGrad: from each window of `grad`, the element where the input is largest."""
    return jax.jvp(_max_pool(kernel_size, strides, pad_mode), (x_origin,), (grad,))[1]


def _same_windows(op, x, kernel, strides, pad_mode, **windows):
    """ValueError unless what holds an entry for each window has as many as the attributes cut out of `x`."""
    _check.rank(op, "x", x, 4)
    padding = pool.window_pads(op, pad_mode, x.shape[2:], kernel, strides)
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
def MaxPoolGradWithArgmax(
    x, grad, argmax, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of MaxPoolWithArgmax from its input, the cotangent and the positions it returned."""
    n = x.shape[0]
    _same_windows("MaxPoolGradWithArgmax", x, kernel_size, strides, pad_mode, grad=grad, argmax=argmax)
    flat = jnp.zeros((n, x.size // n), grad.dtype)
    rows = jnp.arange(n)[:, None]
    return flat.at[rows, argmax.reshape(n, -1)].add(grad.reshape(n, -1)).reshape(x.shape)


@operator
def MaxPoolGradGradWithArgmax(
    x, grad, argmax, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of MaxPoolGradWithArgmax: the elements of `grad` at the positions."""
    n = x.shape[0]
    _same_windows("MaxPoolGradGradWithArgmax", x, kernel_size, strides, pad_mode, argmax=argmax)
    return jnp.take_along_axis(grad.reshape(n, -1), argmax.reshape(n, -1), axis=1).reshape(argmax.shape)


def _avg_pool_grad(shape, dy, kernel, strides, pad_mode, data_format="NCHW"):
    return _transpose(
        lambda x: pool.AvgPool.kernel(
            x, kernel_size=kernel, strides=strides, pad_mode=pad_mode, data_format=data_format
        ),
        shape,
        dy,
    )


@operator
def AvgPoolGrad(
    x_shape: Shape, grad, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of AvgPool from the shape of its input and the cotangent."""
    return _avg_pool_grad(x_shape, grad, kernel_size, strides, pad_mode)


@operator(aliases=("AvgPoolGradCpu",))
def AvgPoolGradGpu(
    x_origin,
    out_origin,
    grad,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """Gradient of AvgPool from its input, its output and the cotangent."""
    return _avg_pool_grad(x_origin.shape, grad, kernel_size, strides, pad_mode, data_format)


# ---------------------------------------------------------------------- convolution
@operator
def DepthwiseConv2dNativeBackpropFilter(
    x,
    filter_size: Shape,
    dout,
    *,
    channel_multiplier: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0,) * 4,
    pad_list: Sides2 = (0,) * 4,
    mode: OneOf(3) = 3,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
):
    """Gradient of DepthwiseConv2dNative with respect to its weights."""
    op, w = "DepthwiseConv2dNativeBackpropFilter", jax.ShapeDtypeStruct(filter_size, dout.dtype)
    w = check_depthwise(op, w, x.shape[1], channel_multiplier, kernel_size, group, "filter_size")
    compare_pad_list(op, pad_list, pads(op, pad_mode, pad, x.shape[2:], kernel_size, stride, dilation))
    return _transpose(lambda w: _depthwise(x, w, pad_mode, pad, stride, dilation), w.shape, dout)


@operator
def DepthwiseConv2dNativeBackpropInput(
    input_size: Shape,
    filter,
    dout,
    *,
    channel_multiplier: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0,) * 4,
    pad_list: Sides2 = (0,) * 4,
    mode: OneOf(3) = 3,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
):
    """Gradient of DepthwiseConv2dNative with respect to its images."""
    op = "DepthwiseConv2dNativeBackpropInput"
    filter = check_depthwise(op, filter, input_size[1], channel_multiplier, kernel_size, group, "filter")
    compare_pad_list(op, pad_list, pads(op, pad_mode, pad, input_size[2:], kernel_size, stride, dilation))
    return _transpose(lambda x: _depthwise(x, filter, pad_mode, pad, stride, dilation), input_size, dout)


def _depthwise(x, w, pad_mode, pad, stride, dilation):
    filters = jnp.swapaxes(w, 0, 1).reshape(-1, 1, *w.shape[2:])
    return _conv2d("DepthwiseConv2dNative", x, filters, pad_mode, pad, stride, dilation, x.shape[1])


@operator
def Conv3DBackpropFilter(
    x,
    out_backprop,
    filter_size: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides3 = (0,) * 6,
    stride: Window3 = (1, 1, 1),
    dilation: Window3 = (1, 1, 1),
    group: PositiveInt = 1,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """Gradient of Conv3D with respect to its weights."""
    op, w = "Conv3DBackpropFilter", jax.ShapeDtypeStruct(filter_size, out_backprop.dtype)
    w = check_weight(op, w, out_channel, kernel_size, "filter_size")
    padding = pads(op, pad_mode, pad, x.shape[2:], kernel_size, stride, dilation)
    geometry = Geometry(stride, padding, dilation, group)
    return _transpose(lambda w: direct(x, w, geometry), w.shape, out_backprop)


# ---------------------------------------------------------------------- images
@operator
def ResizeBilinearGrad(dout, x, *, align_corners: Bool = False):
    """Gradient of ResizeBilinear from the cotangent and its input."""
    dx = _transpose(lambda v: resize.bilinear(v, dout.shape[2:], align_corners), x.shape, dout.astype(jnp.float32))
    return dx.astype(x.dtype)


@operator
def ResizeNearestNeighborGrad(grads, size: Shape, *, align_corners: Bool = False):
    """Gradient of ResizeNearestNeighbor with respect to images of height and width `size`."""
    new = grads.shape[2:]
    dx = grads
    for axis, (old, n) in enumerate(zip(size, new, strict=True), start=2):
        index = jnp.asarray(resize.nearest_index(old, n, align_corners))
        shape = (*dx.shape[:axis], old, *dx.shape[axis + 1 :])
        dx = jnp.zeros(shape, dx.dtype).at[(slice(None),) * axis + (index,)].add(dx)
    return dx


@operator
def ROIAlignGrad(
    ydiff,
    rois,
    *,
    xdiff_shape: Shape,
    pooled_height: PositiveInt,
    pooled_width: PositiveInt,
    spatial_scale: StrictFloat,
    sample_num: PositiveInt = 2,
):
    """Gradient of ROIAlign with respect to features of shape `xdiff_shape`."""
    return _transpose(
        lambda x: ROIAlign.kernel(
            x,
            rois,
            pooled_height=pooled_height,
            pooled_width=pooled_width,
            spatial_scale=spatial_scale,
            sample_num=sample_num,
        ),
        xdiff_shape,
        ydiff,
    )


# ---------------------------------------------------------------------- recurrent
@operator
def LSTMGrad(
    x,
    hx,
    cx,
    w,
    y,
    hy,
    cy,
    dy,
    dhy,
    dcy,
    reserve,
    *,
    input_size: PositiveInt,
    hidden_size: PositiveInt,
    num_layers: PositiveInt,
    has_bias: Bool,
    bidirectional: Bool,
    dropout: rnn.Share,
):
    """Gradients of LSTM with respect to input, states and weights."""

    def forward(x, h, c, w):
        return rnn.LSTM.kernel(
            x,
            h,
            c,
            w,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            has_bias=has_bias,
            bidirectional=bidirectional,
            dropout=dropout,
        )[:3]

    return pull(forward, x, hx, cx, w)((dy, dhy, dcy))
