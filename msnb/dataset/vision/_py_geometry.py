"""Transforms of PIL images that move pixels: crops, flips, resizing, rotation.

They are Python operators in MindSpore.
"""

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
    ranges_of_axes,
    two_tuple,
    validates_only,
)
from msnb.dataset.vision._py_pixels import PyOp
from msnb.dataset.vision.utils import Border, Inter

DE_PY_BORDER_TYPE = {border: border.value for border in Border}

# Pillow's constants for its resampling filters.
DE_PY_INTER_MODE = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.CUBIC: 3}


_Size = Annotated[int | Pair, validates_only(CropSize)]
_Degrees = Annotated[float | Pair, validates_only(Degrees)]


class RandomCrop(PyOp):
    """Crop the image at a random position.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.
        padding (Union[int, sequence], optional): Padding before the crop. Default: None.
        pad_if_needed (bool, optional): True to pad an image that is too small. Default: False.
        fill_value (Union[int, tuple], optional): Value of the padding. Default: 0.
        padding_mode (Border, optional): Padding mode. Default: Border.CONSTANT.
    """

    _function = util.random_crop
    _argument_names = ("size", "padding", "pad_if_needed", "fill_value", "padding_mode")

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
    """Flip the image horizontally with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    _function, _argument_names = util.random_horizontal_flip, ("prob",)

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob


class RandomVerticalFlip(PyOp):
    """Flip the image vertically with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    _function, _argument_names = util.random_vertical_flip, ("prob",)

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob


class Resize(PyOp):
    """Resize a PIL image.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
    """

    _function, _argument_names = util.resize, ("size", "interpolation")

    @checked
    def __init__(
        self, size: Annotated[int | Pair, validates_only(ResizeSize)], interpolation: Interpolation = Inter.BILINEAR
    ):
        self.size = size
        self.interpolation: Any = util.pillow_resampling(interpolation)


class RandomResizedCrop(PyOp):
    """Crop a random box (random area and aspect ratio), then resize it.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one int for both.
        scale (tuple, optional): Range of the crop's fraction of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
        max_attempts (int, optional): Attempts before a center crop is used. Default: 10.
    """

    _function, _argument_names = util.random_resize_crop, ("size", "scale", "ratio", "interpolation", "max_attempts")

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
        self.interpolation: Any = util.pillow_resampling(interpolation)
        self.max_attempts = max_attempts


class CenterCrop(PyOp):
    """Crop the center of a PIL image.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.
    """

    _function, _argument_names = util.center_crop, ("size",)

    @checked
    def __init__(self, size: _Size):
        self.size = size


class RandomRotation(PyOp):
    """Rotate a PIL image. The angle is drawn uniformly from a range.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle. A number d means (-d, d).
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        expand (bool, optional): True to enlarge the result until the rotated image fits. Default: False.
        center (tuple, optional): Rotation center (x, y). Default: None, the image center.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
    """

    _function, _argument_names = util.random_rotation, ("degrees", "resample", "expand", "center", "fill_value")

    @checked
    def __init__(
        self,
        degrees: _Degrees,
        resample: Interpolation = Inter.NEAREST,
        expand: Flag = False,
        center: Annotated[tuple, two_tuple] | None = None,
        fill_value: FillValue = 0,
    ):
        self.resample: Any = util.pillow_resampling(resample)
        self.degrees = degrees
        self.expand: Flag = expand
        self.center: tuple[Any, ...] | None = center
        self.fill_value: FillValue = fill_value


class FiveCrop(PyOp):
    """Return a tuple of crops: the four corners and the center of a PIL image.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.
    """

    _function, _argument_names = util.five_crop, ("size",)

    @checked
    def __init__(self, size: _Size):
        self.size = size


class TenCrop(PyOp):
    """Return a tuple of crops: :class:`FiveCrop` of a PIL image and of the flipped image.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.
        use_vertical_flip (bool, optional): True to flip vertically instead of horizontally. Default:
            False.
    """

    _function, _argument_names = util.ten_crop, ("size", "use_vertical_flip")

    @checked
    def __init__(self, size: CropSize, use_vertical_flip: Flag = False):
        self.size = size
        self.use_vertical_flip = use_vertical_flip


class Pad(PyOp):
    """Pad a PIL image.

    Args:
        padding (Union[int, sequence]): Padding of all sides, (left and right, top and bottom) or
            (left, top, right, bottom).
        fill_value (Union[int, tuple], optional): Fill value for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): Padding mode. Default: Border.CONSTANT.
    """

    _function, _argument_names = util.pad, ("padding", "fill_value", "padding_mode")

    @checked
    def __init__(
        self,
        padding: Annotated[int | Pair, validates_only(Sides)],
        fill_value: FillValue = 0,
        padding_mode: BorderMode = Border.CONSTANT,
    ):
        self.padding = padding
        self.fill_value = fill_value
        self.padding_mode = padding_mode.value


class RandomPerspective(Described):
    """Move the corners of a PIL image randomly, with probability `prob`.

    Args:
        distortion_scale (float, optional): Maximum distance, in [0, 1]. Default: 0.5.
        prob (float, optional): Probability that the image is changed. Default: 0.5.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BICUBIC.
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
        self.interpolation: Any = util.pillow_resampling(interpolation)

    def __call__(self, img: Any) -> Any:
        """Distort the PIL image, or return it unchanged."""
        util.require_pil(img)
        if self.prob > random.random():
            return util.perspective(img, *util.get_perspective_params(img, self.distortion_scale), self.interpolation)
        return img


class RandomAffine(PyOp):
    """Rotate, translate, scale and shear a PIL image randomly around its center.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle. A number d means (-d, d).
        translate (sequence, optional): Maximum translation, as fractions of width and height. Default: None.
        scale (sequence, optional): Range of the factor. Default: None, 1.
        shear (Union[int, float, sequence], optional): Range of the shear angle: (min x, max x) or
            (min x, max x, min y, max y). A number d means (-d, d). Default: None.
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
    """

    _function = util.random_affine
    _argument_names = ("degrees", "translate", "scale_ranges", "shear", "resample", "fill_value")

    @checked
    def __init__(
        self,
        degrees: Degrees,
        translate: Moves | None = None,
        scale: Scaling | None = None,
        shear: Annotated[float | Pair, validates_only(Shear)] | None = None,
        resample: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        if isinstance(shear, int | float):
            shear = (-shear, shear)
        elif shear is not None:
            shear = ranges_of_axes(shear)
        self.degrees = degrees
        self.translate = translate
        self.scale_ranges = scale
        self.shear = shear
        self.resample: Any = util.pillow_resampling(resample)
        self.fill_value = fill_value
