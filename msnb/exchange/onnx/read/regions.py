"""Import ONNX operators: samples of image regions, and deformable convolution."""

import numpy as np

from .convolutions import convolution, padding_of
from .reader import Reader
from .shapes import slice_axis
from .values import Attributes, Node, Ref, UnsupportedOperator, handles


@handles("RoiAlign")
def _read_roi_align(r: Reader, node: Node) -> Ref:
    """Read RoiAlign. With half-pixel coordinates the centre of the first pixel is at 0.5; otherwise it is at 0, and
    regions are at least one pixel large.
    """
    x, regions, images = node.inputs
    mode = node.attr("mode", "avg")
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    is_half_pixel = node.attr("coordinate_transformation_mode", default) == "half_pixel"
    size = (node.attr("output_height", 1), node.attr("output_width", 1))
    samples = node.attr("sampling_ratio", 0)
    if mode not in ("avg", "max") or mode == "max" and samples <= 0:
        raise UnsupportedOperator(f"it pools by {mode!r} with sampling_ratio={samples}")
    scale = r.like(node.attr("spatial_scale", 1.0), regions)
    regions = r("Mul", r.reshape(regions, (regions.shape[0], 2, 2)), scale)
    regions = r("ReverseV2", regions, axis=(2,))  # (first and last corner, y and x)
    first, last = (r.reshape(slice_axis(r, regions, 1, i, i + 1), (regions.shape[0], 2)) for i in (0, 1))
    sizes = r("Sub", last, first)
    if is_half_pixel:
        first = r("Sub", first, r.like(0.5, first))
    else:
        sizes = r("Maximum", sizes, r.like(1, sizes))
    images = r.cast(images, np.int32)
    return r("RegionAlign", x, first, sizes, images, pooled_size=size, samples=max(samples, 0), mean=mode == "avg")


@handles("DeformConv")
def _read_deform_conv(r: Reader, node: Node) -> Ref:
    """Read DeformConv: the sampled windows side by side, and a convolution whose stride is the size of its kernel."""
    x, w, offset, bias, mask = *node.inputs[:3], node.input(3), node.input(4)
    if x.rank != 4:
        raise UnsupportedOperator(f"msnb has no deformable convolution of {x.rank - 2} dimensions")
    kernel, groups = w.shape[2:], node.attr("offset_group", 1)
    strides, dilations = node.attr("strides") or [1, 1], node.attr("dilations") or [1, 1]
    pads = padding_of(node, x.shape[2:], kernel, strides, dilations)
    batch, image, count = offset.shape[0], offset.shape[2:], groups * kernel[0] * kernel[1]
    pairs = r.reshape(offset, (batch, count, 2, *image))
    down, right = (r.reshape(slice_axis(r, pairs, 2, i, i + 1), (batch, count, *image)) for i in (0, 1))
    mask = r.filled(down.shape, 1, x.dtype) if mask is None else mask
    windows = r(
        "DeformableOffsets",
        x,
        r("Concat", [right, down, mask], axis=1),
        strides=(1, 1, *strides),
        pads=tuple(n for pair in pads for n in pair),
        ksize=tuple(kernel),
        dilations=(1, 1, *dilations),
        deformable_groups=groups,
    )
    attributes = Attributes({"strides": list(kernel), "group": node.attr("group", 1)})
    result = convolution(r, node._replace(attrs=attributes), windows, w)
    return result if bias is None else r("BiasAdd", result, bias)
