"""Transforms of PIL images that move pixels: crops, flips, sizes, rotation. Python operators in MindSpore."""

import random
from typing import Annotated, Any

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, within
from msnb.dataset.core.tensor_op import Described
from msnb.dataset.vision import py_transforms_util as util
from msnb.dataset.vision._kinds import (
    Area,
    Aspect,
    Attempts,
    BorderMode,
    CropSize,
    Degrees,
    FillValue,
    Interpolation,
    Moves,
    Pair,
    Probability,
    ResizeSize,
    Scaling,
    Shear,
    Sides,
    as_given,
    both_axes,
    pair,
)
from msnb.dataset.vision._py_pixels import PyOp
from msnb.dataset.vision.utils import Border, Inter

DE_PY_BORDER_TYPE = {border: border.value for border in Border}

# The numbers that PIL gives its filters.
DE_PY_INTER_MODE = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.CUBIC: 3}


_Size = Annotated[int | Pair, as_given(CropSize)]
_Degrees = Annotated[float | Pair, as_given(Degrees)]


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

    @checked
    def __init__(
        self,
        size: _Size,
        padding: Sides | None = None,
        pad_if_needed: Flag = False,
        fill_value: FillValue = 0,
        padding_mode: BorderMode = Border.CONSTANT,
    ):
        self.size = size
        self.padding = padding or (0, 0, 0, 0)
        self.pad_if_needed = pad_if_needed
        self.fill_value = fill_value
        self.padding_mode = padding_mode.value


class RandomHorizontalFlip(PyOp):
    """Left and right exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    _function, _given = util.random_horizontal_flip, ("prob",)

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob


class RandomVerticalFlip(PyOp):
    """Top and bottom exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    _function, _given = util.random_vertical_flip, ("prob",)

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob


class Resize(PyOp):
    """A PIL image in another size.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
    """

    _function, _given = util.resize, ("size", "interpolation")

    @checked
    def __init__(
        self, size: Annotated[int | Pair, as_given(ResizeSize)], interpolation: Interpolation = Inter.BILINEAR
    ):
        self.size = size
        self.interpolation: Any = util.method(interpolation)


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

    @checked
    def __init__(
        self,
        size: _Size,
        scale: Area = (0.08, 1.0),
        ratio: Aspect = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Interpolation = Inter.BILINEAR,
        max_attempts: Attempts = 10,
    ):
        self.size = size
        self.scale = scale
        self.ratio = ratio
        self.interpolation: Any = util.method(interpolation)
        self.max_attempts = max_attempts


class CenterCrop(PyOp):
    """The middle of a PIL image.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
    """

    _function, _given = util.center_crop, ("size",)

    @checked
    def __init__(self, size: _Size):
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

    @checked
    def __init__(
        self,
        degrees: _Degrees,
        resample: Interpolation = Inter.NEAREST,
        expand: Flag = False,
        center: Annotated[tuple, pair] | None = None,
        fill_value: FillValue = 0,
    ):
        self.resample: Any = util.method(resample)
        self.degrees = degrees
        self.expand: Flag = expand
        self.center: tuple[Any, ...] | None = center
        self.fill_value: FillValue = fill_value


class FiveCrop(PyOp):
    """The four corners and the middle of a PIL image, a tuple.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
    """

    _function, _given = util.five_crop, ("size",)

    @checked
    def __init__(self, size: _Size):
        self.size = size


class TenCrop(PyOp):
    """:class:`FiveCrop` of a PIL image and of its mirror image, a tuple.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
        use_vertical_flip (bool, optional): Whether top and bottom are exchanged instead of left and right. Default:
            False.
    """

    _function, _given = util.ten_crop, ("size", "use_vertical_flip")

    @checked
    def __init__(self, size: CropSize, use_vertical_flip: Flag = False):
        self.size = size
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

    @checked
    def __init__(
        self,
        padding: Annotated[int | Pair, as_given(Sides)],
        fill_value: FillValue = 0,
        padding_mode: BorderMode = Border.CONSTANT,
    ):
        self.padding = padding
        self.fill_value = fill_value
        self.padding_mode = padding_mode.value


class RandomPerspective(Described):
    """The corners of a PIL image moved at random, at random.

    Args:
        distortion_scale (float, optional): How far, in [0, 1]. Default: 0.5.
        prob (float, optional): Probability of it. Default: 0.5.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BICUBIC.
    """

    @checked
    def __init__(
        self,
        distortion_scale: Annotated[float, within(0.0, 1.0)] = 0.5,
        prob: Annotated[float, within(0.0, 1.0)] = 0.5,
        interpolation: Interpolation = Inter.BICUBIC,
    ):
        self.distortion_scale: float = distortion_scale
        self.prob: float = prob
        self.interpolation: Any = util.method(interpolation)

    def __call__(self, img: Any) -> Any:
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

    @checked
    def __init__(
        self,
        degrees: Degrees,
        translate: Moves | None = None,
        scale: Scaling | None = None,
        shear: Annotated[float | Pair, as_given(Shear)] | None = None,
        resample: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        if isinstance(shear, int | float):
            shear = (-shear, shear)
        elif shear is not None:
            shear = both_axes(shear)
        self.degrees = degrees
        self.translate = translate
        self.scale_ranges = scale
        self.shear = shear
        self.resample: Any = util.method(resample)
        self.fill_value = fill_value
