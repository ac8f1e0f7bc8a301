"""2.x's transforms without chance: one fixed change of an image each."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, INT32_MAX, Flag, Real, above_zero, of_type, within
from msnb.dataset.core.optional import cv2
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import (
    BorderMode,
    CropSize,
    FillValue,
    Interpolation,
    Pair,
    PositiveInt24,
    Probability,
    ResizeSize,
    Translation,
    as_given,
    height_width,
    triple,
)
from msnb.dataset.vision._pixels import AutoContrast, Equalize, ImageOp, Invert
from msnb.dataset.vision.utils import Border, ConvertMode, Inter, SliceMode


class _Adjust(ImageOp):
    """A colour change with one factor."""

    costly = True
    _bounds = (0, FLOAT_MAX_INTEGER)
    _change = None

    def _set(self, name, value):
        of_type(float, int)(value, name)
        within(*self._bounds)(value, name)
        setattr(self, name, value)
        self._factor = value

    def _row(self, image):
        return type(self)._change(image, self._factor)


class AdjustBrightness(_Adjust):
    """Brightness times a factor.

    Args:
        brightness_factor (float): Not negative; 1 is the image.
    """

    _change = staticmethod(kernels.brightness)

    def __init__(self, brightness_factor: float) -> None:
        self._set("brightness_factor", brightness_factor)


class AdjustContrast(_Adjust):
    """Contrast times a factor.

    Args:
        contrast_factor (float): Not negative; 1 is the image.
    """

    _change = staticmethod(kernels.contrast)

    def __init__(self, contrast_factor: float) -> None:
        self._set("contrast_factor", contrast_factor)


class AdjustSaturation(_Adjust):
    """Saturation times a factor.

    Args:
        saturation_factor (float): Not negative; 1 is the image.
    """

    _change = staticmethod(kernels.saturation)

    def __init__(self, saturation_factor: float) -> None:
        self._set("saturation_factor", saturation_factor)


class AdjustSharpness(_Adjust):
    """Sharpness times a factor.

    Args:
        sharpness_factor (float): Not negative; 1 is the image.
    """

    _change = staticmethod(kernels.sharpness)

    def __init__(self, sharpness_factor: float) -> None:
        self._set("sharpness_factor", sharpness_factor)


class AdjustHue(_Adjust):
    """Hue turned.

    Args:
        hue_factor (float): Share of the circle, -0.5 to 0.5.
    """

    _bounds = (-0.5, 0.5)
    _change = staticmethod(kernels.hue)

    def __init__(self, hue_factor: float) -> None:
        self._set("hue_factor", hue_factor)


class AdjustGamma(ImageOp):
    """``gain * image ** gamma`` with the image scaled to [0, 1].

    Args:
        gamma (float): The exponent, not negative.
        gain (float, optional): The factor. Default: 1.
    """

    pointwise = True

    @checked
    def __init__(self, gamma: Annotated[float, of_type(float, int)], gain: Annotated[float, of_type(float, int)] = 1):
        within(0, FLOAT_MAX_INTEGER)(gamma, "gamma")
        self.gamma = gamma
        self.gain = gain

    def _row(self, image):
        if image.dtype == np.uint8:
            values = np.arange(256) / 255.0
            table = np.clip((255 + 1 - 1e-3) * self.gain * values**self.gamma, 0, 255).astype(np.uint8)
            return table[image]
        return np.clip(image.astype(np.float32) ** np.float32(self.gamma) * np.float32(self.gain), 0, 1).astype(
            image.dtype
        )


class Affine(ImageOp):
    """The image turned, moved, scaled and sheared around its centre.

    Args:
        degrees (float): The angle, clockwise.
        translate (Sequence[float, float]): The move, as shares of width and height.
        scale (float): The factor.
        shear (Union[float, Sequence[float, float]]): Shear angle along x, or along x and y.
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.
    """

    costly = True

    @checked
    def __init__(
        self,
        degrees: Real,
        translate: Translation,
        scale: Annotated[int | float, above_zero(int, float)],
        shear: Annotated[int | float | list | tuple, of_type(int, float, list, tuple)],
        resample: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        self.shear = tuple(shear) if isinstance(shear, list | tuple) else (shear, 0.0)
        if len(self.shear) != 2:
            raise TypeError("The length of shear should be 2.")
        self.degrees: Real = degrees
        self.translate: Translation = translate
        self.scale_: int | float = scale
        self.resample: Interpolation = resample
        self.fill_value = triple(fill_value)

    def _row(self, image):
        f = np.float32
        move = [float(f(t) * f(side)) for t, side in zip(self.translate, (image.shape[1], image.shape[0]), strict=True)]
        return kernels.affine(image, self.degrees, move, self.scale_, self.shear, self.resample, self.fill_value)


class ConvertColor(ImageOp):
    """The image in another colour space.

    Args:
        convert_mode (ConvertMode): From which to which.
    """

    @checked
    def __init__(self, convert_mode: Annotated[ConvertMode, of_type(ConvertMode)]):
        self.convert_mode = convert_mode

    def _row(self, image):
        kernels.image(image, "ConvertColor")
        return cv2().cvtColor(kernels.as_cv(image), int(self.convert_mode))


def _box(top, left, height, width):
    """A part of an image, which is not empty."""
    for name, value in {"top": top, "left": left}.items():
        within(0, INT32_MAX, int)(value, name)
    for name, value in {"height": height, "width": width}.items():
        within(1, INT32_MAX, int)(value, name)


class Crop(ImageOp):
    """A part of the image.

    Args:
        coordinates (sequence): (top, left).
        size (Union[int, sequence]): (height, width), or one for both.
    """

    @checked
    def __init__(self, coordinates: Annotated[list | tuple, of_type(list, tuple)], size: CropSize):
        if len(coordinates) != 2:
            raise TypeError("Coordinates should be a list/tuple (y, x) of length 2.")
        for value in coordinates:
            within(0, INT32_MAX, int)(value, "coordinates")
        self.coordinates: tuple[Any, ...] = tuple(coordinates)
        self.size = size

    def _row(self, image):
        top, left = self.coordinates
        return kernels.crop(image, left, top, self.size[1], self.size[0])


class Erase(ImageOp):
    """A box of the image filled.

    Args:
        top, left, height, width (int): The box.
        value (Union[float, Sequence[float]], optional): What it is filled with; one value or one per channel. Default:
            0.0.
        inplace (bool, optional): Whether the image itself is changed. Default: False.
    """

    @checked
    def __init__(
        self, top: int, left: int, height: int, width: int, value: float | Sequence[float] = 0.0, inplace: Flag = False
    ) -> None:
        _box(top, left, height, width)
        self.top, self.left, self.height, self.width = top, left, height, width
        values = value if isinstance(value, list | tuple) else (value,) * 3
        if len(values) != 3:
            raise TypeError("value should be a single number or a sequence of 3 numbers.")
        for v in values:
            within(0, 255)(v, "value")
        self.value: tuple[float | int, ...] = tuple(values)
        self.inplace = inplace

    def _row(self, image):
        kernels.image(image, "Erase")
        if self.top + self.height > image.shape[0] or self.left + self.width > image.shape[1]:
            raise RuntimeError(
                f"Erase: the box {self.height} x {self.width} at ({self.top}, {self.left}) does not lie in the image "
                f"{image.shape}."
            )
        out = image if self.inplace else image.copy()
        part = out[self.top : self.top + self.height, self.left : self.left + self.width]
        part[...] = np.array(self.value[: image.shape[2]] if image.ndim == 3 else self.value[0]).astype(image.dtype)
        return out


class GaussianBlur(ImageOp):
    """The image blurred with a Gaussian.

    Args:
        kernel_size (Union[int, Sequence[int]]): Odd width (and height) of the kernel.
        sigma (Union[float, Sequence[float]], optional): Standard deviation(s). Default: None, from the size.
    """

    costly = True

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None) -> None:
        sizes = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        for size in sizes:
            within(1, FLOAT_MAX_INTEGER, int)(size, "kernel_size")
            if size % 2 == 0:
                raise ValueError(f"Input kernel_size is not an odd value: {size}.")
        if sigma is None:
            sigmas = tuple(0.3 * ((s - 1) * 0.5 - 1) + 0.8 for s in sizes)
        else:
            sigmas = (sigma,) * 2 if isinstance(sigma, int | float) else tuple(sigma)
            for s in sigmas:
                within(0, FLOAT_MAX_INTEGER)(s, "sigma")
        self.kernel_size = sizes
        self.sigma = sigmas

    def _row(self, image):
        kernels.image(image, "GaussianBlur")
        return (
            cv2()
            .GaussianBlur(kernels.as_cv(image), self.kernel_size, self.sigma[0], sigmaY=self.sigma[1])
            .reshape(image.shape)
        )


class HorizontalFlip(ImageOp):
    """Left and right exchanged."""

    def _row(self, image):
        return np.ascontiguousarray(kernels.image(image, "HorizontalFlip")[:, ::-1])


class VerticalFlip(ImageOp):
    """Top and bottom exchanged."""

    def _row(self, image):
        return np.ascontiguousarray(kernels.image(image, "VerticalFlip")[::-1])


class PadToSize(ImageOp):
    """The image padded to a size.

    Args:
        size (Union[int, Sequence[int]]): (height, width), or one for both.
        offset (Union[int, Sequence[int]], optional): (top, left) of the image in the result. Default: None, the middle.
        fill_value (Union[int, tuple], optional): Value of the padding. Default: 0.
        padding_mode (Border, optional): What the padding is. Default: Border.CONSTANT.
    """

    @checked
    def __init__(
        self,
        size: CropSize,
        offset: int | Sequence[int] | None = None,
        fill_value: FillValue = 0,
        padding_mode: BorderMode = Border.CONSTANT,
    ) -> None:
        self.size = size
        self.offset = None if offset is None else (offset, offset) if isinstance(offset, int) else tuple(offset)
        self.fill_value = triple(fill_value)
        self.padding_mode = padding_mode

    def _row(self, image):
        height, width = self.size
        more_h, more_w = height - image.shape[0], width - image.shape[1]
        top, left = (more_h // 2, more_w // 2) if self.offset is None else self.offset
        if more_h < top or more_w < left or more_h < 0 or more_w < 0:
            raise RuntimeError(f"PadToSize: the image {image.shape} does not fit {self.size} at {(top, left)}.")
        return kernels.pad(image, (left, top, more_w - left, more_h - top), self.padding_mode, self.fill_value)


class Perspective(ImageOp):
    """Four points of the image moved to four others.

    Args:
        start_points (Sequence[Sequence[int, int]]): Four (x, y).
        end_points (Sequence[Sequence[int, int]]): Where they go.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
    """

    costly = True

    @checked
    def __init__(
        self,
        start_points: Sequence[Sequence[int]],
        end_points: Sequence[Sequence[int]],
        interpolation: Interpolation = Inter.BILINEAR,
    ) -> None:
        for name, points in (("start_points", start_points), ("end_points", end_points)):
            of_type(list, tuple)(points, name)
            if len(points) != 4:
                raise TypeError(f"{name} should be a list or tuple of length 4.")
            for point in points:
                of_type(list, tuple)(point, name)
                if len(point) != 2:
                    raise TypeError(f"Each point in {name} should have 2 coordinates.")
        self.start_points = start_points
        self.end_points = end_points
        self.interpolation = interpolation

    def _row(self, image):
        kernels.image(image, "Perspective")
        return kernels.perspective(image, self.start_points, self.end_points, self.interpolation)


class Posterize(ImageOp):
    """Only the highest bits of each value.

    Args:
        bits (int): How many, 0 to 8.
    """

    pointwise = True

    @checked
    def __init__(self, bits: Annotated[int, within(0, 8, int)]):
        self.bits = bits

    def _row(self, image):
        return kernels.posterize(image, self.bits)


class Solarize(ImageOp):
    """The values of a range inverted.

    Args:
        threshold (Union[float, Sequence[float, float]]): The range in [0, 255]; a number stands for itself up to
            itself.
    """

    pointwise = True

    @checked
    def __init__(self, threshold: Annotated[float | int | list | tuple, of_type(float, int, list, tuple)]):
        pair = (threshold, threshold) if isinstance(threshold, float | int) else tuple(threshold)
        if len(pair) != 2:
            raise ValueError("threshold must be a single number or sequence of two numbers.")
        for value in pair:
            within(0, 255)(value, "threshold")
        if pair[1] < pair[0]:
            raise ValueError("threshold must be in order of (min, max).")
        self.threshold = pair

    def _row(self, image):
        return kernels.solarize(image, *self.threshold)


class ResizedCrop(ImageOp):
    """A part of the image, resized.

    Args:
        top, left, height, width (int): The part.
        size (Union[int, Sequence[int]]): (height, width) of the result; an int is the length of its shorter side.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
    """

    costly = True

    @checked
    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: Annotated[int | Pair, as_given(ResizeSize)],
        interpolation: Interpolation = Inter.BILINEAR,
    ) -> None:
        _box(top, left, height, width)
        self.top, self.left, self.height, self.width = top, left, height, width
        self.size = size
        self._size = height_width(size)
        self.interpolation = interpolation

    def _row(self, image):
        part = kernels.crop(image, self.left, self.top, self.width, self.height)
        return kernels.resize(part, kernels.scaled_size(part.shape, self._size), self.interpolation)


class Rotate(ImageOp):
    """The image turned.

    Args:
        degrees (Union[int, float]): The angle, counter-clockwise.
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        expand (bool, optional): Whether the result is as large as needed to hold everything. Default: False.
        center (tuple, optional): (x, y) of the fixed point. Default: None, the middle.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.
    """

    costly = True

    @checked
    def __init__(
        self,
        degrees: Real,
        resample: Interpolation = Inter.NEAREST,
        expand: Flag = False,
        center: tuple[Any, ...] | None = None,
        fill_value: FillValue = 0,
    ) -> None:
        self.degrees = degrees
        self.resample = resample
        self.expand = expand
        self.center: Any = center
        self.fill_value = triple(fill_value)

    def _row(self, image):
        return kernels.rotate(image, self.degrees, self.resample, self.expand, self.center, self.fill_value)


class SlicePatches(TensorOp):
    """The image cut into a grid of equal pieces; each is a column.

    Args:
        num_height (int, optional): Rows of the grid. Default: 1.
        num_width (int, optional): Columns of the grid. Default: 1.
        slice_mode (SliceMode, optional): Whether an image that does not divide evenly is padded or cut. Default:
            SliceMode.PAD.
        fill_value (int, optional): Value of the padding. Default: 0.
    """

    @checked
    def __init__(
        self,
        num_height: PositiveInt24 = 1,
        num_width: PositiveInt24 = 1,
        slice_mode: Annotated[SliceMode, of_type(SliceMode)] = SliceMode.PAD,
        fill_value: Annotated[int, within(0, 255, int)] = 0,
    ):
        self.num_height: PositiveInt24 = num_height
        self.num_width: PositiveInt24 = num_width
        self.slice_mode = slice_mode
        self.fill_value = fill_value

    def _row(self, image):
        h, w = kernels.image(image, "SlicePatches").shape[:2]
        if self.slice_mode == SliceMode.PAD:
            height, width = math.ceil(h / self.num_height), math.ceil(w / self.num_width)
            more = (0, 0, width * self.num_width - w, height * self.num_height - h)
            if any(more):
                image = kernels.pad(image, more, Border.CONSTANT, (self.fill_value,) * 3)
        else:
            height, width = h // self.num_height, w // self.num_width
        return tuple(
            kernels.crop(image, x * width, y * height, width, height)
            for y in range(self.num_height)
            for x in range(self.num_width)
        )


class _Sometimes(ImageOp):
    """A fixed change, at random."""

    deterministic = False
    costly = True

    def _set(self, op, prob):
        self._op = op
        self.prob = check(Probability, prob, "prob", type(self).__name__)

    def _draw(self, stream, image):
        return stream.bernoulli(float(np.float32(self.prob)))

    def _apply(self, change, image):
        return self._op._row(image) if change else image


class RandomAdjustSharpness(_Sometimes):
    """:class:`AdjustSharpness`, at random.

    Args:
        degree (float): The factor.
        prob (float, optional): Probability of it. Default: 0.5.
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        self._set(AdjustSharpness(degree), prob)
        self.degree = degree


class RandomAutoContrast(_Sometimes):
    """:class:`AutoContrast`, at random.

    Args:
        cutoff, ignore: As for :class:`AutoContrast`.
        prob (float, optional): Probability of it. Default: 0.5.
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        self._set(AutoContrast(cutoff, ignore), prob)


class RandomEqualize(_Sometimes):
    """:class:`Equalize`, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self._set(Equalize(), prob)


class RandomInvert(_Sometimes):
    """:class:`Invert`, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self._set(Invert(), prob)
