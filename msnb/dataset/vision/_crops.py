"""Transforms that crop the image at the center or at a random position. They are C++ operators in MindSpore."""

import math

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag
from msnb.dataset.core.tensor_op import as_array
from msnb.dataset.vision import _headers, _jpeg, kernels
from msnb.dataset.vision._kinds import (
    Area,
    Aspect,
    Attempts,
    BorderMode,
    CropSize,
    FillValue,
    Interpolation,
    Sides,
    to_channel_values,
)
from msnb.dataset.vision._pixels import ImageOp
from msnb.dataset.vision.utils import Border, Inter


class CenterCrop(ImageOp):
    """Crop the center of the image. An image that is too small is padded with zeros.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.

    Raises:
        TypeError: If `size` has the wrong type.
        ValueError: If it is not positive.
    """

    settles = True

    @checked
    def __init__(self, size: CropSize):
        self.size = size

    def _transform_row(self, image):
        return kernels.center_crop(image, *self.size)


class RandomCrop(ImageOp):
    """Crop the image at a random position.

    Args:
        size (Union[int, sequence]): (height, width), or one int for both.
        padding (Union[int, sequence], optional): Padding before the crop. Default: None.
        pad_if_needed (bool, optional): True to pad an image that is too small. Default: False.
        fill_value (Union[int, tuple], optional): Value of the padding for Border.CONSTANT. Default: 0.
        padding_mode (Border, optional): Padding mode. Default: Border.CONSTANT.

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
        self.fill_value = to_channel_values(fill_value)
        self.pad_if_needed = pad_if_needed
        self.padding_mode = padding_mode

    def _compute_padding(self, shape):
        """Return (padding, height, width) of the padded image. The padding is (left, top, right, bottom)."""
        h, w = shape[:2]
        left, top, right, bottom = self.padding
        if max(top, bottom) >= 3 * h or max(left, right) >= 3 * w:
            raise RuntimeError("RandomCropBBoxOp padding size is too big, it's more than 3 times the original size.")
        height, width = self.size
        missing_h = missing_w = 0
        if self.pad_if_needed:
            missing_h, missing_w = max(0, height - h - top - bottom), max(0, width - w - left - right)
        padding = (left + missing_w, top + missing_h, right + missing_w, bottom + missing_h)
        padded_h, padded_w = h + padding[1] + padding[3], w + padding[0] + padding[2]
        if padded_h < height or padded_w < width:
            raise RuntimeError(
                f"Crop size is greater than the image dimensions or is zero: {self.size} of an image of {padded_h} x "
                f"{padded_w}."
            )
        return padding, padded_h, padded_w

    def _sample_params(self, stream, image):
        kernels.check_image(image, "RandomCrop")
        _, h, w = self._compute_padding(image.shape)
        if (h, w) == self.size:
            return 0, 0
        x = stream.uniform_int(0, w - self.size[1])
        return x, stream.uniform_int(0, h - self.size[0])

    def _apply_params(self, corner, image):
        padding, _, _ = self._compute_padding(image.shape)
        if any(padding):
            image = self._pad_image(image, padding)
        return kernels.crop(image, *corner, self.size[1], self.size[0])

    def _pad_image(self, image, padding):
        return kernels.pad(image, padding, self.padding_mode, self.fill_value)

    def _sample_stack_params(self, stream, n, images):
        if images.ndim not in (3, 4):
            return NotImplemented
        _, h, w = self._compute_padding(images.shape[1:])
        height, width = self.size
        if (h, w) == (height, width):
            return np.zeros((n, 2), np.int64)
        if h - height == w - width:
            return stream.uniform_ints(2 * n, 0, h - height).reshape(n, 2)
        return np.array([(stream.uniform_int(0, w - width), stream.uniform_int(0, h - height)) for _ in range(n)])

    def _apply_stack_params(self, corners, images):
        padding, h, w = self._compute_padding(images.shape[1:])
        n, height, width = len(images), *self.size
        out = np.empty((n, height, width, *images.shape[3:]), images.dtype)
        if any(padding):
            if self.padding_mode == Border.CONSTANT and len(set(self.fill_value)) == 1:
                # Copy only the visible area of the image, onto the fill value.
                out.fill(self.fill_value[0])
                left, top, _, _ = padding
                image_height, image_width = images.shape[1:3]
                for i, (x, y) in enumerate(corners.tolist()):
                    x, y = x - left, y - top
                    u, v = max(x, 0), max(y, 0)
                    visible = images[
                        i, v : max(min(y + height, image_height), 0), u : max(min(x + width, image_width), 0)
                    ]
                    out[i, v - y : v - y + len(visible), u - x : u - x + visible.shape[1]] = visible
                return out
            padded = np.stack([self._pad_image(image, padding) for image in images])
        else:
            padded = images
        for i, (x, y) in enumerate(corners.tolist()):
            out[i] = padded[i, y : y + height, x : x + width]
        return out


class RandomResizedCrop(ImageOp):
    """Crop a random box (random area and aspect ratio), then resize it.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one int for both.
        scale (tuple, optional): Range of the crop's fraction of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
        max_attempts (int, optional): Attempts before a center crop is used. Default: 10.

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

    def _infer_result_spec(self, image):
        return kernels.resized_spec(image, self.size, self.interpolation)

    def _sample_crop_box(self, stream, height, width):
        """Return (x, y, width, height) of a random crop, or of a central one if no random one fits."""
        low, high = self._log_ratio
        for _ in range(self.max_attempts):
            scale = stream.uniform_float(*self.scale)
            aspect = math.exp(stream.uniform_float(low, high))
            w = _round_half_away_from_zero(math.sqrt(height * width * scale * aspect))
            h = _round_half_away_from_zero(w / aspect)
            if w <= width and h <= height:
                x = stream.uniform_int(0, width - w)
                return x, stream.uniform_int(0, height - h), w, h
        least, most = float(np.float32(self.ratio[0])), float(np.float32(self.ratio[1]))
        w, h = width, height
        if width / height < least:
            h = _round_half_away_from_zero(w / least)
        elif width / height > most:
            w = _round_half_away_from_zero(h * most)
        return _round_half_away_from_zero((width - w) / 2.0), _round_half_away_from_zero((height - h) / 2.0), w, h

    def _sample_params(self, stream, image):
        kernels.check_image(image, type(self).__name__)
        return self._sample_crop_box(stream, image.shape[0], image.shape[1])

    def _apply_params(self, box, image):
        x, y, w, h = box
        if not w or not h:
            raise RuntimeError(f"{type(self).__name__}: the part to crop is empty for an image of shape {image.shape}.")
        return kernels.resize(image[y : y + h, x : x + w], self.size, self.interpolation)

    def _apply_params_into(self, box, image, out):
        x, y, w, h = box
        if not w or not h:
            raise RuntimeError(f"{type(self).__name__}: the part to crop is empty for an image of shape {image.shape}.")
        kernels.resize_to(image[y : y + h, x : x + w], self.interpolation, out)


def _round_half_away_from_zero(x):
    """Round half away from zero, as C does."""
    return int(math.floor(x + 0.5)) if x >= 0 else int(math.ceil(x - 0.5))


class RandomCropDecodeResize(RandomResizedCrop):
    """Apply :class:`Decode`, then :class:`RandomResizedCrop`.

    Args:
        size (Union[int, sequence]): (height, width) of the result, or one int for both.
        scale (tuple, optional): Range of the crop's fraction of the area. Default: (0.08, 1.0).
        ratio (tuple, optional): Range of width / height. Default: (3. / 4., 4. / 3.).
        interpolation (Inter, optional): Interpolation mode. Default: Inter.BILINEAR.
        max_attempts (int, optional): Attempts before a center crop is used. Default: 10.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    def __call__(self, img):
        """Decode and crop a 1-D array of bytes."""
        if not isinstance(img, np.ndarray) or img.ndim != 1 or img.dtype.kind == "U":
            raise TypeError(f"Input should be an encoded image with 1-D NumPy type, got {type(img)}.")
        return self._run_eagerly(as_array(img))

    def _sample_params(self, stream, data):
        size = _jpeg.read_size(data) if _is_jpeg(data) else None
        if size is None:
            size = kernels.decode(data).shape[:2]
        _headers.check_pixels(*size)
        return self._sample_crop_box(stream, *size)

    def _infer_result_spec(self, data):
        return ((*self.size, 3), np.uint8) if self.interpolation in kernels.OPENCV_INTERPOLATIONS else None

    def _apply_params(self, box, data):
        return super()._apply_params(box, kernels.decode(data))

    def _apply_params_into(self, box, data, out):
        image = _jpeg.decode_upper_rows(data, box[1] + box[3]) if _is_jpeg(data) else None
        super()._apply_params_into(box, kernels.decode(data) if image is None else image, out)


def _is_jpeg(data):
    return data.ndim == 1 and data.dtype == np.uint8 and kernels.is_jpeg(data)
