"""``mindspore.dataset.vision.transforms`` of MindSpore 2: each class replaces two classes of r1.1.

Arrays are processed with OpenCV, PIL images with Pillow.
"""

import inspect
from typing import Any, TypeVar

import numpy as np

from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.optional import cv2
from msnb.dataset.core.tensor_op import Described, TensorOp, as_array
from msnb.dataset.core.tensor_op import Implementation as Implementation
from msnb.dataset.core.tensor_op import PyTensorOperation as PyTensorOperation
from msnb.dataset.core.tensor_op import TensorOperation as ImageTensorOperation  # noqa: F401
from msnb.dataset.engine.sources.samples import read_file as bytes_of
from msnb.dataset.vision import _augment, _crops, _fixed_geometry, _fixed_pixels, _geometry, _headers, _pixels
from msnb.dataset.vision import py_transforms as py
from msnb.dataset.vision import py_transforms_util as util
from msnb.dataset.vision._augment import CutMixBatch, MixUpBatch, RandomSelectSubpolicy
from msnb.dataset.vision._auto import AutoAugment, RandAugment, TrivialAugmentWide
from msnb.dataset.vision._boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from msnb.dataset.vision._crops import RandomCropDecodeResize
from msnb.dataset.vision._fixed_geometry import (
    Affine,
    Crop,
    Erase,
    HorizontalFlip,
    PadToSize,
    ResizedCrop,
    Rotate,
    SlicePatches,
    VerticalFlip,
)
from msnb.dataset.vision._fixed_pixels import (
    AdjustGamma,
    AdjustSharpness,
    ConvertColor,
    GaussianBlur,
    Posterize,
    RandomAdjustSharpness,
    RandomAutoContrast,
    RandomEqualize,
    RandomInvert,
    Solarize,
)
from msnb.dataset.vision._geometry import CutOut, RandomResize
from msnb.dataset.vision._pixels import HWC2CHW, Normalize, NormalizePad, RandomPosterize, RandomSolarize, Rescale
from msnb.dataset.vision.utils import (
    AutoAugmentPolicy,
    Border,
    ConvertMode,
    ImageBatchFormat,
    ImageReadMode,
    Inter,
    SliceMode,
)

_T = TypeVar("_T")


def _make_pil_accepting_class(base: type[_T], pil_class: Any) -> type[_T]:
    """Return a subclass of `base` that passes PIL images to `pil_class`, created with the same arguments."""

    class Unified(base):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._arguments = args, kwargs
            self._python = None

        def _transform_pil_image(self, image):
            if self._python is None:
                self._python = pil_class(*self._arguments[0], **self._arguments[1])
            return self._python(image)

        def __call__(self, *images):
            """Apply the transform to a numpy or PIL image. The result has the same type."""
            if len(images) == 1 and util.is_pil(images[0]):
                return self._transform_pil_image(images[0])
            return super().__call__(*images)

    Unified.__name__ = Unified.__qualname__ = base.__name__
    Unified.__doc__ = base.__doc__
    Unified.__signature__ = inspect.signature(base)
    return Unified


def _create_pil_affine(degrees, translate=None, scale=None, shear=None, resample=Inter.NEAREST, fill_value=0):
    """Create the affine transform of PIL images. MindSpore 2 draws numbers for arguments that are None too."""
    shear = (-shear, shear) if isinstance(shear, int | float) else shear
    translate, scale, shear = translate or (0.0, 0.0), scale or (1.0, 1.0), shear or (0.0, 0.0, 0.0, 0.0)
    return py.RandomAffine(degrees, translate, scale, shear, resample, fill_value)


def _make_pil_factory(function):
    """Return a function that takes a transform's arguments and returns its PIL form, `function(image, *arguments)`."""

    def create(*args, **kwargs):
        return lambda image: function(image, *args, *kwargs.values())

    return create


def _warp_pil(image, start_points, end_points, interpolation=Inter.BILINEAR):
    return util.perspective(image, start_points, end_points, util.pillow_resampling(interpolation))


class _PilLighting(Described):
    """Light of a random colour for PIL images. Its numbers are numpy's."""

    def __init__(self, alpha=0.05):
        self.alpha = alpha

    def __call__(self, image):
        light = _augment.RandomLighting
        shares = np.random.normal(0, self.alpha, 3)
        lit = np.asarray(image) + light.components @ (shares * light.values)
        return util.pil().fromarray(np.clip(lit, 0, 255).astype(np.uint8))


AdjustBrightness: type[_fixed_pixels.AdjustBrightness] = _make_pil_accepting_class(
    _fixed_pixels.AdjustBrightness, _make_pil_factory(util.adjust_brightness)
)
AdjustContrast: type[_fixed_pixels.AdjustContrast] = _make_pil_accepting_class(
    _fixed_pixels.AdjustContrast, _make_pil_factory(util.adjust_contrast)
)
AdjustHue: type[_fixed_pixels.AdjustHue] = _make_pil_accepting_class(
    _fixed_pixels.AdjustHue, _make_pil_factory(util.adjust_hue)
)
AdjustSaturation: type[_fixed_pixels.AdjustSaturation] = _make_pil_accepting_class(
    _fixed_pixels.AdjustSaturation, _make_pil_factory(util.adjust_saturation)
)
AutoContrast: type[_pixels.AutoContrast] = _make_pil_accepting_class(_pixels.AutoContrast, py.AutoContrast)
CenterCrop: type[_crops.CenterCrop] = _make_pil_accepting_class(_crops.CenterCrop, py.CenterCrop)
Equalize: type[_pixels.Equalize] = _make_pil_accepting_class(_pixels.Equalize, py.Equalize)
Invert: type[_pixels.Invert] = _make_pil_accepting_class(_pixels.Invert, py.Invert)
Pad: type[_geometry.Pad] = _make_pil_accepting_class(_geometry.Pad, py.Pad)
Perspective: type[_fixed_geometry.Perspective] = _make_pil_accepting_class(
    _fixed_geometry.Perspective, _make_pil_factory(_warp_pil)
)
RandomAffine: type[_geometry.RandomAffine] = _make_pil_accepting_class(_geometry.RandomAffine, _create_pil_affine)
RandomColor: type[_pixels.RandomColor] = _make_pil_accepting_class(_pixels.RandomColor, py.RandomColor)
RandomColorAdjust: type[_pixels.RandomColorAdjust] = _make_pil_accepting_class(
    _pixels.RandomColorAdjust, py.RandomColorAdjust
)
RandomCrop: type[_crops.RandomCrop] = _make_pil_accepting_class(_crops.RandomCrop, py.RandomCrop)
RandomHorizontalFlip: type[_geometry.RandomHorizontalFlip] = _make_pil_accepting_class(
    _geometry.RandomHorizontalFlip, py.RandomHorizontalFlip
)
RandomLighting: type[_augment.RandomLighting] = _make_pil_accepting_class(_augment.RandomLighting, _PilLighting)
RandomResizedCrop: type[_crops.RandomResizedCrop] = _make_pil_accepting_class(
    _crops.RandomResizedCrop, py.RandomResizedCrop
)
RandomRotation: type[_geometry.RandomRotation] = _make_pil_accepting_class(_geometry.RandomRotation, py.RandomRotation)
RandomSharpness: type[_pixels.RandomSharpness] = _make_pil_accepting_class(_pixels.RandomSharpness, py.RandomSharpness)
RandomVerticalFlip: type[_geometry.RandomVerticalFlip] = _make_pil_accepting_class(
    _geometry.RandomVerticalFlip, py.RandomVerticalFlip
)
Resize: type[_geometry.Resize] = _make_pil_accepting_class(_geometry.Resize, py.Resize)
UniformAugment = _augment.UniformAugment


class Decode(_geometry.Decode):
    """Decode an image.

    Args:
        to_pil (bool, optional): True for a PIL image. Default: False, an RGB array.
    """

    def __init__(self, to_pil: bool = False) -> None:
        super().__init__(True, to_pil)

    def __call__(self, img: Any) -> Any:
        """Decode a 1-D array of bytes."""
        return py.Decode()(img) if self.to_pil else super().__call__(img)

    def _transform_pil_image(self, data):
        return py.Decode()(data)


class ToTensor(TensorOp):
    """Convert a PIL or numpy image to a (C, H, W) array in [0, 1].

    Args:
        output_type (Union[mindspore.dtype, numpy dtype], optional): Type of the result. Default: np.float32.
    """

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type: np.dtype = numpy_type(output_type)

    def _transform_row(self, image):
        if image.dtype.kind in "SU" or image.ndim not in (2, 3):
            raise TypeError(
                f"Input type is not supported: an image of 2 or 3 dimensions is needed, but got shape {image.shape} "
                f"of {image.dtype}."
            )
        image = image if image.ndim == 3 else image[..., None]
        scaled = image.transpose(2, 0, 1).astype(np.float32) * np.float32(1 / 255)
        return np.ascontiguousarray(scaled).astype(self.output_type)

    def _transform_pil_image(self, image):
        return self._transform_row(np.asarray(image))

    def __call__(self, image: Any) -> np.ndarray:
        """Return the image as an array."""
        return self._transform_row(as_array(image))


# Classes that exist only for PIL images or only for arrays.
ToPIL, FiveCrop, TenCrop, Grayscale, RandomGrayscale = (
    py.ToPIL,
    py.FiveCrop,
    py.TenCrop,
    py.Grayscale,
    py.RandomGrayscale,
)
RandomPerspective, RandomErasing, LinearTransformation = py.RandomPerspective, py.RandomErasing, py.LinearTransformation
MixUp, RgbToHsv, HsvToRgb, ToType = py.MixUp, py.RgbToHsv, py.HsvToRgb, py.ToType


class ToNumpy(Described):
    """Convert a PIL image to an array."""

    def __call__(self, img: Any) -> np.ndarray:
        """Return the array."""
        return np.array(img)


class DecodeVideo:
    """Decoding of video is not supported.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self):
        raise NotImplementedError(
            "DecodeVideo needs a video library; decode frames with OpenCV in a Python function instead."
        )


def get_image_num_channels(image: Any) -> int:
    """Return the number of channels of a numpy or PIL image."""
    if util.is_pil(image):
        return len(image.getbands())
    if not isinstance(image, np.ndarray):
        raise TypeError(
            f"Input image is not of type (<class 'numpy.ndarray'>, <class 'PIL.Image.Image'>), but got: {type(image)}."
        )
    return 1 if image.ndim == 2 else image.shape[-1]


def get_image_size(image: Any) -> list[int]:
    """Return [height, width] of a numpy or PIL image."""
    if util.is_pil(image):
        return list(image.size[::-1])
    if not isinstance(image, np.ndarray):
        raise TypeError(
            f"Input image is not of type (<class 'numpy.ndarray'>, <class 'PIL.Image.Image'>), but got: {type(image)}."
        )
    return list(image.shape[:2])


def read_file(filename: str) -> np.ndarray:
    """Read the bytes of a file as a uint8 array."""
    return np.array(bytes_of(filename))


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """Read an image file as an (H, W, C) array, colours in RGB.

    Args:
        filename (str): The file.
        mode (ImageReadMode, optional): Colour mode of the result. Default: ImageReadMode.UNCHANGED.
    """
    c = cv2()
    flags = {
        ImageReadMode.UNCHANGED: c.IMREAD_UNCHANGED,
        ImageReadMode.GRAYSCALE: c.IMREAD_GRAYSCALE,
        ImageReadMode.COLOR: c.IMREAD_COLOR,
    }
    data = read_file(filename)
    try:
        _headers.check_encoded(data)
        image = c.imdecode(data, flags[mode])
    except (RuntimeError, c.error) as error:
        raise RuntimeError(f"read_image: failed to read file {filename}: {error}") from None
    if image is None:
        raise RuntimeError(f"read_image: failed to read file {filename}: it is no image that OpenCV knows.")
    if image.ndim == 2:
        return image[..., None]
    return image[..., [2, 1, 0, 3][: image.shape[2]]].copy()


def write_file(filename: str, data: np.ndarray) -> None:
    """Write a 1-D uint8 array to a file."""
    as_array(data).astype(np.uint8).tofile(filename)


def _encode_image(image, extension, parameters):
    array = as_array(image)
    if array.dtype != np.uint8:
        raise RuntimeError(f"encode: the image should be uint8, but is {array.dtype}.")
    if array.ndim == 3 and array.shape[2] == 3:
        array = array[..., ::-1]
    return cv2().imencode(extension, np.ascontiguousarray(array), parameters)[1].reshape(-1)


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """Encode an RGB or gray image as a JPEG and return its bytes as a uint8 array."""
    return _encode_image(image, ".jpg", [cv2().IMWRITE_JPEG_QUALITY, quality])


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """Encode an RGB or gray image as a PNG and return its bytes as a uint8 array."""
    return _encode_image(image, ".png", [cv2().IMWRITE_PNG_COMPRESSION, compression_level])


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an RGB or gray image to a JPEG file."""
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an RGB or gray image to a PNG file."""
    write_file(filename, encode_png(image, compression_level))


__all__ = [
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustGamma",
    "AdjustHue",
    "AdjustSaturation",
    "AdjustSharpness",
    "Affine",
    "AutoAugment",
    "AutoAugmentPolicy",
    "AutoContrast",
    "Border",
    "BoundingBoxAugment",
    "CenterCrop",
    "ConvertColor",
    "ConvertMode",
    "Crop",
    "CutMixBatch",
    "CutOut",
    "Decode",
    "DecodeVideo",
    "Equalize",
    "Erase",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "HWC2CHW",
    "HorizontalFlip",
    "HsvToRgb",
    "ImageBatchFormat",
    "ImageReadMode",
    "Inter",
    "Invert",
    "LinearTransformation",
    "MixUp",
    "MixUpBatch",
    "Normalize",
    "NormalizePad",
    "Pad",
    "PadToSize",
    "Perspective",
    "Posterize",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutoContrast",
    "RandomColor",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomCropWithBBox",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomHorizontalFlipWithBBox",
    "RandomInvert",
    "RandomLighting",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResize",
    "RandomResizeWithBBox",
    "RandomResizedCrop",
    "RandomResizedCropWithBBox",
    "RandomRotation",
    "RandomSelectSubpolicy",
    "RandomSharpness",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomVerticalFlipWithBBox",
    "Rescale",
    "Resize",
    "ResizeWithBBox",
    "ResizedCrop",
    "RgbToHsv",
    "Rotate",
    "SliceMode",
    "SlicePatches",
    "Solarize",
    "TenCrop",
    "ToNumpy",
    "ToPIL",
    "ToTensor",
    "ToType",
    "TrivialAugmentWide",
    "UniformAugment",
    "VerticalFlip",
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]
