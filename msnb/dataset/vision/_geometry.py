"""Transforms of where pixels are: decoding, resizing, cropping, turning. C++ operators in MindSpore."""

import math
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag
from msnb.dataset.core.optional import cv2
from msnb.dataset.core.tensor_op import as_array
from msnb.dataset.vision import _headers, _jpeg, kernels
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
    PositiveInt24,
    Probability,
    ResizeSize,
    Scaling,
    Shear,
    Sides,
    as_given,
    both_axes,
    degrees_range,
    height_width,
    pair,
    triple,
)
from msnb.dataset.vision._pixels import ImageOp, _around
from msnb.dataset.vision.utils import Border, Inter


class Decode(ImageOp):
    """An RGB image (uint8, (H, W, 3)) out of the bytes of a JPEG, PNG, BMP or other file.

    Args:
        rgb (bool, optional): Must be True. Default: True.

    Raises:
        RuntimeError: If the bytes are no image.

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
        """Decode bytes, given as a 1-D array."""
        if isinstance(img, bytes):
            img = np.frombuffer(img, np.uint8)
        if not isinstance(img, np.ndarray) or img.ndim != 1 or img.dtype.kind == "U":
            raise TypeError(f"Input should be an encoded image with 1-D NumPy type, got {type(img)}.")
        return self._row(img)

    def _row(self, data):
        return kernels.decode(data)


class Resize(ImageOp):
    """The image in another size.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side, and the ratio is kept.
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.LINEAR.

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

    def _row(self, image):
        kernels.image(image, "Resize")
        return kernels.resize(image, kernels.scaled_size(image.shape, self._size), self.interpolation)

    def _stack(self, images):
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
        resize, flag, size = cv2().resize, kernels.flag(self.interpolation), (width, height)
        source, target = (images[..., 0], out[..., 0]) if images.ndim == 4 and images.shape[3] == 1 else (images, out)
        for i in range(len(images)):
            resize(source[i], size, target[i], interpolation=flag)
        return out


class CenterCrop(ImageOp):
    """The middle of the image; zeros where it is too small.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.

    Raises:
        TypeError: If `size` has the wrong type.
        ValueError: If it is not positive.
    """

    settles = True

    @checked
    def __init__(self, size: CropSize):
        self.size = size

    def _row(self, image):
        return kernels.center_crop(image, *self.size)


class Pad(ImageOp):
    """More pixels around the image.

    Args:
        padding (Union[int, sequence]): How many: all around, (left and right, top and bottom) or (left, top, right,
            bottom).
        fill_value (Union[int, tuple], optional): Their value for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): What they are. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    @checked
    def __init__(self, padding: Sides, fill_value: FillValue = 0, padding_mode: BorderMode = Border.CONSTANT):
        self.padding = padding
        self.fill_value = triple(fill_value)
        self.padding_mode = padding_mode

    def _row(self, image):
        return kernels.pad(image, self.padding, self.padding_mode, self.fill_value)


class RandomCrop(ImageOp):
    """A part of the image at a random place.

    Args:
        size (Union[int, sequence]): (height, width), or one for both.
        padding (Union[int, sequence], optional): Pixels put around first. Default: None.
        pad_if_needed (bool, optional): Whether an image that is too small is padded. Default: False.
        fill_value (Union[int, tuple], optional): Value of the padding for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): What the padding is. Default: Border.CONSTANT.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> CV.RandomCrop((32, 32), (4, 4, 4, 4))
    """

    deterministic = False
    makes_new = True

    @checked
    def __init__(
        self,
        size: CropSize,
        padding: Sides | None = None,
        pad_if_needed: Flag = False,
        fill_value: FillValue | None = 0,
        padding_mode: BorderMode = Border.CONSTANT,
    ):
        self.size = size
        self.padding = padding or (0, 0, 0, 0)
        self.fill_value = triple(fill_value)
        self.pad_if_needed = pad_if_needed
        self.padding_mode = padding_mode

    def _plan(self, shape):
        """((left, top, right, bottom), height, width) of the padded image."""
        h, w = shape[:2]
        left, top, right, bottom = self.padding
        if max(top, bottom) >= 3 * h or max(left, right) >= 3 * w:
            raise RuntimeError("RandomCropBBoxOp padding size is too big, it's more than 3 times the original size.")
        height, width = self.size
        more_h = more_w = 0
        if self.pad_if_needed:
            more_h, more_w = max(0, height - h - top - bottom), max(0, width - w - left - right)
        padding = (left + more_w, top + more_h, right + more_w, bottom + more_h)
        padded_h, padded_w = h + padding[1] + padding[3], w + padding[0] + padding[2]
        if padded_h < height or padded_w < width:
            raise RuntimeError(
                f"Crop size is greater than the image dimensions or is zero: {self.size} of an image of {padded_h} x "
                f"{padded_w}."
            )
        return padding, padded_h, padded_w

    def _draw(self, stream, image):
        kernels.image(image, "RandomCrop")
        _, h, w = self._plan(image.shape)
        if (h, w) == self.size:
            return 0, 0
        x = stream.uniform_int(0, w - self.size[1])
        return x, stream.uniform_int(0, h - self.size[0])

    def _apply(self, drawn, image):
        padding, _, _ = self._plan(image.shape)
        if any(padding):
            image = self._padded(image, padding)
        return kernels.crop(image, *drawn, self.size[1], self.size[0])

    def _padded(self, image, padding):
        return kernels.pad(image, padding, self.padding_mode, self.fill_value)

    def _draw_stack(self, stream, n, images):
        if images.ndim not in (3, 4):
            return NotImplemented
        _, h, w = self._plan(images.shape[1:])
        height, width = self.size
        if (h, w) == (height, width):
            return np.zeros((n, 2), np.int64)
        if h - height == w - width:
            return stream.uniform_ints(2 * n, 0, h - height).reshape(n, 2)
        return np.array([(stream.uniform_int(0, w - width), stream.uniform_int(0, h - height)) for _ in range(n)])

    def _apply_stack(self, drawn, images):
        padding, h, w = self._plan(images.shape[1:])
        n, height, width = len(images), *self.size
        out = np.empty((n, height, width, *images.shape[3:]), images.dtype)
        if any(padding):
            if self.padding_mode == Border.CONSTANT and len(set(self.fill_value)) == 1:
                # Only what a crop shows of the image is copied, onto the fill value.
                out.fill(self.fill_value[0])
                left, top, _, _ = padding
                high, wide = images.shape[1:3]
                for i, (x, y) in enumerate(drawn.tolist()):
                    x, y = x - left, y - top
                    u, v = max(x, 0), max(y, 0)
                    seen = images[i, v : max(min(y + height, high), 0), u : max(min(x + width, wide), 0)]
                    out[i, v - y : v - y + len(seen), u - x : u - x + seen.shape[1]] = seen
                return out
            whole = np.stack([self._padded(image, padding) for image in images])
        else:
            whole = images
        for i, (x, y) in enumerate(drawn.tolist()):
            out[i] = whole[i, y : y + height, x : x + width]
        return out


class _RandomFlip(ImageOp):
    deterministic = False

    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob
        self._prob = float(np.float32(prob))

    def _draw(self, stream, image):
        kernels.image(image, type(self).__name__)
        return stream.bernoulli(self._prob)

    def _apply(self, flip, image):
        return np.ascontiguousarray(np.flip(image, self._axis)) if flip else image

    def _draw_stack(self, stream, n, images):
        if images.ndim not in (3, 4):
            return NotImplemented
        return stream.canonicals(n) < self._prob

    def _apply_stack(self, flips, images):
        return self._apply_in_place(flips, images.copy())

    def _apply_in_place(self, flips, images):
        chosen = np.flatnonzero(flips).tolist()
        opencv = images.dtype in (np.uint8, np.float32) and (images.ndim == 3 or images.shape[3] <= 4)
        if opencv and images.flags.c_contiguous:
            flip, axis = cv2().flip, self._axis
            for i in chosen:
                image = images[i]
                flip(image, axis, image)
        else:
            source = np.flip(images, self._axis + 1)
            for i in chosen:
                images[i] = source[i].copy()
        return images


class RandomHorizontalFlip(_RandomFlip):
    """Left and right exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.

    Raises:
        TypeError: If `prob` is no number.
        ValueError: If it is not in [0, 1].
    """

    _axis = 1


class RandomVerticalFlip(_RandomFlip):
    """Top and bottom exchanged, at random.

    Args:
        prob (float, optional): Probability of it. Default: 0.5.

    Raises:
        TypeError: If `prob` is no number.
        ValueError: If it is not in [0, 1].
    """

    _axis = 0


class RandomResizedCrop(ImageOp):
    """A random part of the image (random area and ratio), resized.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one for both.
        scale (tuple, optional): Range of the part's share of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
        max_attempts (int, optional): Tries before the middle is taken. Default: 10.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    deterministic = False
    costly = True
    makes_new = True

    @checked
    def __init__(
        self,
        size: CropSize,
        scale: Area = (0.08, 1.0),
        ratio: Aspect = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Interpolation = Inter.BILINEAR,
        max_attempts: Attempts = 10,
    ):
        self.size = size
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.max_attempts = max_attempts
        self._log_ratio = tuple(np.float32(math.log(np.float32(r))) for r in ratio)

    def _result(self, image):
        return kernels.resized_like(image, self.size, self.interpolation)

    def box(self, stream: Any, height: int, width: int) -> Any:
        """(x, y, width, height) of the part."""
        low, high = self._log_ratio
        for _ in range(self.max_attempts):
            scale = stream.uniform_float(*self.scale)
            aspect = math.exp(stream.uniform_float(low, high))
            w = _round(math.sqrt(height * width * scale * aspect))
            h = _round(w / aspect)
            if w <= width and h <= height:
                x = stream.uniform_int(0, width - w)
                return x, stream.uniform_int(0, height - h), w, h
        least, most = float(np.float32(self.ratio[0])), float(np.float32(self.ratio[1]))
        w, h = width, height
        if width / height < least:
            h = _round(w / least)
        elif width / height > most:
            w = _round(h * most)
        return _round((width - w) / 2.0), _round((height - h) / 2.0), w, h

    def _draw(self, stream, image):
        kernels.image(image, type(self).__name__)
        return self.box(stream, image.shape[0], image.shape[1])

    def _apply(self, box, image):
        x, y, w, h = box
        if not w or not h:
            raise RuntimeError(f"{type(self).__name__}: the part to crop is empty for an image of shape {image.shape}.")
        return kernels.resize(image[y : y + h, x : x + w], self.size, self.interpolation)

    def _apply_to(self, box, image, out):
        x, y, w, h = box
        if not w or not h:
            raise RuntimeError(f"{type(self).__name__}: the part to crop is empty for an image of shape {image.shape}.")
        kernels.resize_to(image[y : y + h, x : x + w], self.interpolation, out)


def _round(x):
    """C's round: half away from zero."""
    return int(math.floor(x + 0.5)) if x >= 0 else int(math.ceil(x - 0.5))


class RandomCropDecodeResize(RandomResizedCrop):
    """:class:`Decode` and :class:`RandomResizedCrop` in one.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one for both.
        scale (tuple, optional): Range of the part's share of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): How pixels between pixels are computed. Default: Inter.BILINEAR.
        max_attempts (int, optional): Tries before the middle is taken. Default: 10.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    def __call__(self, img: Any) -> Any:
        """Decode and crop bytes, given as a 1-D array."""
        if not isinstance(img, np.ndarray) or img.ndim != 1 or img.dtype.kind == "U":
            raise TypeError(f"Input should be an encoded image with 1-D NumPy type, got {type(img)}.")
        return self._eager(as_array(img))

    def _draw(self, stream, data):
        size = _jpeg.size(data) if _is_jpeg(data) else None
        if size is None:
            size = kernels.decode(data).shape[:2]
        _headers.check_pixels(*size)
        return self.box(stream, *size)

    def _result(self, data):
        return ((*self.size, 3), np.uint8) if self.interpolation in kernels.OPENCV else None

    def _apply(self, box, data):
        return super()._apply(box, kernels.decode(data))

    def _apply_to(self, box, data, out):
        image = _jpeg.upper_rows(data, box[1] + box[3]) if _is_jpeg(data) else None
        super()._apply_to(box, kernels.decode(data) if image is None else image, out)


def _is_jpeg(data):
    return data.ndim == 1 and data.dtype == np.uint8 and kernels.is_jpeg(data)


class RandomResize(ImageOp):
    """:class:`Resize` with a random interpolation.

    Args:
        size (Union[int, sequence]): (height, width); an int is the length of the shorter side.

    Raises:
        TypeError: If `size` has the wrong type.
        ValueError: If it is not positive.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(self, size: Annotated[int | Pair, as_given(ResizeSize)]):
        self._size = height_width(size)
        self.size = size

    def _draw(self, stream, image):
        return (Inter.LINEAR, Inter.NEAREST, Inter.CUBIC, Inter.AREA)[stream.uniform_int(0, 3)]

    def _apply(self, interpolation, image):
        kernels.image(image, "RandomResize")
        return kernels.resize(image, kernels.scaled_size(image.shape, self._size), interpolation)


class RandomRotation(ImageOp):
    """The image turned by an angle that is drawn for each.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle; a number d stands for (-d, d).
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        expand (bool, optional): Whether the result is as large as needed to hold everything. Default: False.
        center (tuple, optional): (x, y) of the fixed point. Default: None, the middle.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(
        self,
        degrees: Annotated[float | Pair, as_given(Degrees)],
        resample: Interpolation = Inter.NEAREST,
        expand: Flag = False,
        center: Annotated[tuple, pair] | None = None,
        fill_value: FillValue | None = 0,
    ):
        self._range = degrees_range(degrees)
        self.degrees = degrees
        self.resample: Interpolation = resample
        self.expand: Flag = expand
        self.center: tuple[Any, ...] | None = center
        self.fill_value = triple(fill_value)

    def _draw(self, stream, image):
        return _around(stream, *self._range)

    def _apply(self, angle, image):
        return kernels.rotate(image, angle, self.resample, self.expand, self.center, self.fill_value)


class RandomAffine(ImageOp):
    """The image turned, moved, scaled and sheared at random around its centre.

    Args:
        degrees (Union[int, float, sequence]): Range of the angle; a number d stands for (-d, d).
        translate (sequence, optional): Range of the move, as shares of width (and height): (x, X) or (x, X, y, Y).
            Default: None.
        scale (sequence, optional): Range of the factor. Default: None, 1.
        shear (Union[int, float, sequence], optional): Range of the shear angle: d, (x, X) or (x, X, y, Y). Default:
            None.
        resample (Inter, optional): How pixels between pixels are computed. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Value of pixels from outside. Default: 0.

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
        self._ranges = degrees, both_axes(translate), scale or (1.0, 1.0), both_axes(shear)
        self.degrees, self.translate, self.scale_, self.shear = self._ranges
        self.resample = resample
        self.fill_value = triple(fill_value)

    def _draw(self, stream, image):
        kernels.image(image, "RandomAffine")
        f = np.float32
        degrees, translate, scale, shear = self._ranges
        h, w = image.shape[:2]
        move = [float(f(f(t) * f(side))) for t, side in zip(translate, (w, w, h, h), strict=True)]
        pairs = (degrees, move[:2], move[2:], scale, shear[:2], shear[2:])
        return [stream.uniform_float(*pair) for pair in pairs]

    def _apply(self, drawn, image):
        angle, x, y, scale, shear_x, shear_y = drawn
        return kernels.affine(image, angle, (x, y), scale, (shear_x, shear_y), self.resample, self.fill_value)


class CutOut(ImageOp):
    """Random squares of the image set to zero.

    Args:
        length (int): Side of each square.
        num_patches (int, optional): How many. Default: 1.

    Raises:
        ValueError: If an argument is not positive.
    """

    deterministic = False

    @checked
    def __init__(self, length: PositiveInt24, num_patches: PositiveInt24 = 1, is_hwc: bool = True) -> None:
        self.length = length
        self.num_patches = num_patches
        self.is_hwc: bool = is_hwc

    def _draw(self, stream, image):
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

    def _apply(self, drawn, image):
        out = image.copy()
        view = out if self.is_hwc else out.transpose(1, 2, 0)
        for y, x in drawn:
            view[max(y, 0) : max(y + self.length, 0), max(x, 0) : max(x + self.length, 0)] = 0
        return out
