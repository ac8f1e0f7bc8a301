"""The functions of numpy images, (C, H, W), behind ``py_transforms``; random numbers come in MindSpore's order."""

import colorsys
import math
import numbers
import random

import numpy as np

from msnb.dataset.core.py_util_helpers import is_numpy


def need_numpy(img, what="NumPy array"):
    """TypeError unless `img` is an array."""
    if not is_numpy(img):
        raise TypeError(f"img should be {what}. Got {type(img)}.")


def normalize(img, mean, std, pad_channel=False, dtype="float32"):
    """(C, H, W) minus mean by std, with a channel of zeros when `pad_channel`."""
    need_numpy(img, "NumPy image")
    if img.ndim == 0:
        raise ValueError("img shape should be (C, H, W). Got ().")
    channels, lengths = len(img), {len(mean), len(std)}
    if len(lengths) == 2:
        raise ValueError("Length of mean and std must be equal.")
    if not lengths <= {1, channels}:
        raise ValueError(f"Length of mean and std must both be 1 or equal to the number of channels({channels}).")
    mean, std = (np.broadcast_to(np.array(v, img.dtype), channels)[:, None, None] for v in (mean, std))
    made = (img - mean) / std
    if not pad_channel:
        return made
    padded = np.zeros((channels + 1, *made.shape[1:]), np.result_type(made, np.float32))
    padded[:channels] = made
    return padded.astype(np.float16) if dtype == "float16" else padded


def hwc_to_chw(img):
    """Channels first."""
    need_numpy(img)
    return img.transpose(2, 0, 1).copy()


def to_type(img, output_type):
    """The array in another type."""
    need_numpy(img, "NumPy image")
    return img.astype(output_type)


def box_sides(area, aspect):
    """(height, width) of a box of this area and this width by height, in whole pixels."""
    width = round(math.sqrt(area * aspect))
    return round(width / aspect), width


def random_corner(down, right):
    """(top, left) of a box that can be moved so far down and to the right."""
    return random.randint(0, down), random.randint(0, right)


def _seen(middle, length, limit):
    """(first place, number of places) of what lies within `limit` of a stretch around `middle`."""
    first = max(middle - length // 2, 0)
    return first, min(middle + length // 2, limit) - first


def get_erase_params(np_img, scale, ratio, value, bounded, max_attempts):
    """(row, column, height, width, value) of a random box of a (C, H, W) array."""
    need_numpy(np_img)
    channels, height, width = np_img.shape
    for _ in range(max_attempts):
        high, wide = box_sides(random.uniform(*scale) * height * width, random.uniform(*ratio))
        if high >= height or wide >= width:
            continue
        if bounded:
            top, left = random_corner(height - high, width - wide)
        else:
            column, row = random.randint(0, width), random.randint(0, height)
            (top, high), (left, wide) = _seen(row, high, height), _seen(column, wide, width)
        return top, left, high, wide, _filling(value, (channels, high, wide))
    return 0, 0, height, width, np_img


def check_erasing(value):
    """What a box can be filled with: one value, one per channel, or noise for a string."""
    three = isinstance(value, tuple | list) and len(value) == 3
    if not three and not isinstance(value, numbers.Number | str | bytes):
        raise ValueError(
            "The value for erasing should be either a single value, or a string 'random', or a sequence of 3 elements "
            f"for RGB respectively, but got {value!r}."
        )


def _filling(value, shape):
    check_erasing(value)
    if isinstance(value, numbers.Number):
        return value
    if isinstance(value, str | bytes):
        return np.random.normal(size=shape)
    return np.broadcast_to(np.array(value, np.float64)[:, None, None], shape)


def erase(np_img, i, j, height, width, erase_value, inplace=False):
    """The box filled with `erase_value`."""
    need_numpy(np_img)
    out = np_img if inplace else np_img.copy()
    out[..., i : i + height, j : j + width] = erase_value
    return out


def check_linear(matrix, mean):
    """The length of the vectors that a square matrix and a mean vector fit."""
    if matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise ValueError(f"transformation_matrix should be a square matrix. Got shape {matrix.shape} instead.")
    length = mean.shape[0] if mean.ndim else 0
    if length != len(matrix):
        raise ValueError(
            f"mean_vector length {length} should match either one dimension of the square transformation_matrix "
            f"{matrix.shape}."
        )
    return len(matrix)


def linear_transform(np_img, transformation_matrix, mean_vector):
    """(flattened image - mean) @ matrix, in the image's shape."""
    need_numpy(np_img)
    if np_img.size != check_linear(transformation_matrix, mean_vector):
        raise ValueError(
            f"transformation_matrix shape {transformation_matrix.shape} not compatible with Numpy image shape "
            f"{np_img.shape}."
        )
    return np.dot(np_img.reshape(1, -1) - mean_vector, transformation_matrix).reshape(np_img.shape)


def _mixed(share, first, second):
    """`share` of each sample of `first`, and the rest of `second`'s."""
    share = share.reshape(-1, *[1] * (first.ndim - 1))
    return share * first + (1 - share) * second


def mix_up_single(batch_size, img, label, alpha=0.2):
    """Each image of the batch mixed with the next one, labels likewise."""
    following = np.arange(1, batch_size + 1) % batch_size
    share = np.random.beta(alpha, alpha, batch_size)
    return _mixed(share, img, img[following]), _mixed(share, label, label[following])


def mix_up_muti(tmp, batch_size, img, label, alpha=0.2):
    """Each image of the batch mixed with the batch before (kept in `tmp`), labels likewise."""
    share = np.random.beta(alpha, alpha, batch_size)
    if tmp.is_first:
        tmp.is_first = False
        share.fill(1)  # there is no batch before
    tmp.image, tmp.label = _mixed(share, img, tmp.image), _mixed(share, label, tmp.label)
    return tmp.image, tmp.label


def _convert_colours(images, is_hwc, function):
    need_numpy(images, "NumPy image")
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
