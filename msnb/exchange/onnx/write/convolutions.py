"""Lowerings of convolutions, pooling and resizing."""

from collections.abc import Sequence
from typing import Any

from msnb.ops import operations as ops
from msnb.ops.nn._conv import same_pads
from msnb.ops.nn.conv2d import _Conv1D
from msnb.ops.nn.max_pool import _MaxPool2D

from .builder import Builder, Extent, Refused, Value, lowerings, primitives


def padding_of(mode: str, pad: Sequence[int], image: Sequence[Any], kernel, stride, dilation=None) -> dict[str, Any]:
    """ONNX's attributes for MindSpore's three modes; of a length that is not known the runtime finds "same"."""
    if mode == "valid":
        return {}
    if mode == "same":
        if any(isinstance(n, Extent) for n in image):
            return {"auto_pad": "SAME_UPPER"}
        dilation = dilation or (1,) * len(kernel)
        found = [same_pads(n, k, s, d) for n, k, s, d in zip(image, kernel, stride, dilation, strict=True)]
        return {"pads": [p for p, _ in found] + [q for _, q in found]}
    return {"pads": [*pad[::2], *pad[1::2]]}


def _first(b, x):
    return b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _last(b, x):
    return b.op("Transpose", x, perm=[0, *range(2, len(b.shape)), 1])


def _convolution(b, x, weight, *, pad_mode, pad, stride, dilation, group, data_format="NCHW"):
    last = data_format in ("NHWC", "NDHWC")
    if last:
        x, weight = _first(b, x), _first(b, weight)
    kernel = weight.shape[2:]
    kind = b.computing(x.dtype)
    made = b.op(
        "Conv",
        b.cast(x, kind),
        b.cast(weight, kind),
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilation),
        group=group,
        **padding_of(pad_mode, pad, x.shape[2:], kernel, stride, dilation),
    )
    return _last(b, made) if last else made


@lowerings.register(ops.Conv2D, ops.Conv3D)
def _conv(b, x, weight, *, pad_mode, pad, stride, dilation, group, data_format, **_):
    return _convolution(
        b, x, weight, pad_mode=pad_mode, pad=pad, stride=stride, dilation=dilation, group=group, data_format=data_format
    )


@lowerings.register(_Conv1D)
def _conv1d(b, x, weight, *, stride, pad_mode, padding, dilation, groups):
    return _convolution(b, x, weight, pad_mode=pad_mode, pad=padding, stride=stride, dilation=dilation, group=groups)


@primitives.register("conv")
def _conv_primitive(b, x, w, geometry=None, **_):
    """msnb's own primitive, which a kernel of an operator without a lowering holds."""
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    if any(p < 0 for p in pads):
        raise Refused("its padding is negative")
    return b.op(
        "Conv", x, w, strides=list(geometry.stride), pads=pads, dilations=list(geometry.dilation), group=geometry.group
    )


@primitives.register("conv_input_grad")
def _input_grad(b, dy, w, image, geometry, **_):
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    if any(p < 0 for p in pads):
        raise Refused("its padding is negative")
    made = _transposed(b, dy, w, list(image[2:]), pads, geometry.stride, geometry.dilation, geometry.group)
    if made is NotImplemented:
        raise Refused("its image is longer than a transposed convolution of ONNX makes it")
    return made


@primitives.register("conv_filter_grad")
def _filter_grad(b, x, dy, kernel, geometry, **_):
    """The filters are what is summed over images and places: a convolution with images and channels exchanged."""
    if geometry.group != 1 or any(p < 0 for pair in geometry.padding for p in pair):
        raise Refused("it is the gradient of filters in groups")
    pads = [p for p, _ in geometry.padding] + [q for _, q in geometry.padding]
    turned = b.op(
        "Conv",
        b.transpose(x, [1, 0, 2, 3]),
        b.transpose(dy, [1, 0, 2, 3]),
        strides=list(geometry.dilation),
        dilations=list(geometry.stride),
        pads=pads,
    )
    turned = b.slice(turned, [0, 0], list(kernel[2:]), [2, 3])
    turned.shape = (kernel[1], kernel[0], *kernel[2:])
    return b.transpose(turned, [1, 0, 2, 3])


@lowerings.register(ops.Conv2DBackpropInput)
def _conv_transpose(
    b, dout, weight, *, input_sizes, kernel_size, pad_mode, pad, stride, dilation, group, data_format="NCHW", **_
):
    """The gradient of a convolution is what frameworks call a transposed convolution."""
    if data_format != "NCHW":
        return NotImplemented
    image = [int(n) for n in input_sizes[2:]]
    told = padding_of(pad_mode, pad, image, kernel_size, stride, dilation).get("pads", [0] * 4)
    return _transposed(b, dout, weight, image, told, stride, dilation, group)


def _transposed(b, dout, weight, image, pads, stride, dilation, group):
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
def _pool(operator, op, **more):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, *, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Any:
        last = data_format == "NHWC"
        x = _first(b, x) if last else x
        if not x.is_float:
            return NotImplemented
        made = b.op(
            op,
            b.cast(x, b.computing(x.dtype)),
            kernel_shape=list(kernel_size),
            strides=list(strides),
            **padding_of(pad_mode, (), x.shape[2:], kernel_size, strides),
            **more,
        )
        return _last(b, made) if last else made


_pool(ops.MaxPool, "MaxPool")
_pool(ops.AvgPool, "AveragePool", count_include_pad=0)


def _pool_2(b, op, x, kernel, strides, pads, ceil, **more):
    """Pooling of MindSpore 2: x may be one image."""
    single = x.rank == len(kernel) + 1
    x = b.unsqueeze(x, [0]) if single else x
    if ceil and any(pads):
        return NotImplemented
    padding = [*pads[::2], *pads[1::2]]
    made = b.op(
        op, x, kernel_shape=list(kernel), strides=list(strides), pads=padding, ceil_mode=int(ceil) or None, **more
    )
    return b.squeeze(made, [0]) if single else made


@lowerings.register(_MaxPool2D)
def _max_pool_2(b, x, *, kernel_size, strides, pads, dilation, ceil_mode):
    if not x.is_float:
        return NotImplemented
    pads = pads if len(pads) == 4 else [p for p in pads for _ in range(2)]
    return _pool_2(b, "MaxPool", x, kernel_size, strides or kernel_size, pads, ceil_mode, dilations=list(dilation))


@lowerings.register(ops.AvgPool1D, ops.AvgPool2D)
def _avg_pool_2(b, x, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override=0):
    if ceil_mode or divisor_override or not x.is_float:
        return NotImplemented
    return _pool_2(b, "AveragePool", x, kernel_size, stride, padding, False, count_include_pad=int(count_include_pad))


@lowerings.register(ops.AdaptiveAvgPool2D)
def _adaptive(b, x, *, output_size):
    sizes = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * 2
    if sizes == [1, 1] and x.rank == 4:
        return b.op("GlobalAveragePool", x)
    return NotImplemented


# ---------------------------------------------------------------------- resizing
@lowerings.register(ops.ResizeBilinear)
def _resize_bilinear(b, x, *, size, align_corners, half_pixel_centers):
    if not align_corners and not half_pixel_centers or x.dtype != "float32":
        mode = "asymmetric"
    else:
        mode = "align_corners" if align_corners else "half_pixel"
    return _resized(b, b.cast(x, "float32"), size, "linear", mode)


@lowerings.register(ops.ResizeNearestNeighbor)
def _resize_nearest(b, x, *, size, align_corners):
    if align_corners or 0 in size or not x.is_float:
        return NotImplemented
    return _resized(b, x, size, "nearest", "asymmetric", nearest_mode="floor")


def _resized(b, x, size, mode, places, **more):
    sizes = b.ints([x.shape[0], x.shape[1], *size])
    return b.op("Resize", x, None, None, sizes, mode=mode, coordinate_transformation_mode=places, **more)
