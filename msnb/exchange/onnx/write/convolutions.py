"""Lowerings to ONNX: convolutions, pooling and resizing."""

from collections.abc import Sequence
from typing import Any

from msnb.ops import operations as ops
from msnb.ops.nn.conv._shared import same_pads
from msnb.ops.nn.conv.conv2d import _Conv1D
from msnb.ops.nn.pool.max_pool import _MaxPool2D

from .builder import Builder, Extent, Refused, Value, lowerings, primitives


def padding_of(mode: str, pad: Sequence[int], image: Sequence[Any], kernel, stride, dilation=None) -> dict[str, Any]:
    """Return ONNX's padding attributes for a pad mode of MindSpore. With mode "same" and an unknown image size, the
    runtime computes the padding (`auto_pad`).
    """
    if mode == "valid":
        return {}
    if mode == "same":
        if any(isinstance(n, Extent) for n in image):
            return {"auto_pad": "SAME_UPPER"}
        dilation = dilation or (1,) * len(kernel)
        pads = [same_pads(n, k, s, d) for n, k, s, d in zip(image, kernel, stride, dilation, strict=True)]
        return {"pads": [p for p, _ in pads] + [q for _, q in pads]}
    return {"pads": [*pad[::2], *pad[1::2]]}


def _to_channels_first(b, x):
    return b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _to_channels_last(b, x):
    return b.op("Transpose", x, perm=[0, *range(2, len(b.shape)), 1])


def _write_conv(b, x, weight, *, pad_mode, pad, stride, dilation, group, data_format="NCHW"):
    is_channels_last = data_format in ("NHWC", "NDHWC")
    if is_channels_last:
        x, weight = _to_channels_first(b, x), _to_channels_first(b, weight)
    kernel = weight.shape[2:]
    kind = b.computing(x.dtype)
    result = b.op(
        "Conv",
        b.cast(x, kind),
        b.cast(weight, kind),
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilation),
        group=group,
        **padding_of(pad_mode, pad, x.shape[2:], kernel, stride, dilation),
    )
    return _to_channels_last(b, result) if is_channels_last else result


@lowerings.register(ops.Conv2D, ops.Conv3D)
def _lower_conv(b, x, weight, *, pad_mode, pad, stride, dilation, group, data_format, **_):
    return _write_conv(
        b, x, weight, pad_mode=pad_mode, pad=pad, stride=stride, dilation=dilation, group=group, data_format=data_format
    )


@lowerings.register(_Conv1D)
def _lower_conv1d(b, x, weight, *, stride, pad_mode, padding, dilation, groups):
    return _write_conv(b, x, weight, pad_mode=pad_mode, pad=padding, stride=stride, dilation=dilation, group=groups)


@primitives.register("conv")
def _lower_conv_primitive(b, x, w, geometry=None, **_):
    """Lower msnb's own convolution primitive, which occurs in kernels of operators without a lowering."""
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    if any(p < 0 for p in pads):
        raise Refused("its padding is negative")
    return b.op(
        "Conv", x, w, strides=list(geometry.stride), pads=pads, dilations=list(geometry.dilation), group=geometry.group
    )


@primitives.register("conv_input_grad")
def _lower_conv_input_grad(b, dy, w, image, geometry, **_):
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    if any(p < 0 for p in pads):
        raise Refused("its padding is negative")
    result = _write_conv_transpose(b, dy, w, list(image[2:]), pads, geometry.stride, geometry.dilation, geometry.group)
    if result is NotImplemented:
        raise Refused("its image is longer than a transposed convolution of ONNX makes it")
    return result


@primitives.register("conv_filter_grad")
def _lower_conv_filter_grad(b, x, dy, kernel, geometry, **_):
    """Lower the gradient of the filters to a convolution of `x` with `dy`, both with batch and channel axes
    exchanged.
    """
    if geometry.group != 1 or any(p < 0 for pair in geometry.padding for p in pair):
        raise Refused("it is the gradient of filters in groups")
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    grad = b.op(
        "Conv",
        b.transpose(x, [1, 0, 2, 3]),
        b.transpose(dy, [1, 0, 2, 3]),
        strides=list(geometry.dilation),
        dilations=list(geometry.stride),
        pads=pads,
    )
    grad = b.slice(grad, [0, 0], list(kernel[2:]), [2, 3])
    grad.shape = (kernel[1], kernel[0], *kernel[2:])
    return b.transpose(grad, [1, 0, 2, 3])


@lowerings.register(ops.Conv2DBackpropInput)
def _lower_conv_transpose(
    b, dout, weight, *, input_sizes, kernel_size, pad_mode, pad, stride, dilation, group, data_format="NCHW", **_
):
    """Lower the input gradient of a convolution to ONNX's transposed convolution."""
    if data_format != "NCHW":
        return NotImplemented
    image = [int(n) for n in input_sizes[2:]]
    pads = padding_of(pad_mode, pad, image, kernel_size, stride, dilation).get("pads", [0] * 4)
    return _write_conv_transpose(b, dout, weight, image, pads, stride, dilation, group)


def _write_conv_transpose(b, dout, weight, image, pads, stride, dilation, group):
    kernel = weight.shape[2:]
    dims = len(kernel)
    extra = []
    for axis in range(dims):
        reach = (int(dout.shape[2 + axis]) - 1) * stride[axis] + dilation[axis] * (int(kernel[axis]) - 1) + 1
        extra.append(int(image[axis]) - (reach - pads[axis] - pads[dims + axis]))
    if any(n < 0 or n >= max(s, d) for n, s, d in zip(extra, stride, dilation, strict=True)):
        return NotImplemented
    return b.op(
        "ConvTranspose",
        dout,
        weight,
        kernel_shape=list(kernel),
        strides=list(stride),
        pads=list(pads),
        dilations=list(dilation),
        group=group,
        output_padding=extra if any(extra) else None,
    )


# ---------------------------------------------------------------------- pooling
def _register_pool_lowering(operator, op, **more):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, *, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Any:
        is_channels_last = data_format == "NHWC"
        x = _to_channels_first(b, x) if is_channels_last else x
        if not x.is_float:
            return NotImplemented
        result = b.op(
            op,
            b.cast(x, b.computing(x.dtype)),
            kernel_shape=list(kernel_size),
            strides=list(strides),
            **padding_of(pad_mode, (), x.shape[2:], kernel_size, strides),
            **more,
        )
        return _to_channels_last(b, result) if is_channels_last else result


_register_pool_lowering(ops.MaxPool, "MaxPool")
_register_pool_lowering(ops.AvgPool, "AveragePool", count_include_pad=0)


def _write_pool(b, op, x, kernel, strides, pads, ceil, **more):
    """Write a pooling operator of MindSpore 2, whose input may have no batch axis."""
    has_no_batch = x.rank == len(kernel) + 1
    x = b.unsqueeze(x, [0]) if has_no_batch else x
    if ceil and any(pads):
        return NotImplemented
    padding = [*pads[::2], *pads[1::2]]
    result = b.op(
        op, x, kernel_shape=list(kernel), strides=list(strides), pads=padding, ceil_mode=int(ceil) or None, **more
    )
    return b.squeeze(result, [0]) if has_no_batch else result


@lowerings.register(_MaxPool2D)
def _lower_max_pool_2d(b, x, *, kernel_size, strides, pads, dilation, ceil_mode):
    if not x.is_float:
        return NotImplemented
    pads = pads if len(pads) == 4 else [p for p in pads for _ in range(2)]
    return _write_pool(b, "MaxPool", x, kernel_size, strides or kernel_size, pads, ceil_mode, dilations=list(dilation))


@lowerings.register(ops.AvgPool1D, ops.AvgPool2D)
def _lower_avg_pool(b, x, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override=0):
    if ceil_mode or divisor_override or not x.is_float:
        return NotImplemented
    return _write_pool(
        b, "AveragePool", x, kernel_size, stride, padding, False, count_include_pad=int(count_include_pad)
    )


@lowerings.register(ops.AdaptiveAvgPool2D)
def _lower_adaptive_avg_pool(b, x, *, output_size):
    sizes = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * 2
    if sizes == [1, 1] and x.rank == 4:
        return b.op("GlobalAveragePool", x)
    return NotImplemented


# ---------------------------------------------------------------------- resizing
@lowerings.register(ops.ResizeBilinear)
def _lower_resize_bilinear(b, x, *, size, align_corners, half_pixel_centers):
    if not align_corners and not half_pixel_centers or x.dtype != "float32":
        mode = "asymmetric"
    else:
        mode = "align_corners" if align_corners else "half_pixel"
    return _write_resize(b, b.cast(x, "float32"), size, "linear", mode)


@lowerings.register(ops.ResizeNearestNeighbor)
def _lower_resize_nearest(b, x, *, size, align_corners):
    if align_corners or 0 in size or not x.is_float:
        return NotImplemented
    return _write_resize(b, x, size, "nearest", "asymmetric", nearest_mode="floor")


def _write_resize(b, x, size, mode, coordinate_mode, **more):
    sizes = b.ints([x.shape[0], x.shape[1], *size])
    return b.op("Resize", x, None, None, sizes, mode=mode, coordinate_transformation_mode=coordinate_mode, **more)
