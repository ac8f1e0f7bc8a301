"""Deformable convolution: offsets move the samples of each window (arXiv:1811.11168)."""

import jax.numpy as jnp

from msnb.common.kinds import Each, Int, OneOf, PositiveInt
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._upcast import in_float32
from msnb.ops.nn.conv.conv2d import Conv2D

Four = Each(Int, 4)


@operator
@in_float32
def DeformableOffsets(
    x,
    offsets,
    *,
    strides: Four,
    pads: Four,
    ksize: Each(PositiveInt, 2),
    dilations: Four = (1, 1, 1, 1),
    data_format: OneOf("NCHW") = "NCHW",
    deformable_groups: PositiveInt = 1,
    modulated: OneOf(True) = True,
):
    """Sample the pixels of all windows of a deformable convolution, and arrange the windows side by side. A convolution
    of the result with stride `ksize` is the deformable convolution.

    Args:
        strides (tuple[int]): step of the window, (1, 1, height, width).
        pads (tuple[int]): padding at top, bottom, left and right.
        ksize (tuple[int]): height and width of the window.
        dilations (tuple[int]): spacing of the pixels, (1, 1, height, width). Default: (1, 1, 1, 1).
        data_format (str): "NCHW". Default: "NCHW".
        deformable_groups (int): number of groups of channels with separate offsets. Default: 1.
        modulated (bool): whether pixels are weighted; only True. Default: True.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), float.
        - **offsets** (Tensor) - (N, 3 * groups * kh * kw, H_out, W_out): offsets to the right, offsets downwards, and
          weights.

    Outputs:
        Tensor, (N, C, H_out * kh, W_out * kw).

    Raises:
        TypeError: If the inputs are not floating point, or differ in their type.
        ValueError: If the shapes do not fit.
    """
    op = "DeformableOffsets"
    for name, value in (("x", x), ("offsets", offsets)):
        _check.dtype_in(op, name, value, _check.FLOAT)
        _check.rank(op, name, value, 4)
    _check.same_dtype(op, x=x, offsets=offsets)
    number, channels, height, width = x.shape
    (kh, kw), groups = ksize, deformable_groups
    high, wide = (
        (n + before + after - d * (k - 1) - 1) // s + 1
        for n, before, after, d, k, s in (
            (height, pads[0], pads[1], dilations[2], kh, strides[2]),
            (width, pads[2], pads[3], dilations[3], kw, strides[3]),
        )
    )
    if offsets.shape != (number, 3 * groups * kh * kw, high, wide) or channels % groups:
        raise ValueError(
            f"For '{op}', 'offsets' should have shape {(number, 3 * groups * kh * kw, high, wide)}, and 'x' a multiple "
            f"of {groups} channels, but got {offsets.shape} and {x.shape}."
        )
    # (N, 3, groups, kh, kw, H_out, W_out)
    components = offsets.reshape(number, 3, groups, kh, kw, high, wide)
    window_y, window_x = (d * jnp.arange(k) for d, k in ((dilations[2], kh), (dilations[3], kw)))
    corner_y, corner_x = strides[2] * jnp.arange(high) - pads[0], strides[3] * jnp.arange(wide) - pads[2]
    across = components[:, 0] + (corner_x + window_x[:, None, None]).astype(x.dtype)
    down = components[:, 1] + (corner_y[:, None] + window_y[:, None, None, None]).astype(x.dtype)
    pixels = jnp.moveaxis(x.reshape(number, groups, channels // groups, height, width), 2, -1)
    lead = jnp.arange(number).reshape(-1, *[1] * 5), jnp.arange(groups).reshape(-1, *[1] * 4)

    def pick(y, x):
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        rows, columns = (jnp.clip(v, 0, n - 1).astype(jnp.int32) for v, n in ((y, height), (x, width)))
        return jnp.where(inside[..., None], pixels[(*lead, rows, columns)], 0)

    top, left = jnp.floor(down), jnp.floor(across)
    dy, dx = (down - top)[..., None], (across - left)[..., None]
    upper = pick(top, left) * (1 - dx) + pick(top, left + 1) * dx
    lower = pick(top + 1, left) * (1 - dx) + pick(top + 1, left + 1) * dx
    samples = (upper * (1 - dy) + lower * dy) * components[:, 2][..., None]
    # (N, groups, kh, kw, H_out, W_out, C / groups) to (N, C, H_out, kh, W_out, kw)
    samples = jnp.transpose(samples, (0, 1, 6, 4, 2, 5, 3))
    return samples.reshape(number, channels, high * kh, wide * kw)


@spelling(DeformableOffsets)
def deformable_conv2d(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    kernel_size: tuple[int, int],
    strides: tuple[int, ...],
    padding: tuple[int, ...],
    bias: Tensor | None = None,
    dilations: tuple[int, ...] = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:
    """Deformable convolution: offsets move the samples of each window (arXiv:1811.11168).

    Args:
        x (Tensor): (N, C, H, W), float.
        weight (Tensor): (C_out, C / groups, kh, kw).
        offsets (Tensor): (N, 3 * deformable_groups * kh * kw, H_out, W_out): offsets to the right, offsets downwards,
            and weights.
        kernel_size (tuple[int]): Height and width of the window.
        strides (tuple[int]): Step of the window, (1, 1, height, width).
        padding (tuple[int]): Padding at top, bottom, left and right.
        bias (Tensor): (C_out,). Default: None.
        dilations (tuple[int]): Spacing of the pixels, (1, 1, height, width). Default: (1, 1, 1, 1).
        groups (int): Number of groups of channels, which are convolved separately. Default: 1.
        deformable_groups (int): Number of groups of channels with separate offsets. Default: 1.
        modulated (bool): Whether pixels are weighted; only True. Default: True.

    Returns:
        Tensor, (N, C_out, H_out, W_out).

    Raises:
        TypeError: If the inputs are not floating point, or differ in their type.
        ValueError: If the shapes do not fit.
    """
    samples = DeformableOffsets(
        strides, padding, kernel_size, dilations, deformable_groups=deformable_groups, modulated=modulated
    )(x, offsets)
    _check.rank("deformable_conv2d", "weight", _check.tensor_argument("deformable_conv2d", "weight", weight), 4)
    out = Conv2D(weight.shape[0], kernel_size, pad_mode="valid", stride=kernel_size, group=groups)(samples, weight)
    if bias is None:
        return out
    return out + _check.tensor_argument("deformable_conv2d", "bias", bias).reshape((1, -1, 1, 1))


_PLAIN = {"strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "ksize": (2, 2)}
_WIDE = {"strides": (1, 1, 2, 1), "pads": (1, 0, 1, 1), "ksize": (2, 3), "dilations": (1, 1, 1, 2)}
CASES = [
    case(DeformableOffsets, F(1, 1, 4, 4), F(1, 12, 3, 3), **_PLAIN).within(1e-4),
    case(DeformableOffsets, F(2, 4, 5, 6), F(2, 36, 3, 4), deformable_groups=2, **_WIDE).within(1e-4),
    case(
        deformable_conv2d, F(1, 2, 4, 4), F(3, 2, 2, 2), F(1, 12, 3, 3), (2, 2), (1, 1, 1, 1), (0, 0, 0, 0), F(3)
    ).within(2e-4),
    refused(ValueError, DeformableOffsets, F(1, 1, 4, 4), F(1, 12, 2, 3), **_PLAIN),
]
