"""Image operations on one array of shape (H, W) or (H, W, C).

The results equal those of MindSpore's C++ operators bit by bit wherever OpenCV allows.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.optional import cv2, pil
from msnb.dataset.vision import _headers
from msnb.dataset.vision.utils import Border, Inter

_OPENCV_INTERPOLATIONS = {
    Inter.NEAREST: "INTER_NEAREST",
    Inter.LINEAR: "INTER_LINEAR",
    Inter.CUBIC: "INTER_CUBIC",
    Inter.AREA: "INTER_AREA",
}
OPENCV_INTERPOLATIONS = frozenset(_OPENCV_INTERPOLATIONS)  # interpolations that need no Pillow
_OPENCV_BORDERS = {
    Border.CONSTANT: "BORDER_CONSTANT",
    Border.EDGE: "BORDER_REPLICATE",
    Border.REFLECT: "BORDER_REFLECT_101",
    Border.SYMMETRIC: "BORDER_REFLECT",
}


def opencv_interpolation(interpolation: Inter) -> int:
    """Return OpenCV's constant for an interpolation mode. Bilinear replaces modes that exist only in Pillow."""
    return getattr(cv2(), _OPENCV_INTERPOLATIONS.get(interpolation, "INTER_LINEAR"))


def check_image(array: np.ndarray, operation: str, channels: Any = None) -> np.ndarray:
    """Return `array` if it is an image. Raise RuntimeError otherwise."""
    if array.ndim not in (2, 3):
        raise RuntimeError(
            f"{operation}: input tensor is not in shape of <H,W> or <H,W,C>, but got shape {array.shape}."
        )
    if array.dtype.kind in "SUO":
        raise RuntimeError(f"{operation}: the image should hold numbers, but holds {array.dtype}. Decode it first.")
    if channels is not None and (array.ndim != 3 or array.shape[2] not in channels):
        raise RuntimeError(
            f"{operation}: The shape is incorrect: number of channels does not equal "
            f"{' nor '.join(map(str, channels))}, but got shape {array.shape}."
        )
    return array


def is_jpeg(data: np.ndarray) -> bool:
    """Return True if encoded bytes are a JPEG."""
    return data.size > 3 and data[0] == 0xFF and data[1] == 0xD8 and data[2] == 0xFF


def decode(data: np.ndarray) -> np.ndarray:
    """Decode bytes to an RGB image (uint8)."""
    if data.ndim != 1:
        raise RuntimeError(f"Decode: invalid input shape, only support 1D input, but got shape {data.shape}.")
    if data.dtype != np.uint8:
        if data.dtype.kind == "S":
            data = np.frombuffer(data.tobytes(), np.uint8)
        else:
            raise RuntimeError(f"Decode: invalid input type, only support uint8, but got {data.dtype}.")
    if not data.size:
        raise RuntimeError("Decode: the input is empty.")
    _headers.check_encoded(data)
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
    """Return (height, width) after a resize to `size`. Width 0 keeps the aspect ratio.

    r1.1 rounds the longer side half up. MindSpore 2 rounds it down.
    """
    height, width = size
    if width:
        return height, width
    h, w = shape[:2]
    ratio = np.float32(max(h, w)) / np.float32(min(h, w))  # single precision, so that halves round as in MindSpore 1.1
    longer = int(np.floor(np.float32(ratio * np.float32(height)) + (0.5 if api_generations.shared == 1 else 0)))
    return (height, longer) if h < w else (longer, height)


def resize(array: np.ndarray, size: Any, interpolation: Inter = Inter.LINEAR) -> np.ndarray:
    """Resize the image to (height, width) `size`."""
    check_image(array, "Resize")
    height, width = size
    if height == 0 or width == 0 or height > array.shape[0] * 1000 or width > array.shape[1] * 1000:
        raise RuntimeError(
            "Resize: the resizing width or height 1) is too big, it's up to 1000 times the original image; 2) can not "
            "be 0. "
            f"Got {size} for an image of shape {array.shape}."
        )
    if interpolation in (Inter.PILCUBIC, Inter.ANTIALIAS):
        method = pil().Resampling.BICUBIC if interpolation == Inter.PILCUBIC else pil().Resampling.LANCZOS
        plane = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
        # Resize rows before columns, as MindSpore does. Pillow's own order depends on the sizes and affects rounding.
        rows = pil().fromarray(plane).resize((width, plane.shape[0]), method)
        return np.array(rows.resize((width, height), method)).reshape(height, width, *array.shape[2:])
    out = cv2().resize(to_opencv(array), (width, height), interpolation=opencv_interpolation(interpolation))
    return out.reshape(height, width, *array.shape[2:]).astype(array.dtype, copy=False)


def resized_spec(array: np.ndarray, size: Any, interpolation: Inter) -> Any:
    """Return (shape, dtype) of the result of :func:`resize`, or None if OpenCV cannot write the result in place."""
    if array.ndim in (2, 3) and array.dtype in (np.uint8, np.float32) and interpolation in OPENCV_INTERPOLATIONS:
        if array.ndim == 2 or array.shape[2] in (1, 3):
            return (*size, *array.shape[2:]), array.dtype
    return None


def resize_to(array: np.ndarray, interpolation: Inter, out: np.ndarray) -> None:
    """Resize the image to the shape of `out` and write it there."""
    height, width = out.shape[:2]
    if height > array.shape[0] * 1000 or width > array.shape[1] * 1000:
        resize(array, (height, width), interpolation)  # raises the error
    if out.ndim == 3 and out.shape[2] == 1:
        array, out = array[..., 0], out[..., 0]
    cv2().resize(array, (width, height), out, interpolation=opencv_interpolation(interpolation))


def to_opencv(array: np.ndarray) -> np.ndarray:
    """Return the array in a dtype and layout that OpenCV accepts."""
    if array.dtype in (np.bool_, np.int8):
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
    elif array.dtype in (np.int64, np.uint32, np.uint64):
        array = array.astype(np.int32) if array.dtype == np.int64 else array.astype(np.float64)
    elif array.dtype == np.float16:
        array = array.astype(np.float32)
    return np.ascontiguousarray(array)


def crop(array: np.ndarray, x: int, y: int, width: int, height: int) -> np.ndarray:
    """Crop a box whose top left corner is at column `x` and row `y`."""
    check_image(array, "Crop")
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
    """Pad the image by (left, top, right, bottom) pixels."""
    check_image(array, "Pad")
    left, top, right, bottom = padding
    c = cv2()
    out = c.copyMakeBorder(
        to_opencv(array), top, bottom, left, right, getattr(c, _OPENCV_BORDERS[border]), value=tuple(map(float, fill))
    )
    return out.reshape(*out.shape[:2], *array.shape[2:]).astype(widen_bool(array).dtype, copy=False)


def center_crop(array: np.ndarray, height: int, width: int) -> np.ndarray:
    """Crop the center of the image. An image that is too small is padded with zeros."""
    check_image(array, "CenterCrop")
    h, w = array.shape[:2]
    top, left = height - h, width - w
    if top >= 3 * h or left >= 3 * w:
        raise RuntimeError(
            "Unexpected error. CenterCropOp padding size is too big, it's more than 3 times the original size."
        )
    if top > 0 or left > 0:
        missing_height, missing_width = max(top, 0), max(left, 0)
        array = pad(
            array,
            (
                missing_width // 2 + missing_width % 2,
                missing_height // 2 + missing_height % 2,
                missing_width // 2,
                missing_height // 2,
            ),
        )
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
    """Rotate the image counterclockwise."""
    check_image(array, "Rotate")
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
        to_opencv(array),
        matrix,
        size,
        flags=opencv_interpolation(interpolation),
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
    """Rotate, scale and shear the image around its center, then translate it."""
    check_image(array, "Affine")
    f = np.float32
    h, w = array.shape[:2]
    angle = f(f(degrees) * f(math.pi) / f(180.0))
    shear_x = f(f(shear[0]) * f(math.pi) / f(180.0))
    shear_y = f(f(-shear[1]) * f(math.pi) / f(180.0))
    center_x, center_y = f((w - 1) / 2.0), f((h - 1) / 2.0)
    a, x, y = float(angle), float(shear_x), float(shear_y)
    scale = float(f(scale))
    m = [
        f(scale * math.cos(a + y) / math.cos(y)),
        f(scale * (-math.cos(a + y) * math.tan(x) / math.cos(y) - math.sin(a))),
        f(0),
        f(scale * math.sin(a + y) / math.cos(y)),
        f(scale * (-math.sin(a + y) * math.tan(x) / math.cos(y) + math.cos(a))),
        f(0),
    ]
    m[2] = (f(1) - m[0]) * center_x - m[1] * center_y + f(translation[0])
    m[5] = (f(1) - m[4]) * center_y - m[3] * center_x + f(translation[1])
    c = cv2()
    out = c.warpAffine(
        to_opencv(array),
        np.array(m, np.float32).reshape(2, 3),
        (w, h),
        flags=opencv_interpolation(interpolation),
        borderMode=c.BORDER_CONSTANT,
        borderValue=tuple(map(float, fill)),
    )
    return out.reshape(array.shape).astype(array.dtype, copy=False)


def perspective(
    array: np.ndarray, start_points: Sequence[Any], end_points: Sequence[Any], interpolation: Inter = Inter.BILINEAR
) -> np.ndarray:
    """Warp the image so that `start_points` (x, y) move to `end_points`."""
    check_image(array, "Perspective")
    c = cv2()
    matrix = c.getPerspectiveTransform(np.array(start_points, np.float32), np.array(end_points, np.float32))
    out = c.warpPerspective(
        to_opencv(array), matrix, (array.shape[1], array.shape[0]), flags=opencv_interpolation(interpolation)
    )
    return out.reshape(array.shape)


def rescale(array: np.ndarray, factor: float, shift: float) -> np.ndarray:
    """Return ``array * factor + shift`` in float32, computed in float64 as in OpenCV."""
    return (array.astype(np.float64) * np.float64(np.float32(factor)) + np.float64(np.float32(shift))).astype(
        np.float32
    )


def normalize(array: np.ndarray, mean: Any, std: Any) -> np.ndarray:
    """Return ``(array - mean) / std`` per channel (the last axis) in float32."""
    return (array.astype(np.float32) - mean) / std


def scale_values(array: np.ndarray, factor: float) -> np.ndarray:
    """Return ``array * factor`` with a single-precision factor, rounded and clipped to the range of the dtype."""
    wide = array.dtype.kind in "iuf" and array.dtype.itemsize > 2 and array.dtype != np.float32
    factor = np.float32(factor)
    return _saturate_cast(array.astype(np.float64 if wide else np.float32) * factor, array.dtype)


def widen_bool(array):
    """Return a bool image as uint8, OpenCV's type of it."""
    return array.astype(np.uint8) if array.dtype == np.bool_ else array


def _saturate_cast(values, dtype):
    if dtype == np.bool_:
        return _saturate_cast(values, np.dtype(np.uint8)).astype(dtype)
    if dtype.kind in "ui":
        info = np.iinfo(dtype)
        return np.clip(np.rint(values), info.min, info.max).astype(dtype)
    return values.astype(dtype)


def blend(first: np.ndarray, second: np.ndarray, alpha: float, of_second: bool = False) -> np.ndarray:
    """Return ``first * alpha + second * (1 - alpha)``, rounded and clipped as OpenCV's addWeighted does.

    The order of the two terms and single precision decide how a sum halfway between two integers is rounded. With
    `of_second`, `alpha` is the weight of the second.
    """
    alpha = float(np.float32(alpha))
    if of_second:
        return cv2().addWeighted(np.ascontiguousarray(first), 1.0 - alpha, np.ascontiguousarray(second), alpha, 0.0)
    return cv2().addWeighted(np.ascontiguousarray(first), alpha, np.ascontiguousarray(second), 1.0 - alpha, 0.0)


def to_gray(array: np.ndarray) -> np.ndarray:
    """Return the (H, W) luma of an RGB image."""
    c = cv2()
    return c.cvtColor(np.ascontiguousarray(array), c.COLOR_RGB2GRAY)


def to_gray_rgb(array: np.ndarray) -> np.ndarray:
    """Return an RGB image whose three channels are the luma of an RGB image."""
    return np.repeat(to_gray(array)[..., None], 3, axis=2)


def brightness(array: np.ndarray, alpha: float) -> np.ndarray:
    """Multiply the image by `alpha`."""
    check_image(array, "AdjustBrightness", None if array.ndim == 2 else (1, 3))
    if array.dtype == np.uint8:
        return cv2().convertScaleAbs(np.ascontiguousarray(array), alpha=alpha).reshape(array.shape)
    return scale_values(array, alpha)


def contrast(array: np.ndarray, alpha: float) -> np.ndarray:
    """Interpolate between the mean gray value (`alpha` 0) and the image (1)."""
    check_image(array, "AdjustContrast", (3,))
    mean = cv2().mean(to_gray(array))[0]
    mean = mean if array.dtype == np.float32 else int(mean + 0.5)
    return blend(np.full_like(array, mean), array, alpha, of_second=True)


def saturation(array: np.ndarray, alpha: float) -> np.ndarray:
    """Interpolate between the gray image (`alpha` 0) and the image (1)."""
    check_image(array, "AdjustSaturation", (3,))
    return blend(to_gray_rgb(array), array, alpha, of_second=True)


def hue(array: np.ndarray, delta: float) -> np.ndarray:
    """Shift the hue by `delta` (-0.5 to 0.5 of the colour circle)."""
    check_image(array, "AdjustHue", (3,))
    c = cv2()
    hsv = c.cvtColor(np.ascontiguousarray(array), c.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.array(int(delta * 255) % 256, np.uint8)
    return c.cvtColor(hsv, c.COLOR_HSV2RGB_FULL)


def sharpness(array: np.ndarray, alpha: float) -> np.ndarray:
    """Interpolate between a smoothed image (`alpha` 0) and the image (1), or extrapolate beyond it."""
    check_image(array, "Sharpness")
    kernel = np.full((3, 3), 1.0 / 13.0, np.float32)
    kernel[1, 1] = 5.0 / 13.0
    source = np.ascontiguousarray(widen_bool(array))
    smooth = cv2().filter2D(source, -1, kernel).reshape(array.shape)
    smooth[0], smooth[-1], smooth[:, 0], smooth[:, -1] = source[0], source[-1], source[:, 0], source[:, -1]
    return blend(source, smooth, alpha).reshape(array.shape)


def _map_channels(array, operation, function):
    """Apply `function` to each (H, W) plane of a uint8 image."""
    check_image(array, operation)
    array = widen_bool(array)
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise RuntimeError(f"{operation}: Number of channels is not 1 or 3, but got shape {array.shape}.")
    if array.dtype != np.uint8:
        raise RuntimeError(f"{operation}: the image should be uint8, but is {array.dtype}.")
    if array.ndim == 2:
        return function(np.ascontiguousarray(array))
    return np.stack([function(np.ascontiguousarray(array[..., i])) for i in range(array.shape[2])], axis=2)


def equalize(array: np.ndarray) -> np.ndarray:
    """Equalize the histogram of each channel."""
    return _map_channels(array, "Equalize", cv2().equalizeHist)


def autocontrast(array: np.ndarray, cutoff: float = 0.0, ignore: Sequence[int] = ()) -> np.ndarray:
    """Stretch each channel to the full range, after clipping `cutoff` percent at both ends."""

    def stretch(plane):
        histogram = np.bincount(plane.ravel(), minlength=256)
        histogram[list(ignore)] = 0
        low, high = _compute_cutoff_range(histogram, cutoff)
        if high <= low:
            return plane
        scale = np.float32(255.0 / (high - low))
        offset = np.float32(-1 * low * scale)
        table = np.clip((np.arange(256, dtype=np.float32) * scale + offset).astype(np.int32), 0, 255).astype(np.uint8)
        return table[plane]

    return _map_channels(array, "AutoContrast", stretch)


def _compute_cutoff_range(histogram, cutoff):
    """Return the lowest and highest value that remain after removing `cutoff` percent at both ends."""
    histogram = histogram.copy()
    if cutoff:
        cut = int(int(cutoff) / 100.0 * histogram.sum())  # the percentage is rounded down, as in MindSpore
        for order in (range(256), range(255, -1, -1)):
            remaining = cut
            for value in order:
                removed = min(remaining, histogram[value])
                histogram[value] -= removed
                remaining -= removed
                if not remaining:
                    break
    present = np.flatnonzero(histogram)
    if not len(present):
        return 255, 0
    return int(present[0]), int(present[-1])


def invert(array: np.ndarray) -> np.ndarray:
    """Return 255 minus the image, clipped to the range of the dtype."""
    check_image(array, "Invert")
    return 255 - array if array.dtype == np.uint8 else _saturate_cast(255 - array.astype(np.float64), array.dtype)


def posterize(array: np.ndarray, bits: int) -> np.ndarray:
    """Keep the highest `bits` bits of each value. The result is uint8."""
    check_image(array, "Posterize")
    if array.dtype not in (np.uint8, np.int8, np.bool_):
        raise RuntimeError(f"Posterize: Input image data type can not be float, but got {array.dtype}.")
    return array.astype(np.uint8) & np.uint8(0xFF & ~((1 << (8 - bits)) - 1))


def solarize(array: np.ndarray, low: int, high: int) -> np.ndarray:
    """Invert values from `low` to `high`, or all values from `low` on if both are equal."""
    check_image(array, "Solarize")
    mask = array >= low if low == high else (array >= low) & (array <= high)
    return np.where(mask, invert(array), array)


def hwc_to_chw(array: np.ndarray) -> np.ndarray:
    """Move the channels to the first axis. A (H, W) image is returned unchanged."""
    if array.ndim == 2:
        return array
    if array.ndim != 3:
        raise RuntimeError(f"HWC2CHW: image shape should be <H,W,C>, but got shape {array.shape}.")
    return np.ascontiguousarray(array.transpose(2, 0, 1))
