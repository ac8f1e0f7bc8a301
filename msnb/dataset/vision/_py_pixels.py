"""Transforms of pixel values for PIL images and numpy images (C, H, W): types, colours, erasing, mixing."""

import functools
import random
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, Flag, above_zero, of_type, positive, within
from msnb.dataset.core.tensor_op import Described, TensorOp
from msnb.dataset.vision import py_transforms_util as util
from msnb.dataset.vision._kinds import (
    AnyArea,
    AnyAspect,
    Attempts,
    Factor,
    Hue,
    Pair,
    Probability,
    Strength,
    check_statistics,
    validates_only,
)
from msnb.dataset.vision._pixels import AutoContrast as CheckedAutoContrast
from msnb.dataset.vision._py_arrays import check_erasing, check_linear, require_numpy

_Factor = Annotated[float | Pair, validates_only(Factor)]
_Hue = Annotated[float | Pair, validates_only(Hue)]
_Array = Annotated[np.ndarray, of_type(np.ndarray)]
_AtLeastOne = Annotated[int, within(1, FLOAT_MAX_INTEGER)]


def not_random(function: Any) -> Any:
    """Decorate a transform class to mark it as deterministic."""
    function.random = False
    return function


class PyOp(Described):
    """Base of transforms that call one function with the image and with their attributes.

    Attributes:
        _function (callable): The function.
        _argument_names (tuple): Names of the attributes that it takes after the image.
    """

    _function, _argument_names = None, ()

    def __call__(self, img: Any) -> Any:
        """Apply the function to an image."""
        return type(self)._function(img, *(getattr(self, name) for name in self._argument_names))


class ToTensor(PyOp):
    """Convert a PIL or numpy image to a (C, H, W) array in [0, 1].

    Args:
        output_type (numpy dtype, optional): Type of the result. Default: np.float32.

    Examples:
        >>> import mindspore.dataset.vision.py_transforms as PV
        >>> PV.ToTensor()
    """

    _function, _argument_names = util.to_tensor, ("output_type",)

    @answered
    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = output_type


class ToType(PyOp):
    """Cast a numpy image to another type.

    Args:
        output_type (numpy dtype): The type.
    """

    _function, _argument_names = util.to_type, ("output_type",)

    @answered
    def __init__(self, output_type: Any) -> None:
        self.output_type = output_type


class HWC2CHW(PyOp):
    """Move the channels from the last axis to the first."""

    _function = util.hwc_to_chw


class ToPIL(PyOp):
    """Convert a numpy image to a PIL image."""

    makes_pil = True
    _function = util.to_pil


class Decode(PyOp):
    """Decode bytes to a PIL image (RGB)."""

    _function = util.decode


class Normalize(PyOp):
    """Return ``(image - mean) / std`` per channel of a (C, H, W) array.

    Args:
        mean (sequence): Mean of each channel, in [0, 1].
        std (sequence): Standard deviation of each channel, in (0, 1].

    Raises:
        ValueError: If the lengths differ or a value is out of range.
    """

    _function, _argument_names = util.normalize, ("mean", "std")

    @answered
    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        check_statistics(mean, std, 0.0, 1.0)
        self.mean = mean
        self.std = std


class NormalizePad(Normalize):
    """Apply :class:`Normalize` and append a channel of zeros.

    Args:
        mean (sequence): Mean of each channel, in [0, 1].
        std (sequence): Standard deviation of each channel, in (0, 1].
        dtype (str, optional): 'float32' or 'float16'. Default: 'float32'.

    Raises:
        TypeError: If `dtype` is not a string.
        ValueError: If the lengths differ, a value is out of range or `dtype` is not supported.
    """

    _pad_channel = True
    _argument_names = ("mean", "std", "_pad_channel", "dtype")

    @answered
    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32") -> None:
        super().__init__(mean, std)
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ("float32", "float16"):
            raise ValueError("dtype only support float32 or float16.")
        self.dtype: str = dtype


class RandomColorAdjust(PyOp):
    """Change brightness, contrast, saturation and hue randomly, in random order.

    Args:
        brightness (Union[float, tuple], optional): (min, max) of the factor, or its maximum distance from 1.
            Default: (1, 1).
        contrast (Union[float, tuple], optional): The same for contrast. Default: (1, 1).
        saturation (Union[float, tuple], optional): The same for saturation. Default: (1, 1).
        hue (Union[float, tuple], optional): Range of the hue shift, within [-0.5, 0.5]. Default: (0, 0).
    """

    _function, _argument_names = util.random_color_adjust, ("brightness", "contrast", "saturation", "hue")

    @checked
    def __init__(
        self, brightness: _Factor = (1, 1), contrast: _Factor = (1, 1), saturation: _Factor = (1, 1), hue: _Hue = (0, 0)
    ):
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue


class Grayscale(PyOp):
    """Convert a PIL image to gray.

    Args:
        num_output_channels (int, optional): 1 or 3. Default: 1.
    """

    _function, _argument_names = util.grayscale, ("num_output_channels",)

    @answered
    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueError(
                f"Number of channels of the output grayscale image should be either 1 or 3. Got {num_output_channels}."
            )
        self.num_output_channels: int = num_output_channels


class RandomGrayscale(Described):
    """Convert a PIL image to gray with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.1.
    """

    @checked
    def __init__(self, prob: Probability = 0.1):
        self.prob = prob

    def __call__(self, img: Any) -> Any:
        """Convert the PIL image to gray, or return it unchanged."""
        channels = 1 if img.mode == "L" else 3
        return util.grayscale(img, num_output_channels=channels) if self.prob > random.random() else img


class RandomErasing(Described):
    """Erase a random box of a (C, H, W) array with probability `prob` (Zhong et al., 2017).

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
        scale (sequence, optional): Range of the box's fraction of the area. Default: (0.02, 0.33).
        ratio (sequence, optional): Range of width / height. Default: (0.3, 3.3).
        value (Union[int, str, sequence], optional): Fill value, one value per channel, or 'random' for noise.
            Default: 0.
        inplace (bool, optional): True to change the array in place. Default: False.
        max_attempts (int, optional): Attempts before nothing is erased. Default: 10.
    """

    @checked
    def __init__(
        self,
        prob: Annotated[float, within(0.0, 1.0)] = 0.5,
        scale: Annotated[Pair, validates_only(AnyArea)] = (0.02, 0.33),
        ratio: Annotated[Pair, validates_only(AnyAspect)] = (0.3, 3.3),
        value: Any = 0,
        inplace: Flag = False,
        max_attempts: Attempts = 10,
    ) -> None:
        check_erasing(value)
        self.prob: float = prob
        self.scale: Pair = scale
        self.ratio: Pair = ratio
        self.max_attempts: Attempts = max_attempts
        self.value: int = value
        self.inplace: Flag = inplace

    def __call__(self, np_img: Any) -> Any:
        """Erase a random box of the array with probability `prob`, or return the array unchanged."""
        if self.prob > random.random():
            box = util.get_erase_params(np_img, self.scale, self.ratio, self.value, True, self.max_attempts)
            return util.erase(np_img, *box, self.inplace)
        return np_img


class Cutout(Described):
    """Set random squares of a (C, H, W) array to zero (DeVries and Taylor, 2017).

    Args:
        length (int): Side length of each square.
        num_patches (int, optional): Number of squares. Default: 1.
    """

    @checked
    def __init__(self, length: _AtLeastOne, num_patches: _AtLeastOne = 1):
        self.length = length
        self.num_patches = num_patches

    def __call__(self, np_img: Any) -> Any:
        """Set the squares of the array to zero."""
        require_numpy(np_img)
        _, height, width = np_img.shape
        share = self.length * self.length / (height * width)
        for _ in range(self.num_patches):
            np_img = util.erase(np_img, *util.get_erase_params(np_img, (share, share), (1, 1), 0, False, 1))
        return np_img


class LinearTransformation(Described):
    """Return ``(image - mean) @ matrix`` of the flattened image (whitening).

    Args:
        transformation_matrix (numpy.ndarray): (D, D), D = C * H * W.
        mean_vector (numpy.ndarray): (D,).
    """

    @checked
    def __init__(self, transformation_matrix: _Array, mean_vector: _Array):
        check_linear(transformation_matrix, mean_vector)
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def __call__(self, np_img: Any) -> Any:
        """Return the transformed array."""
        return util.linear_transform(np_img, self.transformation_matrix, self.mean_vector)


class MixUp(Described):
    """Mix images of a batch with each other or with the previous batch, and labels likewise (Zhang et al., 2018).

    Args:
        batch_size (int): Images per batch.
        alpha (float): Value of both parameters of the beta distribution of the mixing weight.
        is_single (bool, optional): True to mix images of the same batch. Default: True.
    """

    @checked
    def __init__(self, batch_size: _AtLeastOne, alpha: Annotated[float, positive], is_single: Flag = True):
        self.batch_size = batch_size
        self.alpha: float = alpha
        self.is_single: Flag = is_single
        self.is_first: bool = True
        self.image: int = 0
        self.label: int = 0

    def __call__(self, image: Any, label: Any) -> Any:
        """Return the mixed images and labels."""
        mix = util.mix_up_single if self.is_single else functools.partial(util.mix_up_muti, self)
        return mix(self.batch_size, image, label, self.alpha)


class RgbToHsv(PyOp):
    """Convert RGB to HSV, both in [0, 1].

    Args:
        is_hwc (bool, optional): True if the channels are last. Default: False.
    """

    _function, _argument_names = util.rgb_to_hsvs, ("is_hwc",)

    @answered
    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc: bool = is_hwc


class HsvToRgb(PyOp):
    """Convert HSV to RGB, both in [0, 1].

    Args:
        is_hwc (bool, optional): True if the channels are last. Default: False.
    """

    _function, _argument_names = util.hsv_to_rgbs, ("is_hwc",)

    @answered
    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc: bool = is_hwc


class RandomColor(PyOp):
    """Multiply the saturation of a PIL image by a random factor.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).
    """

    _function, _argument_names = util.random_color, ("degrees",)

    @checked
    def __init__(self, degrees: Strength = (0.1, 1.9)):
        self.degrees = degrees


class RandomSharpness(PyOp):
    """Multiply the sharpness of a PIL image by a random factor.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).
    """

    _function, _argument_names = util.random_sharpness, ("degrees",)

    @checked
    def __init__(self, degrees: Strength = (0.1, 1.9)):
        self.degrees = degrees


class AutoContrast(PyOp):
    """Stretch each channel of a PIL image to the full range.

    Args:
        cutoff (float, optional): Percent of the histogram to clip at each end. Default: 0.0.
        ignore (Union[int, sequence], optional): Values to exclude. Default: None.
    """

    _function, _argument_names = util.auto_contrast, ("cutoff", "ignore")

    @answered
    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        CheckedAutoContrast(cutoff, ignore)
        self.cutoff: float = cutoff
        self.ignore: Any = ignore


class Invert(PyOp):
    """Invert a PIL image."""

    _function = util.invert_color


class Equalize(PyOp):
    """Equalize the histogram of each channel of a PIL image."""

    _function = util.equalize


class UniformAugment(Described):
    """Apply randomly chosen transforms, each with a random probability.

    Args:
        transforms (list): Python transforms.
        num_ops (int, optional): Number of transforms to choose. Default: 2.
    """

    @checked
    def __init__(self, transforms: Annotated[list, of_type(list)], num_ops: Annotated[int, above_zero(int)] = 2):
        if not transforms:
            raise ValueError("transforms list is empty.")
        if any(isinstance(t, TensorOp) for t in transforms):
            raise ValueError("transform list only accepts Python operations.")
        if len(transforms) < num_ops:
            raise ValueError("num_ops cannot be greater than the length of transforms list.")
        self.transforms: list[Any] = transforms
        self.num_ops: int = num_ops

    def __call__(self, img: Any) -> Any:
        """Return the changed PIL image."""
        return util.uniform_augment(img, self.transforms.copy(), self.num_ops)
