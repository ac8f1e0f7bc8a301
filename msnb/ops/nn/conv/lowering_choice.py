"""Which lowering computes a convolution fastest on CPU. GPU and TPU always use XLA's own.

XLA's CPU convolution is good on large images and up to 50 times slower than a matrix product on small images with
many channels, on one-channel images, on 1x1 kernels and on groups. The thresholds come from `benchmarks/conv.py`
(LeNet, ResNet-50 at 64 and 224 pixels, MobileNet, ResNeXt and odd sizes). They compare

    pixels  N * Ho * Wo          rows of the im2col matrix
    depth   C / group * kh * kw  its columns
    O       out channels         rows of the matrix of weights, which has as many columns

XLA's own brings the weights into another order, im2col makes its matrix: the smaller of the two is the quicker way,
unless XLA has no good convolution for the shape at all.
"""

from math import prod

from msnb.ops.nn.conv import lowering as ways

_MANY_TAPS = 49  # more than these would blow up the program
_MANY_GROUPS = 8  # up to these, each group is chosen and compiled on its own
_SMALL_CHANNELS = 8


def forward(x, w, g):
    """Lowering for an image of shape `x` (N, C, H, W) and weights of shape `w` (O, C / group, kh, kw)."""
    if g.group > 1:
        return _grouped(x, w, g, ways.direct)
    pixels, depth, taps = _sizes(x, w, g)
    if taps == 1:
        return ways.columns
    if taps > _MANY_TAPS:
        return ways.direct
    if x[1] == 1:
        return ways.taps_in_parts
    if w[0] >= pixels or depth >= 8 * pixels:
        return ways.columns
    return ways.direct


def input_grad(x, w, g):
    """Lowering whose transpose gives the gradient with respect to the image."""
    if g.group > 1:
        return _grouped(x, w, g, ways.grouped_columns)
    pixels, depth, taps = _sizes(x, w, g)
    if taps == 1:
        return ways.columns
    if taps > _MANY_TAPS:
        return ways.direct
    if x[1] <= _SMALL_CHANNELS and set(g.stride) == {1}:
        return ways.rows_in_parts
    if w[0] >= pixels or depth >= 8 * pixels:
        return ways.columns
    return ways.direct


def filter_grad(x, w, g):
    """Lowering whose transpose gives the gradient with respect to the weights."""
    if g.group > 1:
        return _grouped(x, w, g, ways.grouped_columns)
    pixels, _, taps = _sizes(x, w, g)
    if taps == 1:
        return ways.columns
    return ways.columns if taps <= _MANY_TAPS and w[0] >= pixels else ways.direct


def group_by_group(x, g):
    """Whether a grouped convolution of an image of shape `x` is computed, and chosen, one group at a time."""
    return 1 < g.group <= _MANY_GROUPS and x[1] != g.group


def _sizes(x, w, g):
    return x[0] * prod(g.output(x[2:], w[2:])), prod(w[1:]), prod(w[2:])


def _grouped(x, w, g, otherwise):
    if x[1] == g.group:
        return ways.depthwise if prod(w[2:]) <= _MANY_TAPS else ways.direct
    return otherwise  # the gradients XLA computes are up to 500 times slower than a batched product
