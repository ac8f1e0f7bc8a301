"""Transforms of pixel positions: decoding, resizing, padding, rotation. They are C++ operators in MindSpore."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag
from msnb.dataset.core.optional import cv2
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import (
    BorderMode,
    Degrees,
    FillValue,
    Interpolation,
    Moves,
    Pair,
    PositiveInt24,
    Probability,
    ResizeSize,
    Scaling,
    Shear,
    Sides,
    degrees_range,
    ranges_of_axes,
    resize_height_width,
    to_channel_values,
    two_tuple,
    validates_only,
)
from msnb.dataset.vision._pixels import ImageOp, _sample_from_range
from msnb.dataset.vision.utils import Border, Inter


class Decode(ImageOp):
    """Decode a JPEG, PNG, BMP or other file to an RGB image (uint8, (H, W, 3)).

    Args:
        rgb (bool, optional): Must be True. Default: True.

    Raises:
        RuntimeError: If the bytes are not an image.

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> dataset = dataset.map(operations=CV.Decode(), input_columns="image")
    """

    costly = True

    @checked
    def __init__(self, rgb: Flag = True, to_pil: Flag = False):
        if not rgb:
            raise ValueError("Decode gives RGB images only; rgb should be True.")
        self.rgb = rgb
        self.to_pil = to_pil

    def __call__(self, img: Any) -> Any:
        """Decode a 1-D array of bytes."""
        if isinstance(img, bytes):
            img = np.frombuffer(img, np.uint8)
        if not isinstance(img, np.ndarray) or img.ndim != 1 or img.dtype.kind == "U":
            raise TypeError(f"Input should be an encoded image with 1-D NumPy type, got {type(img)}.")
        return self._transform_row(img)

    def _transform_row(self, data):
        return kernels.decode(data)


class Resize(ImageOp):
    """Resize the image.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side
            and keeps the aspect ratio.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.LINEAR.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `size` is not positive.

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> CV.Resize((32, 32))
    """

    costly = True

    @checked
    def __init__(self, size: ResizeSize, interpolation: Interpolation = Inter.LINEAR):
        self._size = self.size = size
        self.interpolation = interpolation

    def _transform_row(self, image):
        kernels.check_image(image, "Resize")
        return kernels.resize(image, kernels.scaled_size(image.shape, self._size), self.interpolation)

    def _transform_stack(self, images):
        if (
            images.ndim not in (3, 4)
            or images.dtype not in (np.uint8, np.float32)
            or self.interpolation > Inter.AREA
            or self.interpolation == Inter.ANTIALIAS
            or images[0].size > 1 << 16
            or (images.ndim == 4 and images.shape[3] not in (1, 3))
        ):
            return NotImplemented
        height, width = kernels.scaled_size(images.shape[1:], self._size)
        out = np.empty((len(images), height, width, *images.shape[3:]), images.dtype)
        if height > images.shape[1] * 1000 or width > images.shape[2] * 1000:
            return NotImplemented
        resize, flag, size = cv2().resize, kernels.opencv_interpolation(self.interpolation), (width, height)
        source, target = (images[..., 0], out[..., 0]) if images.ndim == 4 and images.shape[3] == 1 else (images, out)
        for i in range(len(images)):
            resize(source[i], size, target[i], interpolation=flag)
        return out


class Pad(ImageOp):
    """Pad the image.

    Args:
        padding (Union[int, sequence]): Padding of all sides, (left and right, top and bottom) or
            (left, top, right, bottom).
        fill_value (Union[int, tuple], optional): Fill value for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): Padding mode. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    @checked
    def __init__(self, padding: Sides, fill_value: FillValue = 0, padding_mode: BorderMode = Border.CONSTANT):
        self.padding = padding
        self.fill_value = to_channel_values(fill_value)
        self.padding_mode = padding_mode

    def _transform_row(self, image):
        return kernels.pad(image, self.padding, self.padding_mode, self.fill_value)


class _RandomFlip(ImageOp):
    deterministic = False

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob
        self._prob = float(np.float32(prob))

    def _sample_params(self, stream, image):
        kernels.check_image(image, type(self).__name__)
        return stream.bernoulli(self._prob)

    def _apply_params(self, flip, image):
        return np.ascontiguousarray(np.flip(image, self._axis)) if flip else image

    def _sample_stack_params(self, stream, n, images):
        if images.ndim not in (3, 4):
            return NotImplemented
        return stream.canonicals(n) < self._prob

    def _apply_stack_params(self, flips, images):
        return self._apply_stack_in_place(flips, images.copy())

    def _apply_stack_in_place(self, flips, images):
        flipped = np.flatnonzero(flips).tolist()
        use_opencv = images.dtype in (np.uint8, np.float32) and (images.ndim == 3 or images.shape[3] <= 4)
        if use_opencv and images.flags.c_contiguous:
            flip, axis = cv2().flip, self._axis
            for i in flipped:
                image = images[i]
                flip(image, axis, image)
        else:
            source = np.flip(images, self._axis + 1)
            for i in flipped:
                images[i] = source[i].copy()
        return images


class RandomHorizontalFlip(_RandomFlip):
    """Flip the image horizontally with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.

    Raises:
        TypeError: If `prob` is not a number.
        ValueError: If it is not in [0, 1].
    """

    _axis = 1


class RandomVerticalFlip(_RandomFlip):
    """Flip the image vertically with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.

    Raises:
        TypeError: If `prob` is not a number.
        ValueError: If it is not in [0, 1].
    """

    _axis = 0


class RandomResize(ImageOp):
    """Resize the image with a random interpolation mode.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side.

    Raises:
        TypeError: If `size` has the wrong type.
        ValueError: If it is not positive.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(self, size: Annotated[int | Pair, validates_only(ResizeSize)]):
        self._size = resize_height_width(size)
        self.size = size

    def _sample_params(self, stream, image):
        return (Inter.LINEAR, Inter.NEAREST, Inter.CUBIC, Inter.AREA)[stream.uniform_int(0, 3)]

    def _apply_params(self, interpolation, image):
        kernels.check_image(image, "RandomResize")
        return kernels.resize(image, kernels.scaled_size(image.shape, self._size), interpolation)


class RandomRotation(ImageOp):
    """Rotate the image. The angle is drawn uniformly from a range.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle. A number d means (-d, d).
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        expand (bool, optional): True to enlarge the result until the rotated image fits. Default: False.
        center (tuple, optional): Rotation center (x, y). Default: None, the image center.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(
        self,
        degrees: Annotated[float | Pair, validates_only(Degrees)],
        resample: Interpolation = Inter.NEAREST,
        expand: Flag = False,
        center: Annotated[tuple, two_tuple] | None = None,
        fill_value: FillValue | None = 0,
    ):
        self._range = degrees_range(degrees)
        self.degrees = degrees
        self.resample: Interpolation = resample
        self.expand: Flag = expand
        self.center: tuple[Any, ...] | None = center
        self.fill_value = to_channel_values(fill_value)

    def _sample_params(self, stream, image):
        return _sample_from_range(stream, *self._range)

    def _apply_params(self, angle, image):
        return kernels.rotate(image, angle, self.resample, self.expand, self.center, self.fill_value)


class RandomAffine(ImageOp):
    """Rotate, translate, scale and shear the image randomly around its center.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle. A number d means (-d, d).
        translate (sequence, optional): Range of the translation, as fractions of width (and height): (min x, max x) or
            (min x, max x, min y, max y). Default: None.
        scale (sequence, optional): Range of the factor. Default: None, 1.
        shear (Union[int, float, sequence], optional): Range of the shear angle: (min x, max x) or
            (min x, max x, min y, max y). A number d means (-d, d). Default: None.
        resample (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(
        self,
        degrees: Degrees,
        translate: Moves | None = None,
        scale: Scaling | None = None,
        shear: Shear | None = None,
        resample: Interpolation = Inter.NEAREST,
        fill_value: FillValue | None = 0,
    ):
        self._ranges = degrees, ranges_of_axes(translate), scale or (1.0, 1.0), ranges_of_axes(shear)
        self.degrees, self.translate, self.scale_, self.shear = self._ranges
        self.resample = resample
        self.fill_value = to_channel_values(fill_value)

    def _sample_params(self, stream, image):
        kernels.check_image(image, "RandomAffine")
        f = np.float32
        degrees, translate, scale, shear = self._ranges
        h, w = image.shape[:2]
        translation = [float(f(f(t) * f(side))) for t, side in zip(translate, (w, w, h, h), strict=True)]
        pairs = (degrees, translation[:2], translation[2:], scale, shear[:2], shear[2:])
        return [stream.uniform_float(*pair) for pair in pairs]

    def _apply_params(self, params, image):
        angle, x, y, scale, shear_x, shear_y = params
        return kernels.affine(image, angle, (x, y), scale, (shear_x, shear_y), self.resample, self.fill_value)


class CutOut(ImageOp):
    """Set random squares of the image to zero.

    Args:
        length (int): Side length of each square.
        num_patches (int, optional): Number of squares. Default: 1.

    Raises:
        ValueError: If an argument is not positive.
    """

    deterministic = False

    @checked
    def __init__(self, length: PositiveInt24, num_patches: PositiveInt24 = 1, is_hwc: bool = True) -> None:
        self.length = length
        self.num_patches = num_patches
        self.is_hwc: bool = is_hwc

    def _sample_params(self, stream, image):
        if image.ndim != 3:
            raise RuntimeError(f"CutOut: image shape should be <H,W,C>, but got shape {image.shape}.")
        h, w = image.shape[:2] if self.is_hwc else image.shape[1:]
        size = self.length
        if size > h or size > w:
            raise RuntimeError(f"CutOut: input box size too large for image erase: {size} for an image of {h} x {w}.")
        return [
            (stream.uniform_int(0, h + size) - size, stream.uniform_int(0, w + size) - size)
            for _ in range(self.num_patches)
        ]

    def _apply_params(self, corners, image):
        out = image.copy()
        view = out if self.is_hwc else out.transpose(1, 2, 0)
        for y, x in corners:
            view[max(y, 0) : max(y + self.length, 0), max(x, 0) : max(x + self.length, 0)] = 0
        return out
