"""Transforms of pixel values: rescaling, normalisation, colour. They are C++ operators in MindSpore."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, Flag, increasing, list_of, of_type, within
from msnb.dataset.core.tensor_op import TensorOp, as_array
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import Factor, Hue, Strength, check_statistics, check_two_within


def image_array(op, image):
    """Convert an image, passed to the transform `op` outside a pipeline, to an array."""
    if (
        not isinstance(image, np.ndarray)
        and not type(image).__module__.startswith("PIL")
        and not hasattr(image, "asnumpy")
    ):
        raise TypeError(f"Input should be NumPy or PIL image, got {type(image)}.")
    return as_array(image)


class ImageOp(TensorOp):
    """Base of the transforms of one image."""

    def __call__(self, *images: Any) -> Any:
        """Apply the transform to a numpy or PIL image (or to each of several)."""
        if not images:
            raise TypeError(f"{type(self).__name__} was called without an image.")
        results = [self._run_eagerly(image_array(self, x)) for x in images]
        return results[0] if len(results) == 1 else tuple(results)


class Rescale(ImageOp):
    """Return ``image * rescale + shift`` as float32.

    Args:
        rescale (float): The factor.
        shift (float): The summand.

    Raises:
        TypeError: If an argument is not a number.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> CV.Rescale(1.0 / 255.0, 0.0)
    """

    pointwise = True

    @checked
    def __init__(
        self,
        rescale: Annotated[int | float | np.number, of_type(int, float, np.number)],
        shift: Annotated[int | float | np.number, of_type(int, float, np.number)],
    ):
        within(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER)(rescale, "")
        within(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER)(shift, "")
        self.rescale = rescale
        self.shift = shift

    def _transform_row(self, image):
        return kernels.rescale(image, self.rescale, self.shift)

    _transform_stack = _transform_row


def _check_mean_and_std(mean, std):
    """Check lists of means and standard deviations of values from 0 to 255."""
    for name, values in (("mean", mean), ("std", std)):
        of_type(list, tuple)(values, name)
    check_statistics(mean, std, 0, 255.0)


class Normalize(ImageOp):
    """Return ``(image - mean) / std`` per channel as float32.

    Args:
        mean (sequence): Mean of each channel, in [0, 255].
        std (sequence): Standard deviation of each channel, in (0, 255].
        is_hwc (bool, optional): True if the channels are last. Default: True.

    Raises:
        TypeError: If an argument is not a sequence.
        ValueError: If the lengths differ or a value is out of range.

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> CV.Normalize(mean=[121.0, 115.0, 100.0], std=[70.0, 68.0, 71.0])
    """

    pointwise = True

    @checked
    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: Flag = True) -> None:
        _check_mean_and_std(mean, std)
        self.mean: list[Any] = [mean[0]] * 3 if len(mean) == 1 else list(mean)
        self.std: list[Any] = [std[0]] * 3 if len(std) == 1 else list(std)
        self.is_hwc = is_hwc
        self._mean = np.array(self.mean, np.float32)
        self._std = np.array(self.std, np.float32)
        self._one = len(mean) == 1
        if not is_hwc:
            self.pointwise: bool = False

    def _transform_row(self, image):
        if image.ndim == 2 and self._one:
            return kernels.normalize(image, self._mean[0], self._std[0])
        if image.ndim != 3:
            raise RuntimeError(f"Normalize: image shape should be <H,W,C>, but got shape {image.shape}.")
        channels = image.shape[2 if self.is_hwc else 0]
        mean, std = self._mean, self._std
        if self._one:
            mean, std = np.broadcast_to(mean[:1], channels), np.broadcast_to(std[:1], channels)
        elif channels != len(mean):
            raise RuntimeError(
                f"Normalize: number of channels does not match the size of mean and std vectors: {channels} "
                f"channels, but {len(mean)} values. Input image is not in RGB."
            )
        if not self.is_hwc:
            mean, std = mean[:, None, None], std[:, None, None]
        return kernels.normalize(image, mean, std)

    def _transform_stack(self, images):
        if images.ndim != 4 or not self.is_hwc or images.shape[3] != len(self._mean):
            return NotImplemented
        return kernels.normalize(images, self._mean, self._std)


class NormalizePad(ImageOp):
    """Apply :class:`Normalize` and append a channel of zeros.

    Args:
        mean (sequence): Mean of each channel, in [0, 255].
        std (sequence): Standard deviation of each channel, in (0, 255].
        dtype (str, optional): Type of the result, 'float32' or 'float16'. Default: 'float32'.
        is_hwc (bool, optional): True if the channels are last. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the lengths differ, a value is out of range or `dtype` is not supported.
    """

    @answered
    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        _check_mean_and_std(mean, std)
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ("float32", "float16"):
            raise ValueError("dtype only support float32 or float16.")
        self.mean = mean
        self.std = std
        self.dtype: str = dtype
        self.is_hwc: bool = is_hwc
        self._mean = np.array(mean, np.float32)
        self._std = np.array(std, np.float32)

    def _transform_row(self, image):
        if image.ndim != 3 or len(self._mean) not in (1, image.shape[2 if self.is_hwc else 0]):
            raise RuntimeError(
                f"NormalizePad: Input image is not in RGB: image shape should be <H,W,{len(self._mean)}>, but got "
                f"{image.shape}."
            )
        channels = image.shape[2 if self.is_hwc else 0]
        mean, std = np.broadcast_to(self._mean, channels), np.broadcast_to(self._std, channels)
        if self.is_hwc:
            normalized = kernels.normalize(image, mean, std)
            return np.concatenate([normalized, np.zeros((*normalized.shape[:2], 1), np.float32)], axis=2).astype(
                self.dtype
            )
        normalized = kernels.normalize(image, mean[:, None, None], std[:, None, None])
        return np.concatenate([normalized, np.zeros((1, *normalized.shape[1:]), np.float32)]).astype(self.dtype)


class HWC2CHW(ImageOp):
    """Move the channels from the last axis to the first.

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> CV.HWC2CHW()
    """

    to_planes = True

    def _transform_row(self, image):
        return kernels.hwc_to_chw(image)

    def _transform_stack(self, images):
        if images.ndim == 3:
            return images
        if images.ndim != 4:
            return NotImplemented
        if images.shape[3] == 1:
            return images.reshape(len(images), 1, *images.shape[1:3])
        return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


class Invert(ImageOp):
    """Invert the image: 255 minus each value."""

    pointwise = True

    def _transform_row(self, image):
        return kernels.invert(image)


class Equalize(ImageOp):
    """Equalize the histogram of each channel."""

    costly = True

    def _transform_row(self, image):
        return kernels.equalize(image)


class AutoContrast(ImageOp):
    """Stretch each channel to the full range.

    Args:
        cutoff (float, optional): Percent of the histogram to clip at each end. Default: 0.0.
        ignore (Union[int, sequence], optional): Values to exclude. Default: None.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    costly = True

    @checked
    def __init__(self, cutoff: Annotated[int | float, within(0, 100, int, float)] = 0.0, ignore: Any = None) -> None:
        if ignore is None:
            ignore = []
        of_type(list, tuple, int)(ignore, "ignore")
        self.ignore = [ignore] if isinstance(ignore, int) else list(ignore)
        for item in self.ignore:
            of_type(int)(item, "item")
            within(0, 255)(item, "ignore")
        self.cutoff = cutoff

    def _transform_row(self, image):
        return kernels.autocontrast(image, self.cutoff, self.ignore)


class RandomColorAdjust(ImageOp):
    """Change brightness, contrast, saturation and hue randomly, in random order.

    Args:
        brightness (Union[float, tuple], optional): (min, max) of the factor, or its maximum distance from 1.
            Default: (1, 1).
        contrast (Union[float, tuple], optional): The same for contrast. Default: (1, 1).
        saturation (Union[float, tuple], optional): The same for saturation. Default: (1, 1).
        hue (Union[float, tuple], optional): Range of the hue shift, within [-0.5, 0.5]. Default: (0, 0).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    deterministic = False
    costly = True

    @checked
    def __init__(
        self, brightness: Factor = (1, 1), contrast: Factor = (1, 1), saturation: Factor = (1, 1), hue: Hue = (0, 0)
    ):
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue

    def _sample_params(self, stream, image):
        params = []
        for name in stream.shuffle(["brightness", "contrast", "saturation", "hue"]):
            low, high = getattr(self, name)
            if low == high == (0 if name == "hue" else 1):
                continue
            params.append((name, stream.uniform_float(low, high)))
        return params

    def _apply_params(self, params, image):
        if image.ndim != 3 or image.shape[2] != 3:
            if params:
                raise RuntimeError(
                    "RandomColorAdjust: The shape is incorrect: number of channels does not equal 3, but got shape "
                    f"{image.shape}."
                )
        for name, factor in params:
            image = getattr(kernels, name)(image, factor)
        return image


class RandomColor(ImageOp):
    """Change the saturation randomly. Factor 0 gives the gray image, 1 the original, a greater factor stronger colours.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).

    Raises:
        TypeError: If `degrees` is not a sequence of numbers.
        ValueError: If it is negative or not (min, max).
    """

    deterministic = False
    costly = True

    @checked
    def __init__(self, degrees: Strength = (0.1, 1.9)):
        self.degrees = degrees

    def _sample_params(self, stream, image):
        return stream.uniform_float(*self.degrees)

    def _apply_params(self, factor, image):
        if image.ndim != 3 or image.shape[2] != 3:
            raise RuntimeError(f"RandomColor: image must have 3 channels, but got shape {image.shape}.")
        if abs(factor - 1.0) < 0.00195:
            return image
        image = kernels.widen_bool(image)
        if abs(factor) < 0.00195:
            return kernels.to_gray_rgb(image)
        return kernels.saturation(image, factor)


class RandomSharpness(ImageOp):
    """Change the sharpness randomly. Factor 0 gives a smoothed image, 1 the original, a greater factor a sharper image.

    Args:
        degrees (sequence, optional): Range of the factor. Default: (0.1, 1.9).

    Raises:
        TypeError: If `degrees` is not a sequence of numbers.
        ValueError: If it is negative or not (min, max).
    """

    deterministic = False
    costly = True

    @checked
    def __init__(self, degrees: Strength = (0.1, 1.9)):
        self.degrees = degrees

    def _sample_params(self, stream, image):
        return _sample_from_range(stream, *self.degrees)

    def _apply_params(self, alpha, image):
        return kernels.sharpness(image, alpha)


def _sample_from_range(stream, low, high):
    """Draw a number from a range as MindSpore does: the center plus a random offset of up to half the width, in
    float32.
    """
    f = np.float32
    offset = f(stream.uniform_float(-1.0, 1.0))
    return float((f(high) + f(low)) / f(2) + offset * ((f(high) - f(low)) / f(2)))


class RandomPosterize(ImageOp):
    """Keep a random number of the highest bits of each value.

    Args:
        bits (Union[int, sequence], optional): Number of bits or its range, in [1, 8]. Default: (8, 8).

    Raises:
        TypeError: If `bits` has the wrong type.
        ValueError: If it is out of range.
    """

    deterministic = False

    @checked
    def __init__(self, bits: Annotated[list | tuple | int, of_type(list, tuple, int)] = (8, 8)):
        self.bits = bits
        self._bits = (bits, bits) if isinstance(bits, int) else tuple(bits)
        if len(self._bits) != 2:
            raise TypeError("Size of bits should be a single integer or a list/tuple (min, max) of length 2.")
        list_of(int)(self._bits, "bits")
        increasing(1, 8)(self._bits, "")

    def _sample_params(self, stream, image):
        low, high = self._bits
        return low if low == high else stream.uniform_int(low, high)

    def _apply_params(self, bits, image):
        return kernels.posterize(image, bits)


class RandomSolarize(ImageOp):
    """Invert the values in a random interval of a range.

    Args:
        threshold (tuple, optional): The range, in [0, 255]. Default: (0, 255).

    Raises:
        TypeError: If `threshold` is not a tuple of int.
        ValueError: If it is not (min, max).
    """

    deterministic = False

    @checked
    def __init__(self, threshold: Annotated[tuple[int, int], list_of(int, containers=(tuple,))] = (0, 255)):
        low, high = check_two_within(0, 255, threshold, ValueError("threshold must be a sequence of two numbers."))
        if low > high:
            raise ValueError("threshold must be in min max format numbers.")
        self.threshold = threshold

    def _sample_params(self, stream, image):
        a, b = stream.uniform_int(*self.threshold), stream.uniform_int(*self.threshold)
        return min(a, b), max(a, b)

    def _apply_params(self, limits, image):
        if image.ndim == 3 and image.shape[2] not in (1, 3):
            raise RuntimeError(f"Solarize: Number of channels is not 1 or 3, but got shape {image.shape}.")
        return kernels.solarize(image, *limits)
