"""Functions of numpy images (C, H, W) behind ``py_transforms``. Random numbers are drawn in MindSpore's order."""

import colorsys
import math
import numbers
import random

import numpy as np

from msnb.dataset.core.py_util_helpers import is_numpy


def require_numpy(img, expected="NumPy array"):
    """Raise TypeError unless `img` is an array."""
    if not is_numpy(img):
        raise TypeError(f"img should be {expected}. Got {type(img)}.")


def normalize(img, mean, std, pad_channel=False, dtype="float32"):
    """Return ``(img - mean) / std`` of a (C, H, W) image, with a channel of zeros if `pad_channel`."""
    require_numpy(img, "NumPy image")
    if img.ndim == 0:
        raise ValueError("img shape should be (C, H, W). Got ().")
    channels, lengths = len(img), {len(mean), len(std)}
    if len(lengths) == 2:
        raise ValueError("Length of mean and std must be equal.")
    if not lengths <= {1, channels}:
        raise ValueError(f"Length of mean and std must both be 1 or equal to the number of channels({channels}).")
    mean, std = (np.broadcast_to(np.array(v, img.dtype), channels)[:, None, None] for v in (mean, std))
    normalized = (img - mean) / std
    if not pad_channel:
        return normalized
    padded = np.zeros((channels + 1, *normalized.shape[1:]), np.result_type(normalized, np.float32))
    padded[:channels] = normalized
    return padded.astype(np.float16) if dtype == "float16" else padded


def hwc_to_chw(img):
    """Move the channels to the first axis."""
    require_numpy(img)
    return img.transpose(2, 0, 1).copy()


def to_type(img, output_type):
    """Cast the array to `output_type`."""
    require_numpy(img, "NumPy image")
    return img.astype(output_type)


def box_sides(area, aspect):
    """Return (height, width) of a box with this area and aspect ratio (width / height), rounded to integers."""
    width = round(math.sqrt(area * aspect))
    return round(width / aspect), width


def random_corner(down, right):
    """Draw the corner of a box: (top, left) with 0 <= top <= down and 0 <= left <= right."""
    return random.randint(0, down), random.randint(0, right)


def _clip_interval(center, length, limit):
    """Return (start, length) of an interval of the given length around `center`, clipped to [0, limit]."""
    first = max(center - length // 2, 0)
    return first, min(center + length // 2, limit) - first


def get_erase_params(np_img, scale, ratio, value, bounded, max_attempts):
    """Return (row, column, height, width, value) of a random box of a (C, H, W) array."""
    require_numpy(np_img)
    channels, height, width = np_img.shape
    for _ in range(max_attempts):
        box_height, box_width = box_sides(random.uniform(*scale) * height * width, random.uniform(*ratio))
        if box_height >= height or box_width >= width:
            continue
        if bounded:
            top, left = random_corner(height - box_height, width - box_width)
        else:
            column, row = random.randint(0, width), random.randint(0, height)
            (top, box_height), (left, box_width) = (
                _clip_interval(row, box_height, height),
                _clip_interval(column, box_width, width),
            )
        return top, left, box_height, box_width, _make_erase_values(value, (channels, box_height, box_width))
    return 0, 0, height, width, np_img


def check_erasing(value):
    """Check the fill value of a box: one value, one per channel, or a string for noise."""
    has_three = isinstance(value, tuple | list) and len(value) == 3
    if not has_three and not isinstance(value, numbers.Number | str | bytes):
        raise ValueError(
            "The value for erasing should be either a single value, or a string 'random', or a sequence of 3 elements "
            f"for RGB respectively, but got {value!r}."
        )


def _make_erase_values(value, shape):
    check_erasing(value)
    if isinstance(value, numbers.Number):
        return value
    if isinstance(value, str | bytes):
        return np.random.normal(size=shape)
    return np.broadcast_to(np.array(value, np.float64)[:, None, None], shape)


def erase(np_img, i, j, height, width, erase_value, inplace=False):
    """Fill the box with `erase_value`."""
    require_numpy(np_img)
    out = np_img if inplace else np_img.copy()
    out[..., i : i + height, j : j + width] = erase_value
    return out


def check_linear(matrix, mean):
    """Check the shapes (D, D) of a matrix and (D,) of a mean vector. Return D."""
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
    """Return ``(flattened image - mean) @ matrix`` in the image's shape."""
    require_numpy(np_img)
    if np_img.size != check_linear(transformation_matrix, mean_vector):
        raise ValueError(
            f"transformation_matrix shape {transformation_matrix.shape} not compatible with Numpy image shape "
            f"{np_img.shape}."
        )
    return np.dot(np_img.reshape(1, -1) - mean_vector, transformation_matrix).reshape(np_img.shape)


def _mix_examples(share, first, second):
    """Return ``share * first + (1 - share) * second``, with one share for each example."""
    share = share.reshape(-1, *[1] * (first.ndim - 1))
    return share * first + (1 - share) * second


def mix_up_single(batch_size, img, label, alpha=0.2):
    """Mix each image of the batch with the next image, and labels likewise."""
    following = np.arange(1, batch_size + 1) % batch_size
    share = np.random.beta(alpha, alpha, batch_size)
    return _mix_examples(share, img, img[following]), _mix_examples(share, label, label[following])


def mix_up_muti(tmp, batch_size, img, label, alpha=0.2):
    """Mix each image of the batch with the previous batch, which `tmp` stores, and labels likewise.

    An image without the axis of the batch stands for a batch of copies.
    """
    img = img[None] if img.ndim == 3 and len(img) != batch_size else img
    share = np.random.beta(alpha, alpha, batch_size)
    if tmp.is_first:
        tmp.is_first = False
        share.fill(1)  # there is no previous batch
    tmp.image, tmp.label = _mix_examples(share, img, tmp.image), _mix_examples(share, label, tmp.label)
    return tmp.image, tmp.label


def _convert_colors(images, is_hwc, function):
    require_numpy(images, "NumPy image")
    if images.ndim not in (3, 4):
        raise TypeError(f"img shape should be (H, W, C)/(N, H, W, C)/(C, H, W)/(N, C, H, W). Got {images.shape}.")
    axis = images.ndim - 1 if is_hwc else images.ndim - 3
    if images.shape[axis] != 3:
        raise TypeError(f"img should be 3 channels RGB img. Got {images.shape[axis]} channels.")
    planes = [np.take(images, i, axis).astype(np.float64) for i in range(3)]
    return np.stack(np.vectorize(function)(*planes), axis=axis)


def rgb_to_hsvs(np_rgb_imgs, is_hwc):
    """Convert RGB in [0, 1] to HSV in [0, 1]."""
    return _convert_colors(np_rgb_imgs, is_hwc, colorsys.rgb_to_hsv)


def hsv_to_rgbs(np_hsv_imgs, is_hwc):
    """Convert HSV in [0, 1] to RGB in [0, 1]."""
    return _convert_colors(np_hsv_imgs, is_hwc, colorsys.hsv_to_rgb)
