"""Choice of the fastest lowering of a convolution on CPU. GPU and TPU always use XLA's.

XLA's CPU convolution is good on large images. It is up to 50 times slower than a matrix product on small images with
many channels, on one-channel images, on 1x1 kernels and on groups. The thresholds come from `benchmarks/conv.py`
(LeNet, ResNet-50 at 64 and 224 pixels, MobileNet, ResNeXt and odd sizes). They compare

    pixels  N * Ho * Wo          rows of the im2col matrix
    depth   C / group * kh * kw  its columns
    O       out channels         rows of the matrix of weights, which has as many columns

XLA's convolution copies the weights to transpose them; im2col copies the image into its matrix. The lowering that
copies the smaller array is faster, except for the shapes above, where XLA's convolution is slow.
"""

from math import prod

from msnb.ops.nn.conv import lowering as ways

_MANY_TAPS = 49  # the program grows with the number of taps
_MANY_GROUPS = 8  # up to this number, a lowering is chosen and compiled for each group separately
_SMALL_CHANNELS = 8


def forward(x, w, g):
    """Return the lowering for an image of shape `x` (N, C, H, W) and weights of shape `w` (O, C / group, kh, kw)."""
    if g.group > 1:
        return _choose_grouped_lowering(x, w, g, ways.direct)
    pixels, depth, taps = _compute_matrix_sizes(x, w, g)
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
    """Return the lowering whose transpose gives the gradient with respect to the image."""
    if g.group > 1:
        return _choose_grouped_lowering(x, w, g, ways.grouped_columns)
    pixels, depth, taps = _compute_matrix_sizes(x, w, g)
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
    """Return the lowering whose transpose gives the gradient with respect to the weights."""
    if g.group > 1:
        return _choose_grouped_lowering(x, w, g, ways.grouped_columns)
    pixels, _, taps = _compute_matrix_sizes(x, w, g)
    if taps == 1:
        return ways.columns
    return ways.columns if taps <= _MANY_TAPS and w[0] >= pixels else ways.direct


def group_by_group(x, g):
    """Return True if a grouped convolution of an image of shape `x` is computed one group at a time."""
    return 1 < g.group <= _MANY_GROUPS and x[1] != g.group


def _compute_matrix_sizes(x, w, g):
    return x[0] * prod(g.output(x[2:], w[2:])), prod(w[1:]), prod(w[2:])


def _choose_grouped_lowering(x, w, g, otherwise):
    if x[1] == g.group:
        return ways.depthwise if prod(w[2:]) <= _MANY_TAPS else ways.direct
    return otherwise  # the gradients XLA computes are up to 500 times slower than a batched product
