"""Image operations on one (H, W) or (H, W, C) array, with the results of MindSpore's C++ operators to the bit
wherever OpenCV allows.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.optional import cv2, pil
from msnb.dataset.vision import _headers
from msnb.dataset.vision.utils import Border, Inter

_FLAGS = {
    Inter.NEAREST: "INTER_NEAREST",
    Inter.LINEAR: "INTER_LINEAR",
    Inter.CUBIC: "INTER_CUBIC",
    Inter.AREA: "INTER_AREA",
}
OPENCV = frozenset(_FLAGS)  # what resizes without Pillow
_BORDERS = {
    Border.CONSTANT: "BORDER_CONSTANT",
    Border.EDGE: "BORDER_REPLICATE",
    Border.REFLECT: "BORDER_REFLECT_101",
    Border.SYMMETRIC: "BORDER_REFLECT",
}


def flag(interpolation: Inter) -> int:
    """OpenCV's number of an interpolation; those that only Pillow has fall back to its nearest relative."""
    return getattr(cv2(), _FLAGS.get(interpolation, "INTER_LINEAR"))


def image(array: np.ndarray, what: str, channels: Any = None) -> np.ndarray:
    """`array` if it is an image; RuntimeError otherwise."""
    if array.ndim not in (2, 3):
        raise RuntimeError(f"{what}: input tensor is not in shape of <H,W> or <H,W,C>, but got shape {array.shape}.")
    if array.dtype.kind in "SUO":
        raise RuntimeError(f"{what}: the image should hold numbers, but holds {array.dtype}. Decode it first.")
    if channels is not None and (array.ndim != 3 or array.shape[2] not in channels):
        raise RuntimeError(
            f"{what}: The shape is incorrect: number of channels does not equal {' nor '.join(map(str, channels))}, "
            f"but got shape {array.shape}."
        )
    return array


def is_jpeg(data: np.ndarray) -> bool:
    """Whether encoded bytes are a JPEG's."""
    return data.size > 3 and data[0] == 0xFF and data[1] == 0xD8 and data[2] == 0xFF


def decode(data: np.ndarray) -> np.ndarray:
    """RGB image (uint8) of encoded bytes."""
    if data.ndim != 1:
        raise RuntimeError(f"Decode: invalid input shape, only support 1D input, but got shape {data.shape}.")
    if data.dtype != np.uint8:
        if data.dtype.kind == "S":
            data = np.frombuffer(data.tobytes(), np.uint8)
        else:
            raise RuntimeError(f"Decode: invalid input type, only support uint8, but got {data.dtype}.")
    if not data.size:
        raise RuntimeError("Decode: the input is empty.")
    _headers.check(data)
    c = cv2()
    try:
        out = c.imdecode(data, c.IMREAD_IGNORE_ORIENTATION | c.IMREAD_COLOR_RGB)
    except c.error as error:
        raise RuntimeError(f"Decode: image decode failed: {error}") from None
    if out is None:
        raise RuntimeError(
            "Decode: image decode failed. The bytes are no image that OpenCV knows (JPEG, PNG, BMP, ...), or damaged."
        )
    return out


def scaled_size(shape: Sequence[int], size: Any) -> tuple[int, int]:
    """(height, width) after a resize to `size`; width 0 keeps the ratio.

    The longer edge is rounded half up by r1.1, and down by MindSpore 2.
    """
    height, width = size
    if width:
        return height, width
    h, w = shape[:2]
    ratio = np.float32(max(h, w)) / np.float32(min(h, w))  # single precision, so that halves fall as in MindSpore 1.1
    longer = int(np.floor(np.float32(ratio * np.float32(height)) + (0.5 if api_generations.shared == 1 else 0)))
    return (height, longer) if h < w else (longer, height)


def resize(array: np.ndarray, size: Any, interpolation: Inter = Inter.LINEAR) -> np.ndarray:
    """The image with height and width `size`."""
    image(array, "Resize")
    height, width = size
    if height == 0 or width == 0 or height > array.shape[0] * 1000 or width > array.shape[1] * 1000:
        raise RuntimeError(
            "Resize: the resizing width or height 1) is too big, it's up to 1000 times the original image; 2) can not "
            "be 0. "
            f"Got {size} for an image of shape {array.shape}."
        )
    if interpolation in (Inter.PILCUBIC, Inter.ANTIALIAS):
        method = pil().Resampling.BICUBIC if interpolation == Inter.PILCUBIC else pil().Resampling.LANCZOS
        flat = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
        # Rows before columns, as MindSpore has it: Pillow's own order depends on the sizes, and rounding on the order.
        rows = pil().fromarray(flat).resize((width, flat.shape[0]), method)
        return np.array(rows.resize((width, height), method)).reshape(height, width, *array.shape[2:])
    out = cv2().resize(as_cv(array), (width, height), interpolation=flag(interpolation))
    return out.reshape(height, width, *array.shape[2:]).astype(array.dtype, copy=False)


def resized_like(array: np.ndarray, size: Any, interpolation: Inter) -> Any:
    """(shape, dtype) of :func:`resize` where OpenCV can write the result in place; else None."""
    if array.ndim in (2, 3) and array.dtype in (np.uint8, np.float32) and interpolation in OPENCV:
        if array.ndim == 2 or array.shape[2] in (1, 3):
            return (*size, *array.shape[2:]), array.dtype
    return None


def resize_to(array: np.ndarray, interpolation: Inter, out: np.ndarray) -> None:
    """:func:`resize` to the size of `out` and into it."""
    height, width = out.shape[:2]
    if height > array.shape[0] * 1000 or width > array.shape[1] * 1000:
        resize(array, (height, width), interpolation)  # says what is wrong
    if out.ndim == 3 and out.shape[2] == 1:
        array, out = array[..., 0], out[..., 0]
    cv2().resize(array, (width, height), out, interpolation=flag(interpolation))


def as_cv(array: np.ndarray) -> np.ndarray:
    """The array in a type and layout that OpenCV takes."""
    if array.dtype in (np.bool_, np.int8):
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
    elif array.dtype in (np.int64, np.uint32, np.uint64):
        array = array.astype(np.int32) if array.dtype == np.int64 else array.astype(np.float64)
    elif array.dtype == np.float16:
        array = array.astype(np.float32)
    return np.ascontiguousarray(array)


def crop(array: np.ndarray, x: int, y: int, width: int, height: int) -> np.ndarray:
    """The part of the image from column `x` and row `y` on."""
    image(array, "Crop")
    if y < 0 or x < 0 or y + height > array.shape[0] or x + width > array.shape[1]:
        raise RuntimeError(
            f"Crop: invalid coordinate value for crop: rows {y} to {y + height} and columns {x} to {x + width} of an "
            f"image "
            f"of shape {array.shape}."
        )
    return np.ascontiguousarray(array[y : y + height, x : x + width])


def pad(
    array: np.ndarray, padding: Sequence[int], border: Border = Border.CONSTANT, fill: Sequence[int] = (0, 0, 0)
) -> np.ndarray:
    """The image with (left, top, right, bottom) more pixels."""
    image(array, "Pad")
    left, top, right, bottom = padding
    c = cv2()
    out = c.copyMakeBorder(
        as_cv(array), top, bottom, left, right, getattr(c, _BORDERS[border]), value=tuple(map(float, fill))
    )
    return out.reshape(*out.shape[:2], *array.shape[2:]).astype(array.dtype, copy=False)


def center_crop(array: np.ndarray, height: int, width: int) -> np.ndarray:
    """The middle of the image; what it lacks is filled with zeros."""
    image(array, "CenterCrop")
    h, w = array.shape[:2]
    top, left = height - h, width - w
    if top >= 3 * h or left >= 3 * w:
        raise RuntimeError(
            "Unexpected error. CenterCropOp padding size is too big, it's more than 3 times the original size."
        )
    if top > 0 or left > 0:
        t, s = max(top, 0), max(left, 0)
        array = pad(array, (s // 2 + s % 2, t // 2 + t % 2, s // 2, t // 2))
        h, w = array.shape[:2]
    return crop(array, (w - width) // 2, (h - height) // 2, width, height)


def rotate(
    array: np.ndarray,
    degrees: float,
    interpolation: Inter = Inter.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Sequence[int] = (0, 0, 0),
) -> np.ndarray:
    """The image turned counter-clockwise."""
    image(array, "Rotate")
    c = cv2()
    h, w = array.shape[:2]
    x, y = ((w - 1) / 2.0, (h - 1) / 2.0) if center is None else center
    matrix = c.getRotationMatrix2D((float(np.float32(x)), float(np.float32(y))), degrees, 1.0)
    size = (w, h)
    if expand:
        corners = c.boxPoints(((0.0, 0.0), (w, h), degrees))
        low, high = corners.min(0), corners.max(0)
        box = high - low
        matrix[0, 2] += box[0] / 2.0 - w / 2.0
        matrix[1, 2] += box[1] / 2.0 - h / 2.0
        size = (int(round(float(box[0]))), int(round(float(box[1]))))
    out = c.warpAffine(
        as_cv(array),
        matrix,
        size,
        flags=flag(interpolation),
        borderMode=c.BORDER_CONSTANT,
        borderValue=tuple(map(float, fill)),
    )
    return out.reshape(*out.shape[:2], *array.shape[2:]).astype(array.dtype, copy=False)


def affine(
    array: np.ndarray,
    degrees: float,
    translation: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: Inter = Inter.NEAREST,
    fill: Sequence[int] = (0, 0, 0),
) -> np.ndarray:
    """The image rotated, scaled and sheared around its centre, then moved."""
    image(array, "Affine")
    f = np.float32
    h, w = array.shape[:2]
    angle = f(f(degrees) * f(math.pi) / f(180.0))
    sx = f(f(shear[0]) * f(math.pi) / f(180.0))
    sy = f(f(-shear[1]) * f(math.pi) / f(180.0))
    cx, cy = f((w - 1) / 2.0), f((h - 1) / 2.0)
    a, x, y = float(angle), float(sx), float(sy)
    scale = float(f(scale))
    m = [
        f(scale * math.cos(a + y) / math.cos(y)),
        f(scale * (-math.cos(a + y) * math.tan(x) / math.cos(y) - math.sin(a))),
        f(0),
        f(scale * math.sin(a + y) / math.cos(y)),
        f(scale * (-math.sin(a + y) * math.tan(x) / math.cos(y) + math.cos(a))),
        f(0),
    ]
    m[2] = (f(1) - m[0]) * cx - m[1] * cy + f(translation[0])
    m[5] = (f(1) - m[4]) * cy - m[3] * cx + f(translation[1])
    c = cv2()
    out = c.warpAffine(
        as_cv(array),
        np.array(m, np.float32).reshape(2, 3),
        (w, h),
        flags=flag(interpolation),
        borderMode=c.BORDER_CONSTANT,
        borderValue=tuple(map(float, fill)),
    )
    return out.reshape(array.shape).astype(array.dtype, copy=False)


def perspective(
    array: np.ndarray, start_points: Sequence[Any], end_points: Sequence[Any], interpolation: Inter = Inter.BILINEAR
) -> np.ndarray:
    """The image with `start_points` (x, y) moved to `end_points`."""
    image(array, "Perspective")
    c = cv2()
    matrix = c.getPerspectiveTransform(np.array(start_points, np.float32), np.array(end_points, np.float32))
    out = c.warpPerspective(as_cv(array), matrix, (array.shape[1], array.shape[0]), flags=flag(interpolation))
    return out.reshape(array.shape)


def rescale(array: np.ndarray, factor: float, shift: float) -> np.ndarray:
    """``array * factor + shift`` in float32, computed in float64 as OpenCV does."""
    return (array.astype(np.float64) * np.float64(np.float32(factor)) + np.float64(np.float32(shift))).astype(
        np.float32
    )


def normalize(array: np.ndarray, mean: Any, std: Any) -> np.ndarray:
    """``(array - mean) / std`` per channel (the last axis) in float32."""
    return (array.astype(np.float32) - mean) / std


def scaled(array: np.ndarray, factor: float) -> np.ndarray:
    """``saturate(array * factor)``."""
    return _saturate(array.astype(np.float64) * factor, array.dtype)


def _saturate(values, dtype):
    if dtype.kind in "ui":
        info = np.iinfo(dtype)
        return np.clip(np.rint(values), info.min, info.max).astype(dtype)
    return values.astype(dtype)


def blend(first: np.ndarray, second: np.ndarray, alpha: float, of_second: bool = False) -> np.ndarray:
    """``first * alpha + second * (1 - alpha)``, rounded and saturated as OpenCV's addWeighted does.

    The order of the two and single precision decide where a sum falls that lies halfway between two numbers. With
    `of_second`, `alpha` is the weight of the second.
    """
    alpha = float(np.float32(alpha))
    if of_second:
        return cv2().addWeighted(np.ascontiguousarray(first), 1.0 - alpha, np.ascontiguousarray(second), alpha, 0.0)
    return cv2().addWeighted(np.ascontiguousarray(first), alpha, np.ascontiguousarray(second), 1.0 - alpha, 0.0)


def gray(array: np.ndarray) -> np.ndarray:
    """(H, W) luma of an RGB image."""
    c = cv2()
    return c.cvtColor(np.ascontiguousarray(array), c.COLOR_RGB2GRAY)


def gray_rgb(array: np.ndarray) -> np.ndarray:
    """The luma of an RGB image as an RGB image."""
    return np.repeat(gray(array)[..., None], 3, axis=2)


def brightness(array: np.ndarray, alpha: float) -> np.ndarray:
    """The image times `alpha`."""
    image(array, "AdjustBrightness", (3,))
    if array.dtype == np.uint8:
        return cv2().convertScaleAbs(np.ascontiguousarray(array), alpha=alpha)
    return scaled(array, alpha)


def contrast(array: np.ndarray, alpha: float) -> np.ndarray:
    """Between the mean gray (0) and the image (1)."""
    image(array, "AdjustContrast", (3,))
    mean = int(cv2().mean(gray(array))[0] + 0.5)
    return blend(np.full_like(array, mean), array, alpha, of_second=True)


def saturation(array: np.ndarray, alpha: float) -> np.ndarray:
    """Between the gray image (0) and the image (1)."""
    image(array, "AdjustSaturation", (3,))
    return blend(gray_rgb(array), array, alpha, of_second=True)


def hue(array: np.ndarray, delta: float) -> np.ndarray:
    """Hue turned by `delta` (-0.5 to 0.5 of the circle)."""
    image(array, "AdjustHue", (3,))
    c = cv2()
    hsv = c.cvtColor(np.ascontiguousarray(array), c.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.array(int(delta * 255) % 256, np.uint8)
    return c.cvtColor(hsv, c.COLOR_HSV2RGB_FULL)


def sharpness(array: np.ndarray, alpha: float) -> np.ndarray:
    """Between a smoothed image (0) and the image (1), and beyond."""
    image(array, "Sharpness")
    kernel = np.full((3, 3), 1.0 / 13.0, np.float32)
    kernel[1, 1] = 5.0 / 13.0
    source = np.ascontiguousarray(array)
    smooth = cv2().filter2D(source, -1, kernel).reshape(array.shape)
    smooth[0], smooth[-1], smooth[:, 0], smooth[:, -1] = source[0], source[-1], source[:, 0], source[:, -1]
    return blend(source, smooth, alpha).reshape(array.shape)


def _by_channel(array, what, function):
    """`function` of each (H, W) plane of a uint8 image."""
    image(array, what)
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise RuntimeError(f"{what}: Number of channels is not 1 or 3, but got shape {array.shape}.")
    if array.dtype != np.uint8:
        raise RuntimeError(f"{what}: the image should be uint8, but is {array.dtype}.")
    if array.ndim == 2:
        return function(np.ascontiguousarray(array))
    return np.stack([function(np.ascontiguousarray(array[..., i])) for i in range(array.shape[2])], axis=2)


def equalize(array: np.ndarray) -> np.ndarray:
    """Each channel with its histogram equalised."""
    return _by_channel(array, "Equalize", cv2().equalizeHist)


def autocontrast(array: np.ndarray, cutoff: float = 0.0, ignore: Sequence[int] = ()) -> np.ndarray:
    """Each channel stretched to the full range, `cutoff` percent cut off at both ends."""

    def stretch(plane):
        histogram = np.bincount(plane.ravel(), minlength=256)
        histogram[list(ignore)] = 0
        low, high = _percentiles(histogram, cutoff)
        if high <= low:
            return plane
        scale = np.float32(255.0 / (high - low))
        offset = np.float32(-1 * low * scale)
        table = np.clip((np.arange(256, dtype=np.float32) * scale + offset).astype(np.int32), 0, 255).astype(np.uint8)
        return table[plane]

    return _by_channel(array, "AutoContrast", stretch)


def _percentiles(histogram, cutoff):
    """The lowest and highest value left after cutting `cutoff` percent off either end."""
    histogram = histogram.copy()
    if cutoff:
        cut = int(int(cutoff) / 100.0 * histogram.sum())  # whole percents only, as in MindSpore
        for order in (range(256), range(255, -1, -1)):
            left = cut
            for value in order:
                taken = min(left, histogram[value])
                histogram[value] -= taken
                left -= taken
                if not left:
                    break
    present = np.flatnonzero(histogram)
    if not len(present):
        return 255, 0
    return int(present[0]), int(present[-1])


def invert(array: np.ndarray) -> np.ndarray:
    """255 minus the image."""
    image(array, "Invert")
    return 255 - array if array.dtype == np.uint8 else (255 - array.astype(np.float64)).astype(array.dtype)


def posterize(array: np.ndarray, bits: int) -> np.ndarray:
    """Only the `bits` highest bits of each value."""
    image(array, "Posterize")
    if array.dtype not in (np.uint8, np.int8):
        raise RuntimeError(f"Posterize: Input image data type can not be float, but got {array.dtype}.")
    return array & np.uint8(0xFF & ~((1 << (8 - bits)) - 1))


def solarize(array: np.ndarray, low: int, high: int) -> np.ndarray:
    """Values from `low` to `high` inverted; from `low` on when both are the same."""
    image(array, "Solarize")
    chosen = array >= low if low == high else (array >= low) & (array <= high)
    return np.where(chosen, invert(array), array)


def hwc_to_chw(array: np.ndarray) -> np.ndarray:
    """Channels first; a (H, W) image stays as it is."""
    if array.ndim == 2:
        return array
    if array.ndim != 3:
        raise RuntimeError(f"HWC2CHW: image shape should be <H,W,C>, but got shape {array.shape}.")
    return np.ascontiguousarray(array.transpose(2, 0, 1))
