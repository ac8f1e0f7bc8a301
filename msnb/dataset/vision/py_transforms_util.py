"""The functions behind ``py_transforms``: PIL images, and random numbers from Python's ``random``, drawn in
MindSpore's order.
"""

import colorsys
import io
import math
import numbers
import random

import numpy as np

from msnb.dataset.core.optional import pil, pil_module
from msnb.dataset.core.py_util_helpers import is_numpy
from msnb.dataset.vision.utils import Inter


def is_pil(img):
    """Whether `img` is a PIL image."""
    return isinstance(img, pil().Image)


def _need_pil(img):
    if not is_pil(img):
        raise TypeError(
            f"img should be PIL image. Got {type(img)}. Use Decode() for encoded data or ToPIL() for decoded data."
        )


def _need_numpy(img, what="NumPy array"):
    if not is_numpy(img):
        raise TypeError(f"img should be {what}. Got {type(img)}.")


def method(interpolation):
    """Pillow's number of an interpolation."""
    resampling = pil().Resampling
    return {
        Inter.NEAREST: resampling.NEAREST,
        Inter.ANTIALIAS: resampling.LANCZOS,
        Inter.LINEAR: resampling.BILINEAR,
        Inter.CUBIC: resampling.BICUBIC,
        Inter.AREA: resampling.BOX,
        Inter.PILCUBIC: resampling.BICUBIC,
    }[interpolation]


def normalize(img, mean, std, pad_channel=False, dtype="float32"):
    """(C, H, W) minus mean by std, with a channel of zeros when `pad_channel`."""
    _need_numpy(img, "NumPy image")
    channels = img.shape[0]
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    if len(mean) == 1:
        mean, std = [mean[0]] * channels, [std[0]] * channels
    elif len(mean) != channels:
        raise ValueError(f"Length of mean and std must both be 1 or equal to the number of channels({channels}).")
    mean, std = np.array(mean, dtype=img.dtype), np.array(std, dtype=img.dtype)
    image = (img - mean[:, None, None]) / std[:, None, None]
    if pad_channel:
        image = np.concatenate((image, np.zeros([1, *image.shape[1:]], np.float32)), axis=0)
        if dtype == "float16":
            image = image.astype(np.float16)
    return image


def decode(img):
    """The PIL image in encoded bytes."""
    try:
        return pil().open(io.BytesIO(img)).convert("RGB")
    except OSError as error:
        raise ValueError(f"{error}\nWARNING: Failed to decode given image.") from None
    except (AttributeError, TypeError) as error:
        raise ValueError(f"{error}\nWARNING: Failed to decode, Image might already be decoded.") from None


def hwc_to_chw(img):
    """Channels first."""
    _need_numpy(img)
    return img.transpose(2, 0, 1).copy()


def to_type(img, output_type):
    """The array in another type."""
    _need_numpy(img, "NumPy image")
    return img.astype(output_type)


def to_tensor(img, output_type):
    """(C, H, W) in [0, 1]."""
    if not (is_pil(img) or is_numpy(img)):
        raise TypeError(f"img should be PIL image or NumPy array. Got {type(img)}.")
    img = np.asarray(img)
    if img.ndim not in (2, 3):
        raise ValueError(f"img dimension should be 2 or 3. Got {img.ndim}.")
    if img.ndim == 2:
        img = img[:, :, None]
    return to_type(hwc_to_chw(img) / 255.0, output_type)


def to_pil(img):
    """The PIL image of an array."""
    if is_pil(img):
        return img
    try:
        return pil().fromarray(img)
    except (AttributeError, TypeError) as error:
        raise TypeError(
            f"The input of ToPIL should be a NumPy array that is an image or a Pillow image, got {type(img)}: {error}"
        ) from None


def horizontal_flip(img):
    """Left and right exchanged."""
    _need_pil(img)
    return img.transpose(pil().Transpose.FLIP_LEFT_RIGHT)


def vertical_flip(img):
    """Top and bottom exchanged."""
    _need_pil(img)
    return img.transpose(pil().Transpose.FLIP_TOP_BOTTOM)


def random_horizontal_flip(img, prob):
    """:func:`horizontal_flip` with probability `prob`."""
    _need_pil(img)
    return horizontal_flip(img) if prob > random.random() else img


def random_vertical_flip(img, prob):
    """:func:`vertical_flip` with probability `prob`."""
    _need_pil(img)
    return vertical_flip(img) if prob > random.random() else img


def crop(img, top, left, height, width):
    """A part of the image."""
    _need_pil(img)
    return img.crop((left, top, left + width, top + height))


def resize(img, size, interpolation=2):
    """Another size; an int is the length of the shorter side."""
    _need_pil(img)
    if not (isinstance(size, int) or isinstance(size, list | tuple) and len(size) == 2):
        raise TypeError(f"Size should be a single number or a list/tuple (h, w) of length 2. Got {size}.")
    if not isinstance(size, int):
        return img.resize(tuple(size[::-1]), interpolation)
    width, height = img.size
    if min(width, height) == size:
        return img
    ratio = width / height
    wanted = (size, int(size / ratio)) if width < height else (int(size * ratio), size)
    return img.resize(wanted, interpolation)


def center_crop(img, size):
    """The middle of the image."""
    _need_pil(img)
    height, width = (size, size) if isinstance(size, int) else size
    return crop(img, int(round((img.size[1] - height) / 2.0)), int(round((img.size[0] - width) / 2.0)), height, width)


def _pair(size):
    if isinstance(size, int):
        return size, size
    if isinstance(size, tuple | list) and len(size) == 2:
        return size
    raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def random_resize_crop(img, size, scale, ratio, interpolation=2, max_attempts=10):
    """A random part of the image (random area and ratio), resized."""
    _need_pil(img)
    size = _pair(size)
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        raise ValueError("Range should be in the order of (min, max).")
    return resize(crop(img, *_part(img, scale, ratio, max_attempts)), size, interpolation)


def _part(img, scale, ratio, max_attempts):
    img_width, img_height = img.size
    area = img_width * img_height
    for _ in range(max_attempts):
        wanted = random.uniform(*scale) * area
        aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        width = int(round(math.sqrt(wanted * aspect)))
        height = int(round(width / aspect))
        if 0 < width <= img_width and 0 < height <= img_height:
            top = random.randint(0, img_height - height)
            return top, random.randint(0, img_width - width), height, width
    width, height = img_width, img_height
    if img_width / img_height < ratio[0]:
        height = int(round(width / ratio[0]))
    elif img_width / img_height > ratio[1]:
        width = int(round(height * ratio[1]))
    return int(round((img_height - height) / 2.0)), int(round((img_width - width) / 2.0)), height, width


def random_crop(img, size, padding, pad_if_needed, fill_value, padding_mode):
    """A part of the (padded) image at a random place."""
    _need_pil(img)
    height, width = _pair(size)
    if padding is not None:
        img = pad(img, padding, fill_value, padding_mode)
    if pad_if_needed and img.size[0] < width:
        img = pad(img, (width - img.size[0], 0), fill_value, padding_mode)
    if pad_if_needed and img.size[1] < height:
        img = pad(img, (0, height - img.size[1]), fill_value, padding_mode)
    img_width, img_height = img.size
    if height > img_height or width > img_width:
        raise ValueError(f"Crop size {(height, width)} is larger than input image size {(img_height, img_width)}.")
    if (width, height) == img.size:
        return crop(img, 0, 0, height, width)
    top = random.randint(0, img_height - height)
    return crop(img, top, random.randint(0, img_width - width), height, width)


def adjust_brightness(img, brightness_factor):
    """Brightness times a factor."""
    _need_pil(img)
    return pil_module("ImageEnhance").Brightness(img).enhance(brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Contrast times a factor."""
    _need_pil(img)
    return pil_module("ImageEnhance").Contrast(img).enhance(contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Saturation times a factor."""
    _need_pil(img)
    return pil_module("ImageEnhance").Color(img).enhance(saturation_factor)


def adjust_hue(img, hue_factor):
    """Hue turned by a share of the circle, -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"image_hue_factor {hue_factor} is not in [-0.5, 0.5].")
    _need_pil(img)
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.array(hue, dtype=np.uint8) + np.uint8(int(hue_factor * 255) % 256)
    return pil().merge("HSV", (pil().fromarray(turned), saturation, value)).convert(img.mode)


def rotate(img, angle, resample, expand, center, fill_value):
    """The image turned."""
    _need_pil(img)
    if isinstance(fill_value, int) and len(img.getbands()) == 3:
        fill_value = (fill_value,) * 3
    return img.rotate(angle, resample, expand, center, fillcolor=fill_value)


def _factor(value, name, center=1, bound=(0, float("inf")), non_negative=True):
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
        value = [center - value, center + value]
        if non_negative:
            value[0] = max(0, value[0])
    elif not (isinstance(value, list | tuple) and len(value) == 2):
        raise TypeError(f"Input of {name} should be either a single value, or a list/tuple of length 2.")
    elif not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ValueError(f"Please check your value range of {name} is valid and within the bound {bound}.")
    return random.uniform(value[0], value[1])


def random_color_adjust(img, brightness, contrast, saturation, hue):
    """Brightness, contrast, saturation and hue changed at random, in random order."""
    _need_pil(img)
    factors = [
        (adjust_brightness, _factor(brightness, "brightness")),
        (adjust_contrast, _factor(contrast, "contrast")),
        (adjust_saturation, _factor(saturation, "saturation")),
        (adjust_hue, _factor(hue, "hue", 0, (-0.5, 0.5), False)),
    ]
    random.shuffle(factors)
    for change, factor in factors:
        img = change(img, factor)
    return img


def random_rotation(img, degrees, resample, expand, center, fill_value):
    """The image turned by a random angle."""
    _need_pil(img)
    if isinstance(degrees, numbers.Number):
        if degrees < 0:
            raise ValueError("If degrees is a single number, it cannot be negative.")
        degrees = (-degrees, degrees)
    elif len(degrees) != 2:
        raise ValueError("If degrees is a sequence, the length must be 2.")
    return rotate(img, random.uniform(*degrees), resample, expand, center, fill_value)


def five_crop(img, size):
    """The four corners and the middle."""
    _need_pil(img)
    height, width = _pair(size)
    w, h = img.size
    if height > h or width > w:
        raise ValueError(f"Crop size {(height, width)} is larger than input image size {(h, w)}.")
    return (
        img.crop((0, 0, width, height)),
        img.crop((w - width, 0, w, height)),
        img.crop((0, h - height, width, h)),
        img.crop((w - width, h - height, w, h)),
        center_crop(img, (height, width)),
    )


def ten_crop(img, size, use_vertical_flip=False):
    """:func:`five_crop` of the image and of its mirror image."""
    _need_pil(img)
    return five_crop(img, size) + five_crop(vertical_flip(img) if use_vertical_flip else horizontal_flip(img), size)


def grayscale(img, num_output_channels):
    """Gray, in one channel or three."""
    _need_pil(img)
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3. Got {num_output_channels}.")
    img = img.convert("L")
    return img if num_output_channels == 1 else pil().fromarray(np.dstack([np.array(img, dtype=np.uint8)] * 3))


def pad(img, padding, fill_value, padding_mode):
    """More pixels around the image."""
    _need_pil(img)
    if isinstance(padding, numbers.Number):
        left = top = right = bottom = padding
    elif not isinstance(padding, tuple | list):
        raise TypeError("Padding can be any of: a number, a tuple or list of size 2 or 4.")
    elif len(padding) == 2:
        (left, top), (right, bottom) = padding, padding
    elif len(padding) == 4:
        left, top, right, bottom = padding
    else:
        raise ValueError("The size of the padding list or tuple should be 2 or 4.")
    if not isinstance(fill_value, numbers.Number | str | tuple):
        raise TypeError("fill_value can be any of: an integer, a string or a tuple.")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be 'constant', 'edge', 'reflect', or 'symmetric'.")
    palette = img.getpalette() if img.mode == "P" else None
    if padding_mode == "constant":
        image = pil_module("ImageOps").expand(
            img, border=padding if isinstance(padding, int) else tuple(padding), fill=fill_value
        )
    else:
        array = np.asarray(img)
        around = ((top, bottom), (left, right), (0, 0))[: array.ndim]
        image = pil().fromarray(np.pad(array, around, str(getattr(padding_mode, "value", padding_mode))))
    if palette is not None:
        image.putpalette(palette)
    return image


def get_perspective_params(img, distortion_scale):
    """The corners of the image, and where they are moved to at random."""
    w, h = img.size
    x, y = int(w / 2 * distortion_scale), int(h / 2 * distortion_scale)
    draw = random.randint
    top_left = (draw(0, x), draw(0, y))
    top_right = (draw(w - x - 1, w - 1), draw(0, y))
    bottom_right = (draw(w - x - 1, w - 1), draw(h - y - 1, h - 1))
    bottom_left = (draw(0, x), draw(h - y - 1, h - 1))
    return [(0, 0), (w - 1, 0), (w - 1, h - 1), (0, h - 1)], [top_left, top_right, bottom_right, bottom_left]


def perspective(img, start_points, end_points, interpolation=3):
    """The image with `start_points` moved to `end_points`."""
    _need_pil(img)
    rows = []
    for (u, v), (x, y) in zip(end_points, start_points, strict=True):
        rows.append([u, v, 1, 0, 0, 0, -x * u, -x * v])
        rows.append([0, 0, 0, u, v, 1, -y * u, -y * v])
    wanted = np.array(start_points, dtype=np.float64).reshape(8)
    coefficients = np.linalg.lstsq(np.array(rows, dtype=np.float64), wanted, rcond=None)[0].tolist()
    return img.transform(img.size, pil().Transform.PERSPECTIVE, coefficients, interpolation)


def get_erase_params(np_img, scale, ratio, value, bounded, max_attempts):
    """(row, column, height, width, value) of a random box of a (C, H, W) array."""
    _need_numpy(np_img)
    channels, height, width = np_img.shape
    for _ in range(max_attempts):
        area = random.uniform(*scale) * height * width
        aspect = random.uniform(*ratio)
        w = int(round(math.sqrt(area * aspect)))
        h = int(round(w / aspect))
        shape = (channels, h, w)
        if h >= height or w >= width:
            continue
        if bounded:
            i, j = random.randint(0, height - h), random.randint(0, width - w)
        else:
            x, y = random.randint(0, width), random.randint(0, height)
            x1, x2 = (max(0, min(v, width)) for v in (x - w // 2, x + w // 2))
            y1, y2 = (max(0, min(v, height)) for v in (y - h // 2, y + h // 2))
            i, j, h, w = y1, x1, y2 - y1, x2 - x1
        if isinstance(value, numbers.Number):
            return i, j, h, w, value
        if isinstance(value, str | bytes):
            return i, j, h, w, np.random.normal(loc=0.0, scale=1.0, size=shape)
        if isinstance(value, tuple | list) and len(value) == 3:
            return i, j, h, w, np.ones(shape) * np.array(value)[:, None, None]
        raise ValueError(
            "The value for erasing should be either a single value, or a string 'random', or a sequence of 3 elements "
            "for RGB "
            f"respectively, but got {value!r}."
        )
    return 0, 0, height, width, np_img


def erase(np_img, i, j, height, width, erase_value, inplace=False):
    """The box filled with `erase_value`."""
    _need_numpy(np_img)
    if not inplace:
        np_img = np_img.copy()
    np_img[:, i : i + height, j : j + width] = erase_value
    return np_img


def linear_transform(np_img, transformation_matrix, mean_vector):
    """(flattened image - mean) @ matrix, in the image's shape."""
    _need_numpy(np_img)
    if transformation_matrix.shape[0] != transformation_matrix.shape[1]:
        raise ValueError(
            f"transformation_matrix should be a square matrix. Got shape {transformation_matrix.shape} instead"
        )
    if np.prod(np_img.shape) != transformation_matrix.shape[0]:
        raise ValueError(
            f"transformation_matrix shape {transformation_matrix.shape} not compatible with Numpy image shape "
            f"{np_img.shape}."
        )
    if mean_vector.shape[0] != transformation_matrix.shape[0]:
        raise ValueError(
            f"mean_vector length {mean_vector.shape[0]} should match either one dimension of the square "
            f"transformation_matrix "
            f"{transformation_matrix.shape}."
        )
    return np.dot(np_img.reshape(1, -1) - mean_vector, transformation_matrix).reshape(np_img.shape)


def random_affine(img, angle, translations, scale, shear, resample, fill_value=0):
    """The image turned, moved, scaled and sheared at random around its centre."""
    if not is_pil(img):
        raise ValueError("Input image should be a Pillow image.")
    turn = math.radians(random.uniform(*angle))
    if translations is not None:
        x, y = translations[0] * img.size[0], translations[1] * img.size[1]
        translations = (np.round(random.uniform(-x, x)), np.round(random.uniform(-y, y)))
    else:
        translations = (0, 0)
    scale = 1.0 / (random.uniform(*scale) if scale is not None else 1.0)
    if shear is None:
        shear = [0.0, 0.0]
    elif len(shear) == 2:
        shear = [random.uniform(*shear), 0.0]
    else:
        shear = [random.uniform(*shear[:2]), random.uniform(*shear[2:])]
    a, b = (turn + math.radians(s) for s in shear)
    center = (img.size[0] * 0.5 + 0.5, img.size[1] * 0.5 + 0.5)
    d = math.cos(a) * math.cos(b) + math.sin(a) * math.sin(b)
    m = [scale / d * v for v in (math.cos(a), math.sin(a), 0, -math.sin(b), math.cos(b), 0)]
    m[2] += m[0] * (-center[0] - translations[0]) + m[1] * (-center[1] - translations[1]) + center[0]
    m[5] += m[3] * (-center[0] - translations[0]) + m[4] * (-center[1] - translations[1]) + center[1]
    return img.transform(img.size, pil().Transform.AFFINE, m, resample, fillcolor=fill_value)


def mix_up_single(batch_size, img, label, alpha=0.2):
    """Each image of the batch mixed with the next one, labels likewise."""
    index = [*range(1, batch_size), 0]
    share = np.random.beta(alpha, alpha, batch_size)
    by_image, by_label = share.reshape((batch_size, 1, 1, 1)), share.reshape((batch_size, 1))
    return by_image * img + (1 - by_image) * img[index, ...], by_label * label + (1 - by_label) * label[index, ...]


def mix_up_muti(tmp, batch_size, img, label, alpha=0.2):
    """Each image of the batch mixed with the batch before (kept in `tmp`), labels likewise."""
    share = np.random.beta(alpha, alpha, batch_size)
    if tmp.is_first:
        share = np.ones(batch_size)
        tmp.is_first = False
    by_image, by_label = share.reshape((batch_size, 1, 1, 1)), share.reshape(batch_size, 1)
    tmp.image = by_image * img + (1 - by_image) * tmp.image
    tmp.label = by_label * label + (1 - by_label) * tmp.label
    return tmp.image, tmp.label


def _convert_colours(images, is_hwc, function):
    _need_numpy(images, "NumPy image")
    if images.ndim not in (3, 4):
        raise TypeError(f"img shape should be (H, W, C)/(N, H, W, C)/(C, H, W)/(N, C, H, W). Got {images.shape}.")
    axis = images.ndim - 1 if is_hwc else images.ndim - 3
    if images.shape[axis] != 3:
        raise TypeError(f"img should be 3 channels RGB img. Got {images.shape[axis]} channels.")
    planes = [np.take(images, i, axis) for i in range(3)]
    return np.stack(np.vectorize(function)(*planes), axis=axis)


def rgb_to_hsvs(np_rgb_imgs, is_hwc):
    """HSV in [0, 1] of RGB in [0, 1]."""
    return _convert_colours(np_rgb_imgs, is_hwc, colorsys.rgb_to_hsv)


def hsv_to_rgbs(np_hsv_imgs, is_hwc):
    """RGB in [0, 1] of HSV in [0, 1]."""
    return _convert_colours(np_hsv_imgs, is_hwc, colorsys.hsv_to_rgb)


def _strength(degrees):
    return (degrees[1] - degrees[0]) * random.random() + degrees[0]


def random_color(img, degrees):
    """Saturation times a random factor."""
    _need_pil(img)
    return pil_module("ImageEnhance").Color(img).enhance(_strength(degrees))


def random_sharpness(img, degrees):
    """Sharpness times a random factor."""
    _need_pil(img)
    return pil_module("ImageEnhance").Sharpness(img).enhance(_strength(degrees))


def auto_contrast(img, cutoff, ignore):
    """Each channel stretched to the full range."""
    _need_pil(img)
    return pil_module("ImageOps").autocontrast(img, cutoff, ignore)


def invert_color(img):
    """The negative."""
    _need_pil(img)
    return pil_module("ImageOps").invert(img)


def equalize(img):
    """Each channel with its histogram equalised."""
    _need_pil(img)
    return pil_module("ImageOps").equalize(img)


def uniform_augment(img, transforms, num_ops):
    """`num_ops` of the transforms, each with a probability that is itself random."""
    for number in np.random.choice(len(transforms), size=num_ops, replace=False):
        probability = random.random()
        if random.random() < probability:
            img = transforms[number](img.copy())
    return img
