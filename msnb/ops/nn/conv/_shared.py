"""Shared code of convolutions: padding modes, checks of shapes, and the call."""

from msnb import log
from msnb.ops import _check
from msnb.ops._check import tensor_argument
from msnb.ops.nn.conv import primitive
from msnb.ops.nn.conv.lowering import Geometry, direct
from msnb.ops.nn.dense import BiasAdd

add_bias = BiasAdd()


def spatial_pads(op, pad_mode, pad, image, kernel, stride, dilation):
    """Return the padding (before, after) of each spatial dimension for one of MindSpore's three modes."""
    if pad_mode == "pad":
        return tuple(zip(pad[::2], pad[1::2], strict=True))
    check_pad(op, pad_mode, pad)
    if pad_mode == "valid":
        return ((0, 0),) * len(image)
    return tuple(same_pads(n, k, s, d) for n, k, s, d in zip(image, kernel, stride, dilation, strict=True))


def check_pad(op, pad_mode, pad):
    """Raise ValueError if `pad` is nonzero and `pad_mode` does not allow a padding."""
    if pad_mode != "pad" and any(pad):
        raise ValueError(
            f"For '{op}', 'pad' should be 0 when 'pad_mode' is '{pad_mode}', but got {pad}; use pad_mode='pad'."
        )


def pad_check(op):
    """Return a check of attributes: `pad` is zero unless `pad_mode` is "pad"."""
    return lambda attributes: check_pad(op, attributes["pad_mode"], attributes["pad"])


def same_pads(n, k, s, d=1):
    """Return the padding (before, after) that gives ceil(n / s) outputs. If the total is odd, `after` is larger by
    1.
    """
    total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
    return total // 2, total - total // 2


def transposed_length(pad_mode, n, kernel, stride, dilation, before=0, after=0, extra=0):
    """Return the output length of a transposed convolution along a dimension of input length `n`."""
    reach = dilation * (kernel - 1) + 1
    if pad_mode == "pad":
        return (n - 1) * stride + reach - before - after + extra
    return n * stride + (max(reach - stride, 0) if pad_mode == "valid" else 0)


def check_images(op, x, w, dims, group):
    """Raise an error unless images and weights of `dims` spatial dimensions fit."""
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.dtype_in(op, "weight", w, _check.FLOAT)
    _check.same_dtype(op, x=x, weight=w)
    _check.rank(op, "x", x, dims + 2)
    _check.rank(op, "weight", w, dims + 2)
    if x.shape[1] != w.shape[1] * group:
        raise ValueError(
            f"For '{op}', 'x' has {x.shape[1]} channels but 'weight' of shape {w.shape} with group "
            f"{group} needs {w.shape[1] * group}."
        )


def check_weight(op, w, out_channel, kernel_size, name="weight"):
    """Return the weights `w` (an array or a shape). Raise ValueError unless they fit the attributes of the operator."""
    if w.shape[0] != out_channel or tuple(w.shape[2:]) != kernel_size:
        raise ValueError(
            f"For '{op}', '{name}' should have shape ({out_channel}, *, {', '.join(map(str, kernel_size))}"
            f"), as out_channel and kernel_size say, but got {w.shape}."
        )
    return w


def compare_weight(op, w, out_channel, kernel_size):
    """Warn once about attributes that contradict the weights `w` (an array or a shape) and have no effect.

    MindSpore's gradients of convolutions read only the weights, and programs for r1.1 pass other attributes.
    """
    log.unused(
        op,
        f"the weights {tuple(w.shape)} say the kernel",
        out_channel=w.shape[:1] != (out_channel,),
        kernel_size=tuple(w.shape[2:]) != kernel_size,
    )


def check_depthwise(op, w, channels, channel_multiplier, kernel_size, group, name="weight"):
    """Return the weights `w` (an array or a shape). Raise ValueError unless they fit the attributes and the images."""
    expected = (channel_multiplier, channels, *kernel_size)
    if tuple(w.shape) != expected:
        raise ValueError(f"For '{op}', '{name}' should have shape {expected}, but got {tuple(w.shape)}.")
    if group not in (1, channels):
        raise ValueError(
            f"For '{op}', 'group' should be 1 or {channels}, the channels of the images, each of which is "
            f"its own group, but got {group}."
        )
    return w


def check_output(op, geometry, image, kernel):
    """Raise ValueError if the kernel is larger than the padded image."""
    out = geometry.output(image, kernel)
    if min(out) < 1:
        raise ValueError(
            f"For '{op}', the kernel {kernel} with dilation {geometry.dilation} is larger than the padded "
            f"image {image} with padding {geometry.padding}."
        )


def compare_pad_list(op, pad_list, padding):
    """Raise ValueError unless `pad_list` is all zeros (the default) or equals `padding`."""
    expected = tuple(n for sides in padding for n in sides)
    if any(pad_list) and pad_list != expected:
        raise ValueError(
            f"For '{op}', 'pad_list' should be zeros or {expected}, as 'pad_mode' and 'pad' say, but got {pad_list}."
        )


def convolve(op, x, w, pad_mode, pad, stride, dilation, group):
    """Return the cross-correlation of `x` (N, C, ...) with `w` (O, C / group, ...)."""
    dims = len(stride)
    check_images(op, x, w, dims, group)
    if w.shape[0] % group:
        raise ValueError(f"For '{op}', out_channel {w.shape[0]} should be a multiple of group {group}.")
    image, kernel = x.shape[2:], w.shape[2:]
    geometry = Geometry(stride, spatial_pads(op, pad_mode, pad, image, kernel, stride, dilation), dilation, group)
    check_output(op, geometry, image, kernel)
    return (primitive.conv if dims == 2 else direct)(x, w, geometry)


def filter_attributes(op, weight):
    """Return the operator attributes (number of filters, window) for the weight of a MindSpore 2 function."""
    tensor_argument(op, "weight", weight)
    shape = weight._array.shape
    return (shape[0] if shape else 0), shape[2:]


def both_sides(padding, dims):
    """Convert a padding of one number per dimension to two numbers per dimension."""
    if isinstance(padding, (tuple, list)) and len(padding) == dims:
        return tuple([p for p in padding for _ in range(2)])
    return padding
