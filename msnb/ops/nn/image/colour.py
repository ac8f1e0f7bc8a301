"""Conversion of images between RGB and HSV."""

import colorsys  # noqa: F401 - the formulas are those of this module

import jax.numpy as jnp

from msnb.core.operator.cases import F, U, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import FLOAT, dtype_in
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32


def _check_channels(op, argument, x):
    dtype_in(op, argument, x, FLOAT)
    if not x.ndim or x.shape[-1] != 3:
        raise ValueError(f"For '{op}', '{argument}' should have shape (*, 3), but got {x.shape}.")


def _convert_rgb_to_hsv(x):
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
    value = jnp.max(x, -1)
    chroma = value - jnp.min(x, -1)
    grey = chroma == 0
    inverse_chroma = 1 / jnp.where(grey, 1, chroma)
    hue = jnp.where(
        value == red,
        (green - blue) * inverse_chroma,
        jnp.where(value == green, 2 + (blue - red) * inverse_chroma, 4 + (red - green) * inverse_chroma),
    )
    hue = jnp.where(grey, 0, hue / 6)
    saturation = jnp.where(value > 0, chroma / jnp.where(value > 0, value, 1), 0)
    return jnp.stack([jnp.where(hue < 0, hue + 1, hue), saturation, value], -1)


def _convert_hsv_to_rgb(x):
    hue, saturation, value = x[..., 0], x[..., 1], x[..., 2]
    sector = hue * 6
    shares = jnp.stack([jnp.abs(sector - 3) - 1, 2 - jnp.abs(sector - 2), 2 - jnp.abs(sector - 4)], -1)
    chroma = (saturation * value)[..., None]
    return value[..., None] - chroma + chroma * jnp.clip(shares, 0, 1)


@operator
@in_float32
def RGBToHSV(images):
    """Convert images from RGB to HSV, with all channels in [0, 1].

    Inputs:
        - **images** (Tensor) - (*, 3), float, in [0, 1].

    Outputs:
        Tensor, shape and type of `images`.

    Raises:
        TypeError: If `images` is not floating point.
        ValueError: If the last dimension is not 3.
    """
    _check_channels("RGBToHSV", "images", images)
    return _convert_rgb_to_hsv(images)


@operator
@in_float32
def HSVToRGB(x):
    """Convert images from HSV to RGB, with all channels in [0, 1].

    Inputs:
        - **x** (Tensor) - (*, 3), float, in [0, 1].

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the last dimension is not 3.
    """
    _check_channels("HSVToRGB", "x", x)
    return _convert_hsv_to_rgb(x)


@operator
@shapes("delta: ()")
@in_float32
def AdjustHue(image, delta):
    """Rotate the hue of RGB images by `delta`.

    Inputs:
        - **image** (Tensor) - (*, 3), float, in [0, 1].
        - **delta** (Tensor) - shift as a fraction of a full turn, a scalar of float32.

    Outputs:
        Tensor, shape and type of `image`.

    Raises:
        TypeError: If `image` is not floating point.
        ValueError: If the last dimension is not 3.
    """
    _check_channels("AdjustHue", "image", image)
    hsv = _convert_rgb_to_hsv(image)
    hue = hsv[..., :1] + delta.astype(image.dtype)
    return _convert_hsv_to_rgb(jnp.concatenate([hue - jnp.floor(hue), hsv[..., 1:]], -1))


@operator
@shapes("scale: ()")
@in_float32
def AdjustSaturation(image, scale):
    """Multiply the saturation of RGB images by `scale`.

    Inputs:
        - **image** (Tensor) - (*, 3), float, in [0, 1].
        - **scale** (Tensor) - the factor, a scalar of float32.

    Outputs:
        Tensor, shape and type of `image`.

    Raises:
        TypeError: If `image` is not floating point.
        ValueError: If the last dimension is not 3.
    """
    _check_channels("AdjustSaturation", "image", image)
    hsv = _convert_rgb_to_hsv(image)
    saturation = jnp.clip(hsv[..., 1:2] * scale.astype(image.dtype), 0, 1)
    return _convert_hsv_to_rgb(jnp.concatenate([hsv[..., :1], saturation, hsv[..., 2:]], -1))


_NO_SLOPE = "MindSpore has none"
_LARGE = "300 times a colour is none"
CASES = [
    case(RGBToHSV, U(2, 4, 3)).without("gradient", _NO_SLOPE).without("half", _LARGE),
    case(HSVToRGB, U(1, 2, 4, 3)).without("gradient", _NO_SLOPE).without("half", _LARGE),
    case(AdjustHue, U(2, 4, 3), Values(0.3))
    .without("gradient", _NO_SLOPE)
    .without("half", _LARGE)
    .without("differences", "it turns one of these colours to a corner"),
    case(AdjustSaturation, U(2, 4, 3), Values(0.5)).without("gradient", _NO_SLOPE).without("half", _LARGE),
    refused(ValueError, RGBToHSV, F(2, 4)),
]
