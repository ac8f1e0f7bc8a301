"""Pixel shuffle, pixel unshuffle and channel shuffle."""

from msnb.common.kinds import PositiveInt
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator


@operator(functional="pixel_shuffle", generation=2)
def PixelShuffle(input, *, upscale_factor: PositiveInt):
    """Rearranges (..., C r^2, H, W) to (..., C, H r, W r) (arXiv:1609.05158).

    Args:
        upscale_factor (int): The factor r.

    Inputs:
        - **input** (Tensor) - at least 3-D.

    Outputs:
        Tensor.
    """
    r = upscale_factor
    if input.ndim < 3 or input.shape[-3] % (r * r):
        raise ValueError(
            f"For 'pixel_shuffle', the channels of 'input' should be a multiple of {r * r}, but got shape "
            f"{input.shape}."
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    return x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


@operator(functional="pixel_unshuffle", generation=2)
def _PixelUnshuffle(input, *, downscale_factor: PositiveInt):
    """Rearranges (..., C, H r, W r) to (..., C r^2, H, W).

    Args:
        downscale_factor (int): r.

    Inputs:
        - **input** (Tensor) - at least 3-D.

    Outputs:
        Tensor.
    """
    r = downscale_factor
    if input.ndim < 3 or input.shape[-1] % r or input.shape[-2] % r:
        raise ValueError(
            f"For 'pixel_unshuffle', height and width of 'input' should be multiples of {r}, but got "
            f"shape {input.shape}."
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    return x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


@operator(functional="channel_shuffle", called=("", "groups"), generation=2)
def ChannelShuffle(x, *, group: PositiveInt):
    """Interleaves the channels of `group` groups (arXiv:1707.01083).

    Args:
        group (int): number of groups, a divisor of the number of channels.

    Inputs:
        - **x** (Tensor) - (N, C, ...).

    Outputs:
        Tensor, shape of `x`.
    """
    if x.ndim < 3 or x.shape[1] % group:
        raise ValueError(
            f"For 'channel_shuffle', 'groups' should divide the channels of 'x', but got {group} for shape {x.shape}."
        )
    return x.reshape(x.shape[0], group, x.shape[1] // group, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


CASES = [
    case(PixelShuffle, F(2, 4, 6, 7), upscale_factor=2),
    case(_PixelUnshuffle, F(2, 3, 4, 6), downscale_factor=2),
    case(ChannelShuffle, F(2, 4, 6, 7), group=2),
]
