"""MindSpore 2's deterministic transforms of pixel positions: crops, rotations, flips, patches."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import INT32_MAX, Flag, Real, above_zero, of_type, within
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import (
    BorderMode,
    CropSize,
    FillValue,
    Interpolation,
    Pair,
    PositiveInt24,
    ResizeSize,
    Translation,
    to_channel_values,
    validates_only,
)
from msnb.dataset.vision._pixels import ImageOp
from msnb.dataset.vision.utils import Border, Inter, SliceMode


class Affine(ImageOp):
    """Rotate, translate, scale and shear the image around its center.

    Args:
        degrees (float): The angle, clockwise.
        translate (Sequence[float, float]): The translation, as fractions of width and height.
        scale (float): The factor.
        shear (Union[float, Sequence[float, float]]): Shear angle along x, or along x and y.
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
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
        self.fill_value = to_channel_values(fill_value)

    def _transform_row(self, image):
        f = np.float32
        translation = [
            float(f(t) * f(side)) for t, side in zip(self.translate, (image.shape[1], image.shape[0]), strict=True)
        ]
        return kernels.affine(image, self.degrees, translation, self.scale_, self.shear, self.resample, self.fill_value)


def _check_box(top, left, height, width):
    """Raise an error if a box is empty or negative."""
    for name, value in {"top": top, "left": left}.items():
        within(0, INT32_MAX, int)(value, name)
    for name, value in {"height": height, "width": width}.items():
        within(1, INT32_MAX, int)(value, name)


class Crop(ImageOp):
    """Crop a box of the image.

    Args:
        coordinates (sequence): (top, left).
        size (Union[int, sequence]): (height, width), or one int for both.
    """

    @checked
    def __init__(self, coordinates: Annotated[list | tuple, of_type(list, tuple)], size: CropSize):
        if len(coordinates) != 2:
            raise TypeError("Coordinates should be a list/tuple (y, x) of length 2.")
        for value in coordinates:
            within(0, INT32_MAX, int)(value, "coordinates")
        self.coordinates: tuple[Any, ...] = tuple(coordinates)
        self.size = size

    def _transform_row(self, image):
        top, left = self.coordinates
        return kernels.crop(image, left, top, self.size[1], self.size[0])


class Erase(ImageOp):
    """Fill a box of the image.

    Args:
        top, left, height, width (int): The box.
        value (Union[float, Sequence[float]], optional): Fill value, or one per channel. Default:
            0.0.
        inplace (bool, optional): True to change the image in place. Default: False.
    """

    @checked
    def __init__(
        self, top: int, left: int, height: int, width: int, value: float | Sequence[float] = 0.0, inplace: Flag = False
    ) -> None:
        _check_box(top, left, height, width)
        self.top, self.left, self.height, self.width = top, left, height, width
        values = value if isinstance(value, list | tuple) else (value,) * 3
        if len(values) != 3:
            raise TypeError("value should be a single number or a sequence of 3 numbers.")
        for v in values:
            within(0, 255)(v, "value")
        self.value: tuple[float | int, ...] = tuple(values)
        self.inplace = inplace

    def _transform_row(self, image):
        kernels.check_image(image, "Erase")
        if self.top + self.height > image.shape[0] or self.left + self.width > image.shape[1]:
            raise RuntimeError(
                f"Erase: the box {self.height} x {self.width} at ({self.top}, {self.left}) does not lie in the image "
                f"{image.shape}."
            )
        out = image if self.inplace else image.copy()
        box = out[self.top : self.top + self.height, self.left : self.left + self.width]
        box[...] = np.array(self.value[: image.shape[2]] if image.ndim == 3 else self.value[0]).astype(image.dtype)
        return out


class HorizontalFlip(ImageOp):
    """Flip the image horizontally."""

    def _transform_row(self, image):
        return np.ascontiguousarray(kernels.check_image(image, "HorizontalFlip")[:, ::-1])


class VerticalFlip(ImageOp):
    """Flip the image vertically."""

    def _transform_row(self, image):
        return np.ascontiguousarray(kernels.check_image(image, "VerticalFlip")[::-1])


class PadToSize(ImageOp):
    """Pad the image to a size.

    Args:
        size (Union[int, Sequence[int]]): (height, width), or one int for both.
        offset (Union[int, Sequence[int]], optional): (top, left) of the image in the result. Default: None, centered.
        fill_value (Union[int, tuple], optional): Value of the padding. Default: 0.
        padding_mode (Border, optional): Padding mode. Default: Border.CONSTANT.
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
        self.fill_value = to_channel_values(fill_value)
        self.padding_mode = padding_mode

    def _transform_row(self, image):
        height, width = self.size
        missing_h, missing_w = height - image.shape[0], width - image.shape[1]
        top, left = (missing_h // 2, missing_w // 2) if self.offset is None else self.offset
        if missing_h < top or missing_w < left or missing_h < 0 or missing_w < 0:
            raise RuntimeError(f"PadToSize: the image {image.shape} does not fit {self.size} at {(top, left)}.")
        return kernels.pad(image, (left, top, missing_w - left, missing_h - top), self.padding_mode, self.fill_value)


class Perspective(ImageOp):
    """Warp the image so that four points move to four others.

    Args:
        start_points (Sequence[Sequence[int, int]]): Four points (x, y).
        end_points (Sequence[Sequence[int, int]]): Their new positions.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
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

    def _transform_row(self, image):
        kernels.check_image(image, "Perspective")
        return kernels.perspective(image, self.start_points, self.end_points, self.interpolation)


class ResizedCrop(ImageOp):
    """Crop a box of the image, then resize it.

    Args:
        top, left, height, width (int): The box.
        size (Union[int, Sequence[int]]): (height, width) of the result; an int is both.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
    """

    costly = True

    @checked
    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: Annotated[int | Pair, validates_only(ResizeSize)],
        interpolation: Interpolation = Inter.BILINEAR,
    ) -> None:
        _check_box(top, left, height, width)
        self.top, self.left, self.height, self.width = top, left, height, width
        self.size = size
        self._size = (size, size) if isinstance(size, int) else tuple(size)
        self.interpolation = interpolation

    def _transform_row(self, image):
        cropped = kernels.crop(image, self.left, self.top, self.width, self.height)
        return kernels.resize(cropped, self._size, self.interpolation)


class Rotate(ImageOp):
    """Rotate the image.

    Args:
        degrees (Union[int, float]): The angle, counterclockwise.
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        expand (bool, optional): True to enlarge the result until the rotated image fits. Default: False.
        center (tuple, optional): Rotation center (x, y). Default: None, the image center.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
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
        self.fill_value = to_channel_values(fill_value)

    def _transform_row(self, image):
        return kernels.rotate(image, self.degrees, self.resample, self.expand, self.center, self.fill_value)


class SlicePatches(TensorOp):
    """Cut the image into a grid of equal patches, each of which is a column. A grid of one patch is the image itself.

    Args:
        num_height (int, optional): Rows of the grid. Default: 1.
        num_width (int, optional): Columns of the grid. Default: 1.
        slice_mode (SliceMode, optional): Treatment of an image that does not divide evenly. Default:
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
        self.fill_value: int = fill_value

    def _transform_row(self, image):
        h, w = kernels.check_image(image, "SlicePatches").shape[:2]
        if self.slice_mode == SliceMode.PAD:
            height, width = math.ceil(h / self.num_height), math.ceil(w / self.num_width)
            padding = (0, 0, width * self.num_width - w, height * self.num_height - h)
            if any(padding):
                image = kernels.pad(image, padding, Border.CONSTANT, (self.fill_value,) * 4)
        else:
            height, width = h // self.num_height, w // self.num_width
        patches = tuple(
            kernels.crop(image, x * width, y * height, width, height)
            for y in range(self.num_height)
            for x in range(self.num_width)
        )
        return patches if len(patches) > 1 else patches[0]
