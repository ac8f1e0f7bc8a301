"""Transforms of PIL images and numpy images in (C, H, W) that change pixels: types, colours, erasing, mixing."""

import random

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.core.validator_helpers import check_positive, check_value, check_value_normalize_std, type_check
from msnb.dataset.vision import _checks as checks
from msnb.dataset.vision import py_transforms_util as util


def not_random(function):
    """Mark a transform class as giving the same result each time."""
    function.random = False
    return function


class ToTensor:
    """A PIL or numpy image as (C, H, W) in [0, 1].

    Args:
        output_type (numpy dtype, optional): Type of the result. Default: np.float32.

    Examples:
        >>> import mindspore.dataset.vision.py_transforms as PV
        >>> PV.ToTensor()
    """

    def __init__(self, output_type=np.float32):
        self.output_type = output_type

    def __call__(self, img):
        """The image as an array."""
        return util.to_tensor(img, self.output_type)


class ToType:
    """A numpy image in another type.

    Args:
        output_type (numpy dtype): The type.
    """

    def __init__(self, output_type):
        self.output_type = output_type

    def __call__(self, img):
        """The array in that type."""
        return util.to_type(img, self.output_type)


class HWC2CHW:
    """Channels from the last axis to the first."""

    def __call__(self, img):
        """The array in (C, H, W)."""
        return util.hwc_to_chw(img)


class ToPIL:
    """A numpy image as a PIL image."""

    def __call__(self, img):
        """The PIL image."""
        return util.to_pil(img)


class Decode:
    """The PIL image (RGB) in encoded bytes."""

    def __call__(self, img):
        """The PIL image."""
        return util.decode(img)


def _check_normalize(mean, std):
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for value in mean:
        check_value(value, (0.0, 1.0), "mean_value")
    for value in std:
        check_value_normalize_std(value, (0.0, 1.0), "std_value")


class Normalize:
    """``(image - mean) / std`` per channel of a (C, H, W) array.

    Args:
        mean (sequence): Mean of each channel, in [0, 1].
        std (sequence): Standard deviation of each channel, in (0, 1].

    Raises:
        ValueError: If the lengths differ or a value is out of range.
    """

    def __init__(self, mean, std):
        _check_normalize(mean, std)
        self.mean = mean
        self.std = std

    def __call__(self, img):
        """The normalised array."""
        return util.normalize(img, self.mean, self.std)


class NormalizePad:
    """:class:`Normalize` with a further channel of zeros.

    Args:
        mean (sequence): Mean of each channel, in [0, 1].
        std (sequence): Standard deviation of each channel, in (0, 1].
        dtype (str, optional): 'float32' or 'float16'. Default: 'float32'.

    Raises:
        TypeError: If `dtype` is no string.
        ValueError: If the lengths differ, a value is out of range or `dtype` is another.
    """

    def __init__(self, mean, std, dtype="float32"):
        _check_normalize(mean, std)
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ("float32", "float16"):
            raise ValueError("dtype only support float32 or float16.")
        self.mean = mean
        self.std = std
        self.dtype = dtype

    def __call__(self, img):
        """The normalised array."""
        return util.normalize(img, self.mean, self.std, pad_channel=True, dtype=self.dtype)


class RandomColorAdjust:
    """Brightness, contrast, saturation and hue changed at random, in random order.

    Args:
        brightness (Union[float, tuple], optional): Range of the factor, or its distance from 1. Default: (1, 1).
        contrast (Union[float, tuple], optional): The same for contrast. Default: (1, 1).
        saturation (Union[float, tuple], optional): The same for saturation. Default: (1, 1).
        hue (Union[float, tuple], optional): Range of the turn, within [-0.5, 0.5]. Default: (0, 0).
    """

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        checks.factor_range(brightness, "brightness")
        checks.factor_range(contrast, "contrast")
        checks.factor_range(saturation, "saturation")
        checks.factor_range(hue, "hue", center=0, bound=(-0.5, 0.5))
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue

    def __call__(self, img):
        """The changed PIL image."""
        return util.random_color_adjust(img, self.brightness, self.contrast, self.saturation, self.hue)


class Grayscale:
    """A PIL image in gray.

    Args:
        num_output_channels (int, optional): 1 or 3. Default: 1.
    """

    def __init__(self, num_output_channels=1):
        if num_output_channels not in (1, 3):
            raise ValueError(
                f"Number of channels of the output grayscale image should be either 1 or 3. Got {num_output_channels}."
            )
        self.num_output_channels = num_output_channels

    def __call__(self, img):
        """The gray PIL image."""
        return util.grayscale(img, num_output_channels=self.num_output_channels)


class RandomGrayscale:
    """A PIL image in gray, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.1.
    """

    def __init__(self, prob=0.1):
        self.prob = checks.probability(prob)

    def __call__(self, img):
        """The PIL image, maybe gray."""
        channels = 1 if img.mode == "L" else 3
        return util.grayscale(img, num_output_channels=channels) if self.prob > random.random() else img


class RandomErasing:
    """A random box of a (C, H, W) array erased, at random (Zhong et al., 2017).

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
        scale (sequence, optional): Range of the box's share of the area. Default: (0.02, 0.33).
        ratio (sequence, optional): Range of width / height. Default: (0.3, 3.3).
        value (Union[int, str, sequence], optional): What it is filled with: a value, one per channel, or 'random'.
            Default: 0.
        inplace (bool, optional): Whether the array itself is changed. Default: False.
        max_attempts (int, optional): Tries before nothing is erased. Default: 10.
    """

    def __init__(self, prob=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False, max_attempts=10):
        check_value(prob, (0.0, 1.0), "prob")
        checks.crop_box_arguments(1, tuple(scale), tuple(ratio), max_attempts)
        if not (isinstance(value, int | float | str | bytes) or isinstance(value, tuple | list) and len(value) == 3):
            raise ValueError(
                "The value for erasing should be either a single value, or a string 'random', or a sequence of 3 "
                "elements for RGB "
                f"respectively, but got {value!r}."
            )
        type_check(inplace, (bool,), "inplace")
        self.prob = prob
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace
        self.max_attempts = max_attempts

    def __call__(self, np_img):
        """The array, maybe with a box erased."""
        if self.prob > random.random():
            box = util.get_erase_params(np_img, self.scale, self.ratio, self.value, True, self.max_attempts)
            return util.erase(np_img, *box, self.inplace)
        return np_img


class Cutout:
    """Random squares of a (C, H, W) array set to zero (DeVries and Taylor, 2017).

    Args:
        length (int): Side of each square.
        num_patches (int, optional): How many. Default: 1.
    """

    def __init__(self, length, num_patches=1):
        check_value(length, (1, 16777216))
        check_value(num_patches, (1, 16777216))
        self.length = length
        self.num_patches = num_patches

    def __call__(self, np_img):
        """The array with the squares cut out."""
        if not isinstance(np_img, np.ndarray):
            raise TypeError(f"img should be NumPy array. Got {type(np_img)}.")
        _, height, width = np_img.shape
        share = self.length * self.length / (height * width)
        for _ in range(self.num_patches):
            np_img = util.erase(np_img, *util.get_erase_params(np_img, (share, share), (1, 1), 0, False, 1))
        return np_img


class LinearTransformation:
    """``(image - mean) @ matrix`` of the flattened image (whitening).

    Args:
        transformation_matrix (numpy.ndarray): (D, D), D = C * H * W.
        mean_vector (numpy.ndarray): (D,).
    """

    def __init__(self, transformation_matrix, mean_vector):
        type_check(transformation_matrix, (np.ndarray,), "transformation_matrix")
        type_check(mean_vector, (np.ndarray,), "mean_vector")
        if transformation_matrix.shape[0] != transformation_matrix.shape[1]:
            raise ValueError(
                f"transformation_matrix should be a square matrix. Got shape {transformation_matrix.shape} instead."
            )
        if mean_vector.shape[0] != transformation_matrix.shape[0]:
            raise ValueError(
                f"mean_vector length {mean_vector.shape[0]} should match either one dimension of the square "
                f"transformation_matrix "
                f"{transformation_matrix.shape}."
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def __call__(self, np_img):
        """The transformed array."""
        return util.linear_transform(np_img, self.transformation_matrix, self.mean_vector)


class MixUp:
    """Images of a batch mixed with each other or with the batch before, labels likewise (Zhang et al., 2018).

    Args:
        batch_size (int): Images per batch.
        alpha (float): Both parameters of the beta distribution of the share.
        is_single (bool, optional): Whether images of the same batch are mixed. Default: True.
    """

    def __init__(self, batch_size, alpha, is_single=True):
        check_value(batch_size, (1, 16777216))
        check_positive(alpha, "alpha")
        type_check(is_single, (bool,), "is_single")
        self.image = 0
        self.label = 0
        self.is_first = True
        self.batch_size = batch_size
        self.alpha = alpha
        self.is_single = is_single

    def __call__(self, image, label):
        """The mixed images and labels."""
        if self.is_single:
            return util.mix_up_single(self.batch_size, image, label, self.alpha)
        return util.mix_up_muti(self, self.batch_size, image, label, self.alpha)


class RgbToHsv:
    """HSV of RGB, both in [0, 1].

    Args:
        is_hwc (bool, optional): Whether channels come last. Default: False.
    """

    def __init__(self, is_hwc=False):
        self.is_hwc = is_hwc

    def __call__(self, rgb_imgs):
        """The HSV array."""
        return util.rgb_to_hsvs(rgb_imgs, self.is_hwc)


class HsvToRgb:
    """RGB of HSV, both in [0, 1].

    Args:
        is_hwc (bool, optional): Whether channels come last. Default: False.
    """

    def __init__(self, is_hwc=False):
        self.is_hwc = is_hwc

    def __call__(self, hsv_imgs):
        """The RGB array."""
        return util.hsv_to_rgbs(hsv_imgs, self.is_hwc)


class RandomColor:
    """Saturation of a PIL image times a random factor.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).
    """

    def __init__(self, degrees=(0.1, 1.9)):
        self.degrees = checks.positive_degrees(degrees)

    def __call__(self, img):
        """The changed PIL image."""
        return util.random_color(img, self.degrees)


class RandomSharpness:
    """Sharpness of a PIL image times a random factor.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).
    """

    def __init__(self, degrees=(0.1, 1.9)):
        self.degrees = checks.positive_degrees(degrees)

    def __call__(self, img):
        """The changed PIL image."""
        return util.random_sharpness(img, self.degrees)


class AutoContrast:
    """Each channel of a PIL image stretched to the full range.

    Args:
        cutoff (float, optional): Percent of the lightest and darkest pixels to leave out, in [0, 100]. Default: 0.0.
        ignore (Union[int, sequence], optional): Values that do not count. Default: None.
    """

    def __init__(self, cutoff=0.0, ignore=None):
        from msnb.dataset.vision._pixels import AutoContrast as Checked

        Checked(cutoff, ignore)
        self.cutoff = cutoff
        self.ignore = ignore

    def __call__(self, img):
        """The changed PIL image."""
        return util.auto_contrast(img, self.cutoff, self.ignore)


class Invert:
    """The negative of a PIL image."""

    def __call__(self, img):
        """The negative."""
        return util.invert_color(img)


class Equalize:
    """Each channel of a PIL image with its histogram equalised."""

    def __call__(self, img):
        """The changed PIL image."""
        return util.equalize(img)


class UniformAugment:
    """Some of the transforms, chosen at random, each with a random probability.

    Args:
        transforms (list): Python transforms.
        num_ops (int, optional): How many are chosen. Default: 2.
    """

    def __init__(self, transforms, num_ops=2):
        type_check(transforms, (list,), "transforms")
        if not transforms:
            raise ValueError("transforms list is empty.")
        if any(isinstance(t, TensorOp) for t in transforms):
            raise ValueError("transform list only accepts Python operations.")
        type_check(num_ops, (int,), "num_ops")
        check_positive(num_ops, "num_ops")
        if num_ops > len(transforms):
            raise ValueError("num_ops cannot be greater than the length of transforms list.")
        self.transforms = transforms
        self.num_ops = num_ops

    def __call__(self, img):
        """The changed PIL image."""
        return util.uniform_augment(img, self.transforms.copy(), self.num_ops)
