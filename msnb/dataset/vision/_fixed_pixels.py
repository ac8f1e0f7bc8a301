"""MindSpore 2's transforms of pixel values with fixed parameters, applied always or with a probability."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, of_type, within
from msnb.dataset.core.optional import cv2
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import Probability
from msnb.dataset.vision._pixels import AutoContrast, Equalize, ImageOp, Invert
from msnb.dataset.vision.py_transforms_util import is_pil
from msnb.dataset.vision.utils import ConvertMode


class _FactorAdjustment(ImageOp):
    """Base of colour changes with one factor."""

    costly = True
    _bounds = (0, FLOAT_MAX_INTEGER)
    _change = None

    def _store_arguments(self, name, value):
        of_type(float, int)(value, name)
        within(*self._bounds)(value, name)
        setattr(self, name, value)
        self._factor = value

    def _transform_row(self, image):
        return type(self)._change(image, self._factor)


class AdjustBrightness(_FactorAdjustment):
    """Multiply the brightness by a factor.

    Args:
        brightness_factor (float): Not negative; 1 leaves the image unchanged.
    """

    _change = staticmethod(kernels.brightness)

    def __init__(self, brightness_factor: float) -> None:
        self._store_arguments("brightness_factor", brightness_factor)


class AdjustContrast(_FactorAdjustment):
    """Multiply the contrast by a factor.

    Args:
        contrast_factor (float): Not negative; 1 leaves the image unchanged.
    """

    _change = staticmethod(kernels.contrast)

    def __init__(self, contrast_factor: float) -> None:
        self._store_arguments("contrast_factor", contrast_factor)


class AdjustSaturation(_FactorAdjustment):
    """Multiply the saturation by a factor.

    Args:
        saturation_factor (float): Not negative; 1 leaves the image unchanged.
    """

    _change = staticmethod(kernels.saturation)

    def __init__(self, saturation_factor: float) -> None:
        self._store_arguments("saturation_factor", saturation_factor)


class AdjustSharpness(_FactorAdjustment):
    """Multiply the sharpness by a factor.

    Args:
        sharpness_factor (float): Not negative; 1 leaves the image unchanged.
    """

    _change = staticmethod(kernels.sharpness)

    def __init__(self, sharpness_factor: float) -> None:
        self._store_arguments("sharpness_factor", sharpness_factor)


class AdjustHue(_FactorAdjustment):
    """Shift the hue.

    Args:
        hue_factor (float): Fraction of the colour circle, -0.5 to 0.5.
    """

    _bounds = (-0.5, 0.5)
    _change = staticmethod(kernels.hue)

    def __init__(self, hue_factor: float) -> None:
        self._store_arguments("hue_factor", hue_factor)


class AdjustGamma(ImageOp):
    """Return ``gain * image ** gamma`` with the image scaled to [0, 1].

    Args:
        gamma (float): The exponent, not negative.
        gain (float, optional): The factor. Default: 1.
    """

    pointwise = True

    @checked
    def __init__(self, gamma: Annotated[float, of_type(float, int)], gain: Annotated[float, of_type(float, int)] = 1):
        within(0, FLOAT_MAX_INTEGER)(gamma, "gamma")
        self.gamma: float = gamma
        self.gain: float = gain

    def _transform_row(self, image):
        if image.dtype.kind != "f":
            # MindSpore changes the lowest byte of each integer.
            low = image.astype(np.uint8)
            return (self._compute_table()[low] - low.astype(np.int64) + image).astype(image.dtype)
        return np.clip(image.astype(np.float32) ** np.float32(self.gamma) * np.float32(self.gain), 0, 1)

    def _compute_table(self):
        """Return the result for each uint8 value."""
        scaled = (255 + 1 - 1e-3) * self.gain * (np.arange(256) / 255.0) ** self.gamma
        return np.clip(scaled, 0, 255).astype(np.uint8)

    def _transform_pil_image(self, image):
        bands = len(image.getbands())
        if bands not in (1, 3):
            return image  # MindSpore leaves images with an alpha channel unchanged
        return image.point(self._compute_table().tolist() * bands)

    def __call__(self, *images):
        """Apply the transform to a numpy or PIL image. The result has the same type."""
        if len(images) == 1 and is_pil(images[0]):
            return self._transform_pil_image(images[0])
        return super().__call__(*images)


class ConvertColor(ImageOp):
    """Convert the image to another colour space.

    Args:
        convert_mode (ConvertMode): The two colour spaces.
    """

    @checked
    def __init__(self, convert_mode: Annotated[ConvertMode, of_type(ConvertMode)]):
        self.convert_mode = convert_mode

    def _transform_row(self, image):
        kernels.check_image(image, "ConvertColor")
        converted = cv2().cvtColor(kernels.to_opencv(image), int(self.convert_mode))
        return converted.astype(image.dtype) if image.dtype == np.bool_ else converted


class GaussianBlur(ImageOp):
    """Blur the image with a Gaussian.

    Args:
        kernel_size (Union[int, Sequence[int]]): Odd width (and height) of the kernel.
        sigma (Union[float, Sequence[float]], optional): Standard deviation(s). Default: None, computed from the kernel
            size.
    """

    costly = True

    def __init__(self, kernel_size, sigma=None):
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

    def _transform_row(self, image):
        kernels.check_image(image, "GaussianBlur")
        return (
            cv2()
            .GaussianBlur(kernels.to_opencv(image), self.kernel_size, self.sigma[0], sigmaY=self.sigma[1])
            .reshape(image.shape)
        )


class Posterize(ImageOp):
    """Keep the highest bits of each value.

    Args:
        bits (int): Number of bits, 0 to 8.
    """

    pointwise = True

    @checked
    def __init__(self, bits: Annotated[int, within(0, 8, int)]):
        self.bits: int = bits

    def _transform_row(self, image):
        return kernels.posterize(image, self.bits)


class Solarize(ImageOp):
    """Invert the values of a range.

    Args:
        threshold (Union[float, Sequence[float, float]]): The range in [0, 255]. A number v means (v, v).
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

    def _transform_row(self, image):
        return kernels.solarize(image, *self.threshold)


class _RandomlyApplied(ImageOp):
    """Base of transforms that apply a fixed change with probability `prob`."""

    deterministic = False
    costly = True

    def _store_arguments(self, op, prob):
        self._op = op
        self.prob = check(Probability, prob, "prob", type(self).__name__)

    def _sample_params(self, stream, image):
        return stream.bernoulli(float(np.float32(self.prob)))

    def _apply_params(self, change, image):
        return self._op._transform_row(image) if change else image


class RandomAdjustSharpness(_RandomlyApplied):
    """Apply :class:`AdjustSharpness` with probability `prob`.

    Args:
        degree (float): The factor.
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    def __init__(self, degree, prob=0.5):
        self._store_arguments(AdjustSharpness(degree), prob)
        self.degree = degree


class RandomAutoContrast(_RandomlyApplied):
    """Apply :class:`AutoContrast` with probability `prob`.

    Args:
        cutoff, ignore: As for :class:`AutoContrast`.
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    def __init__(self, cutoff=0.0, ignore=None, prob=0.5):
        self._store_arguments(AutoContrast(cutoff, ignore), prob)


class RandomEqualize(_RandomlyApplied):
    """Apply :class:`Equalize` with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    def __init__(self, prob=0.5):
        self._store_arguments(Equalize(), prob)


class RandomInvert(_RandomlyApplied):
    """Apply :class:`Invert` with probability `prob`.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    def __init__(self, prob=0.5):
        self._store_arguments(Invert(), prob)
