"""Transforms of PIL images that move pixels: crops, flips, sizes, rotation. Python operators in MindSpore."""

import random

from msnb.dataset.core.validator_helpers import check_2tuple, check_value, type_check
from msnb.dataset.vision import _checks as checks
from msnb.dataset.vision import py_transforms_util as util
from msnb.dataset.vision._py_pixels import PyOp
from msnb.dataset.vision.utils import Border, Inter

DE_PY_BORDER_TYPE = {border: border.value for border in Border}

# The numbers that PIL gives its filters.
DE_PY_INTER_MODE = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.CUBIC: 3}


def _interpolation(value, name="interpolation"):
    type_check(value, (Inter,), name)
    return util.method(value)


def _border(padding_mode):
    type_check(padding_mode, (Border,), "padding_mode")
    return padding_mode.value


class RandomCrop(PyOp):
    """A part of the image at a random place.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
        padding (Union[int, sequence], optional): Pixels put around first. Default: None.
        pad_if_needed (bool, optional): Whether an image that is too small is padded. Default: False.
        fill_value (Union[int, tuple], optional): Value of the padding. Default: 0.
        padding_mode (Border, optional): What the padding is. Default: Border.CONSTANT.
    """

    _function = util.random_crop
    _given = ("size", "padding", "pad_if_needed", "fill_value", "padding_mode")

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        checks.crop_size(size)
        type_check(pad_if_needed, (bool,), "pad_if_needed")
        self.size = size
        self.padding = (0, 0, 0, 0) if padding is None else checks.padding_of(padding)
        self.pad_if_needed = pad_if_needed
        checks.fill_values(fill_value)
        self.fill_value = fill_value
        self.padding_mode = _border(padding_mode)


class RandomHorizontalFlip(PyOp):
    """Left and right exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    _function, _given = util.random_horizontal_flip, ("prob",)

    def __init__(self, prob=0.5):
        self.prob = checks.probability(prob)


class RandomVerticalFlip(PyOp):
    """Top and bottom exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    _function, _given = util.random_vertical_flip, ("prob",)

    def __init__(self, prob=0.5):
        self.prob = checks.probability(prob)


class Resize(PyOp):
    """A PIL image in another size.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
    """

    _function, _given = util.resize, ("size", "interpolation")

    def __init__(self, size, interpolation=Inter.BILINEAR):
        checks.resize_size(size)
        self.size = size
        self.interpolation = _interpolation(interpolation)


class RandomResizedCrop(PyOp):
    """A random part of the image (random area and ratio), resized.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one for both.
        scale (tuple, optional): Range of the part's share of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
        max_attempts (int, optional): Tries before the middle is taken. Default: 10.
    """

    _function, _given = util.random_resize_crop, ("size", "scale", "ratio", "interpolation", "max_attempts")

    def __init__(
        self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=Inter.BILINEAR, max_attempts=10
    ):
        checks.crop_box_arguments(size, scale, ratio, max_attempts)
        self.size = size
        self.scale = scale
        self.ratio = ratio
        self.interpolation = _interpolation(interpolation)
        self.max_attempts = max_attempts


class CenterCrop(PyOp):
    """The middle of a PIL image.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
    """

    _function, _given = util.center_crop, ("size",)

    def __init__(self, size):
        checks.crop_size(size)
        self.size = size


class RandomRotation(PyOp):
    """A PIL image turned by an angle that is drawn for each.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle; a number d stands for (-d, d).
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        expand (bool, optional): Whether the result is as large as needed to hold everything. Default: False.
        center (tuple, optional): (x, y) of the fixed point. Default: None, the middle.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.
    """

    _function, _given = util.random_rotation, ("degrees", "resample", "expand", "center", "fill_value")

    def __init__(self, degrees, resample=Inter.NEAREST, expand=False, center=None, fill_value=0):
        checks.degrees_range(degrees)
        checks.of_kind(bool, expand=expand)
        if center is not None:
            check_2tuple(center, "center")
        checks.fill_values(fill_value)
        self.resample = _interpolation(resample, "resample")
        self.degrees, self.expand, self.center, self.fill_value = degrees, expand, center, fill_value


class FiveCrop(PyOp):
    """The four corners and the middle of a PIL image, a tuple.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
    """

    _function, _given = util.five_crop, ("size",)

    def __init__(self, size):
        checks.crop_size(size)
        self.size = size


class TenCrop(PyOp):
    """:class:`FiveCrop` of a PIL image and of its mirror image, a tuple.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
        use_vertical_flip (bool, optional): Whether top and bottom are exchanged instead of left and right. Default:
            False.
    """

    _function, _given = util.ten_crop, ("size", "use_vertical_flip")

    def __init__(self, size, use_vertical_flip=False):
        self.size = checks.crop_size(size)
        checks.of_kind(bool, use_vertical_flip=use_vertical_flip)
        self.use_vertical_flip = use_vertical_flip


class Pad(PyOp):
    """More pixels around a PIL image.

    Args:
        padding (Union[int, sequence]): How many: all around, (left and right, top and bottom) or (left, top, right,
            bottom).
        fill_value (Union[int, tuple], optional): Their value for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): What they are. Default: Border.CONSTANT.
    """

    _function, _given = util.pad, ("padding", "fill_value", "padding_mode")

    def __init__(self, padding, fill_value=0, padding_mode=Border.CONSTANT):
        checks.padding_of(padding)
        checks.fill_values(fill_value)
        self.padding = padding
        self.fill_value = fill_value
        self.padding_mode = _border(padding_mode)


class RandomPerspective:
    """The corners of a PIL image moved at random, at random.

    Args:
        distortion_scale (float, optional): How far, in [0, 1]. Default: 0.5.
        prob (float, optional): Probability of it. Default: 0.5.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BICUBIC.
    """

    def __init__(self, distortion_scale=0.5, prob=0.5, interpolation=Inter.BICUBIC):
        check_value(distortion_scale, (0.0, 1.0), "distortion_scale")
        check_value(prob, (0.0, 1.0), "prob")
        self.distortion_scale = distortion_scale
        self.prob = prob
        self.interpolation = _interpolation(interpolation)

    def __call__(self, img):
        """The PIL image, maybe distorted."""
        util.need_pil(img)
        if self.prob > random.random():
            return util.perspective(img, *util.get_perspective_params(img, self.distortion_scale), self.interpolation)
        return img


class RandomAffine(PyOp):
    """A PIL image turned, moved, scaled and sheared at random around its centre.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle; a number d stands for (-d, d).
        translate (sequence, optional): Greatest move, as shares of width and height. Default: None.
        scale (sequence, optional): Range of the factor. Default: None, 1.
        shear (Union[int, float, sequence], optional): Range of the shear angle: d, (x, X) or (x, X, y, Y). Default:
            None.
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.
    """

    _function = util.random_affine
    _given = ("degrees", "translate", "scale_ranges", "shear", "resample", "fill_value")

    def __init__(self, degrees, translate=None, scale=None, shear=None, resample=Inter.NEAREST, fill_value=0):
        checks.affine_arguments(degrees, translate, scale, shear)
        checks.fill_values(fill_value)
        if isinstance(shear, int | float):
            shear = (-shear, shear)
        elif shear is not None and len(shear) == 2:
            shear = (shear[0], shear[1], 0.0, 0.0)
        self.degrees = checks.degrees_range(degrees)
        self.translate = translate
        self.scale_ranges = scale
        self.shear = shear
        self.resample = _interpolation(resample, "resample")
        self.fill_value = fill_value
