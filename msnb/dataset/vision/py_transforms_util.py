"""Functions of PIL images for ``py_transforms``. Functions of arrays are imported from other modules.

Random numbers come from Python's ``random``, in MindSpore's order.
"""

import io
import math
import numbers
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.dataset.core.optional import pil, pil_module
from msnb.dataset.core.py_util_helpers import is_numpy
from msnb.dataset.vision import _headers
from msnb.dataset.vision._kinds import degrees_range, factor_range, hue_range, parse_padding
from msnb.dataset.vision._py_arrays import (  # noqa: F401
    box_sides,
    erase,
    get_erase_params,
    hsv_to_rgbs,
    hwc_to_chw,
    linear_transform,
    mix_up_muti,
    mix_up_single,
    normalize,
    random_corner,
    rgb_to_hsvs,
    to_type,
)
from msnb.dataset.vision.utils import Inter


def is_pil(img: Any) -> bool:
    """Return True if `img` is a PIL image."""
    return isinstance(img, pil().Image)


def require_pil(img: Any) -> None:
    """Raise TypeError unless `img` is a PIL image."""
    if not is_pil(img):
        raise TypeError(
            f"img should be PIL image. Got {type(img)}. Use Decode() for encoded data or ToPIL() for decoded data."
        )


def pillow_resampling(interpolation: Any) -> Any:
    """Return Pillow's constant for an interpolation mode."""
    resampling = pil().Resampling
    return {
        Inter.NEAREST: resampling.NEAREST,
        Inter.ANTIALIAS: resampling.LANCZOS,
        Inter.LINEAR: resampling.BILINEAR,
        Inter.CUBIC: resampling.BICUBIC,
        Inter.AREA: resampling.BOX,
        Inter.PILCUBIC: resampling.BICUBIC,
    }[interpolation]


def decode(img: Any) -> Any:
    """Decode bytes to a PIL image."""
    try:
        _headers.check_encoded(img, ValueError)
        image = pil().open(io.BytesIO(img))  # reads only the header; Pillow has more formats than OpenCV
        _headers.check_pixels(image.height, image.width, ValueError)
        return image.convert("RGB")
    except pil().DecompressionBombError as error:
        raise ValueError(f"Decode: {error} That limit is Pillow's own: PIL.Image.MAX_IMAGE_PIXELS.") from None
    except OSError as error:
        raise ValueError(f"{error}\nWARNING: Failed to decode given image.") from None
    except (AttributeError, TypeError) as error:
        raise ValueError(f"{error}\nWARNING: Failed to decode, Image might already be decoded.") from None


def to_tensor(img: Any, output_type: Any) -> np.ndarray:
    """Return a (C, H, W) array in [0, 1]."""
    if not (is_pil(img) or is_numpy(img)):
        raise TypeError(f"img should be PIL image or NumPy array. Got {type(img)}.")
    img = np.asarray(img)
    if img.ndim not in (2, 3):
        raise ValueError(f"img dimension should be 2 or 3. Got {img.ndim}.")
    if img.ndim == 2:
        img = img[:, :, None]
    return to_type(hwc_to_chw(img) / 255.0, output_type)


def to_pil(img: Any) -> Any:
    """Return the PIL image of an array."""
    if is_pil(img):
        return img
    try:
        return pil().fromarray(img)
    except (AttributeError, TypeError) as error:
        raise TypeError(
            f"The input of ToPIL should be a NumPy array that is an image or a Pillow image, got {type(img)}: {error}"
        ) from None


def horizontal_flip(img: Any) -> Any:
    """Flip the image horizontally."""
    require_pil(img)
    return img.transpose(pil().Transpose.FLIP_LEFT_RIGHT)


def vertical_flip(img: Any) -> Any:
    """Flip the image vertically."""
    require_pil(img)
    return img.transpose(pil().Transpose.FLIP_TOP_BOTTOM)


def random_horizontal_flip(img: Any, prob: float) -> Any:
    """Run :func:`horizontal_flip` with probability `prob`."""
    require_pil(img)
    return horizontal_flip(img) if prob > random.random() else img


def random_vertical_flip(img: Any, prob: float) -> Any:
    """Run :func:`vertical_flip` with probability `prob`."""
    require_pil(img)
    return vertical_flip(img) if prob > random.random() else img


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Crop a box of the image."""
    require_pil(img)
    return img.crop((left, top, left + width, top + height))


def resize(img: Any, size: int | Sequence[int], interpolation: Any = 2) -> Any:
    """Resize the image. An int is the length of the shorter side."""
    require_pil(img)
    if not (isinstance(size, int) or isinstance(size, list | tuple) and len(size) == 2):
        raise TypeError(f"Size should be a single number or a list/tuple (h, w) of length 2. Got {size}.")
    if not isinstance(size, int):
        return img.resize(tuple(size[::-1]), interpolation)
    width, height = img.size
    if min(width, height) == size:
        return img
    ratio = width / height
    new_size = (size, int(size / ratio)) if width < height else (int(size * ratio), size)
    return img.resize(new_size, interpolation)


def _compute_center_corner(img, height, width):
    """Return (top, left) of a box of this size at the center of the image."""
    return round((img.height - height) / 2), round((img.width - width) / 2)


def center_crop(img: Any, size: int | Sequence[int]) -> Any:
    """Crop the center of the image."""
    require_pil(img)
    height, width = (size, size) if isinstance(size, int) else size
    return crop(img, *_compute_center_corner(img, height, width), height, width)


def _parse_height_width(size):
    if isinstance(size, int):
        return size, size
    if isinstance(size, tuple | list) and len(size) == 2:
        return size
    raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def _check_crop_size(img, size):
    """Return (height, width) of a crop. Raise ValueError if it is larger than the image."""
    height, width = _parse_height_width(size)
    if height > img.height or width > img.width:
        raise ValueError(f"Crop size {(height, width)} is larger than input image size {(img.height, img.width)}.")
    return height, width


def random_resize_crop(
    img: Any,
    size: int | Sequence[int],
    scale: Any,
    ratio: tuple[float, float],
    interpolation: Any = 2,
    max_attempts: int = 10,
) -> Any:
    """Crop a random box (random area and aspect ratio), then resize it."""
    require_pil(img)
    size = _parse_height_width(size)
    if any(least > greatest for least, greatest in (scale, ratio)):
        raise ValueError("Range should be in the order of (min, max).")
    return resize(crop(img, *_sample_crop_box(img, scale, ratio, max_attempts)), size, interpolation)


def _sample_crop_box(img, scale, ratio, max_attempts):
    """Return (top, left, height, width) of a random box.

    If no attempt fits, it is the largest centered box whose aspect ratio is in range.
    """
    for _ in range(max_attempts):
        area = random.uniform(*scale) * (img.width * img.height)
        height, width = box_sides(area, math.exp(random.uniform(*map(math.log, ratio))))
        if height in range(1, img.height + 1) and width in range(1, img.width + 1):
            return *random_corner(img.height - height, img.width - width), height, width
    height, width = min(img.height, round(img.width / ratio[0])), min(img.width, round(img.height * ratio[1]))
    return *_compute_center_corner(img, height, width), height, width


def random_crop(
    img: Any, size: int | Sequence[int], padding: Any, pad_if_needed: bool, fill_value: Any, padding_mode: Any
) -> Any:
    """Crop the (padded) image at a random position."""
    require_pil(img)
    height, width = _parse_height_width(size)
    if padding is not None:
        img = pad(img, padding, fill_value, padding_mode)
    missing = max(width - img.width, 0), max(height - img.height, 0)
    if pad_if_needed and any(missing):
        img = pad(img, missing, fill_value, padding_mode)
    _check_crop_size(img, size)
    corner = (0, 0) if img.size == (width, height) else random_corner(img.height - height, img.width - width)
    return crop(img, *corner, height, width)


def _enhance_image(img, quality, factor):
    """Apply an enhancer of PIL.ImageEnhance (such as "Brightness") with `factor`."""
    require_pil(img)
    return getattr(pil_module("ImageEnhance"), quality)(img).enhance(factor)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Multiply the brightness by a factor."""
    return _enhance_image(img, "Brightness", brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Multiply the contrast by a factor."""
    return _enhance_image(img, "Contrast", contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Multiply the saturation by a factor."""
    return _enhance_image(img, "Color", saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Shift the hue by a fraction of the colour circle, -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"image_hue_factor {hue_factor} is not in [-0.5, 0.5].")
    require_pil(img)
    if img.mode in ("L", "1", "I", "F"):
        return img
    shift = int(hue_factor * 255)
    bands = img.convert("HSV").split()
    shifted = bands[0].point([(hue + shift) % 256 for hue in range(256)])
    return pil().merge("HSV", (shifted, *bands[1:])).convert(img.mode)


def rotate(img: Any, angle: float, resample: Any, expand: bool, center: tuple[int, int] | None, fill_value: Any) -> Any:
    """Rotate the image."""
    require_pil(img)
    if isinstance(fill_value, int) and len(img.getbands()) == 3:
        fill_value = (fill_value,) * 3
    return img.rotate(angle, resample, expand, center, fillcolor=fill_value)


def random_color_adjust(img: Any, brightness: Any, contrast: Any, saturation: Any, hue: Any) -> Any:
    """Change brightness, contrast, saturation and hue randomly, in random order."""
    require_pil(img)
    ranges = {
        adjust_brightness: factor_range(brightness, "brightness"),
        adjust_contrast: factor_range(contrast, "contrast"),
        adjust_saturation: factor_range(saturation, "saturation"),
        adjust_hue: hue_range(hue, "hue"),
    }
    changes = [(change, random.uniform(*limits)) for change, limits in ranges.items()]
    random.shuffle(changes)
    for change, factor in changes:
        img = change(img, factor)
    return img


def random_rotation(
    img: Any, degrees: Any, resample: Any, expand: bool, center: tuple[int, int] | None, fill_value: Any
) -> Any:
    """Rotate the image by a random angle."""
    require_pil(img)
    return rotate(img, random.uniform(*degrees_range(degrees)), resample, expand, center, fill_value)


def five_crop(img: Any, size: int | Sequence[int]) -> tuple[Any, ...]:
    """Return crops of the four corners and the center."""
    require_pil(img)
    height, width = _check_crop_size(img, size)
    corners = [(top, left) for top in (0, img.height - height) for left in (0, img.width - width)]
    return tuple(crop(img, *corner, height, width) for corner in (*corners, _compute_center_corner(img, height, width)))


def ten_crop(img: Any, size: int | Sequence[int], use_vertical_flip: bool = False) -> tuple[Any, ...]:
    """Return :func:`five_crop` of the image and of the flipped image."""
    require_pil(img)
    return five_crop(img, size) + five_crop(vertical_flip(img) if use_vertical_flip else horizontal_flip(img), size)


def grayscale(img: Any, num_output_channels: int) -> Any:
    """Convert the image to gray, in one channel or three."""
    require_pil(img)
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3. Got {num_output_channels}.")
    gray = img.convert("L")
    return gray if num_output_channels == 1 else pil().merge("RGB", (gray,) * 3)


def pad(img: Any, padding: Any, fill_value: Any, padding_mode: Any) -> Any:
    """Pad the image."""
    require_pil(img)
    if not isinstance(padding, numbers.Number | tuple | list):
        raise TypeError("Padding can be any of: a number, a tuple or list of size 2 or 4.")
    sides = parse_padding(padding)
    if len(sides) != 4:
        raise ValueError("The size of the padding list or tuple should be 2 or 4.")
    if not isinstance(fill_value, numbers.Number | str | tuple):
        raise TypeError("fill_value can be any of: an integer, a string or a tuple.")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be 'constant', 'edge', 'reflect', or 'symmetric'.")
    if padding_mode == "constant":
        padded = pil_module("ImageOps").expand(img, border=sides, fill=fill_value)
    else:
        left, top, right, bottom = sides
        array = np.asarray(img)
        pad_width = ((top, bottom), (left, right), (0, 0))[: array.ndim]
        padded = pil().fromarray(np.pad(array, pad_width, str(getattr(padding_mode, "value", padding_mode))))
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded


def get_perspective_params(img: Any, distortion_scale: float) -> tuple[Any, Any]:
    """Return the corners of the image and their random new positions."""
    right, bottom = img.width - 1, img.height - 1
    corners = [(0, 0), (right, 0), (right, bottom), (0, bottom)]
    x, y = int(img.width / 2 * distortion_scale), int(img.height / 2 * distortion_scale)

    def moved(coordinate, reach, last):
        """Return `coordinate`, which is 0 or `last`, moved inwards by up to `reach`."""
        return random.randint(0, reach) if coordinate == 0 else random.randint(last - reach, last)

    return corners, [(moved(column, x, right), moved(row, y, bottom)) for column, row in corners]


def perspective(img: Any, start_points: Sequence[Any], end_points: Sequence[Any], interpolation: Any = 3) -> Any:
    """Warp the image so that `start_points` move to `end_points`."""
    require_pil(img)
    rows = []
    for (u, v), (x, y) in zip(end_points, start_points, strict=True):
        rows.append([u, v, 1, 0, 0, 0, -x * u, -x * v])
        rows.append([0, 0, 0, u, v, 1, -y * u, -y * v])
    targets = np.array(start_points, dtype=np.float64).reshape(8)
    coefficients = np.linalg.lstsq(np.array(rows, dtype=np.float64), targets, rcond=None)[0].tolist()
    return img.transform(img.size, pil().Transform.PERSPECTIVE, coefficients, interpolation)


def random_affine(
    img: Any,
    angle: tuple[float, float],
    translations: tuple[float, float],
    scale: Any,
    shear: Any,
    resample: Any,
    fill_value: Any = 0,
) -> Any:
    """Rotate, translate, scale and shear the image randomly around its center."""
    if not is_pil(img):
        raise ValueError("Input image should be a Pillow image.")
    degrees = random.uniform(*angle)
    moves = (0, 0)
    if translations is not None:
        moves = [round(random.uniform(-t * side, t * side)) for t, side in zip(translations, img.size, strict=False)]
    factor = 1.0 if scale is None else random.uniform(*scale)
    ranges = () if shear is None else (shear[:2], shear[2:])
    shears = [random.uniform(*limits) for limits in ranges if limits]  # two limits need one draw, four need two
    coefficients = _compute_inverse_affine(img.size, degrees, moves, factor, (*shears, 0.0, 0.0)[:2])
    return img.transform(img.size, pil().Transform.AFFINE, coefficients, resample, fillcolor=fill_value)


def _compute_inverse_affine(size, degrees, moves, factor, shears):
    """Return [(a, b, c)] for x and for y of the inverse map. It maps a pixel (x, y) of the result to the image, where
    each coordinate is ``a * x + b * y + c``.

    The map inverts a translation, then a rotation, a shear along each axis and a scaling around the center.
    """
    along_x, along_y = (math.radians(degrees) + math.radians(shear) for shear in shears)
    cos_x, sin_x, cos_y, sin_y = math.cos(along_x), math.sin(along_x), math.cos(along_y), math.sin(along_y)
    unit = 1.0 / factor / (cos_x * cos_y + sin_x * sin_y)
    center = [side * 0.5 + 0.5 for side in size]
    # The origin, relative to the moved center.
    x, y = (-offset - move for offset, move in zip(center, moves, strict=True))
    coefficients = []
    for a, b, offset in ((unit * cos_x, unit * sin_x, center[0]), (unit * -sin_y, unit * cos_y, center[1])):
        coefficients += [a, b, a * x + b * y + offset]
    return coefficients


def _sample_factor(degrees):
    return (degrees[1] - degrees[0]) * random.random() + degrees[0]


def random_color(img: Any, degrees: Any) -> Any:
    """Multiply the saturation by a random factor."""
    require_pil(img)
    return _enhance_image(img, "Color", _sample_factor(degrees))


def random_sharpness(img: Any, degrees: Any) -> Any:
    """Multiply the sharpness by a random factor."""
    require_pil(img)
    return _enhance_image(img, "Sharpness", _sample_factor(degrees))


def auto_contrast(img: Any, cutoff: float, ignore: Any) -> Any:
    """Stretch each channel to the full range."""
    require_pil(img)
    return pil_module("ImageOps").autocontrast(img, cutoff, ignore)


def invert_color(img: Any) -> Any:
    """Invert the image."""
    require_pil(img)
    return pil_module("ImageOps").invert(img)


def equalize(img: Any) -> Any:
    """Equalize the histogram of each channel."""
    require_pil(img)
    return pil_module("ImageOps").equalize(img)


def uniform_augment(img: Any, transforms: Sequence[Callable[..., Any]], num_ops: int) -> Any:
    """Apply `num_ops` of the transforms, each with a random probability."""
    for index in np.random.choice(len(transforms), size=num_ops, replace=False):
        probability = random.random()
        if random.random() < probability:
            img = transforms[index](img.copy())
    return img
