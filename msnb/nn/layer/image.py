"""Image layers: gradients, similarity (SSIM, MSSSIM, PSNR), cropping."""

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import Between, Float, Kind, PositiveInt, StrictFloat, accept_value, checked, readable
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn._input_checks import FLOATS, check_alike, check_dims, check_dtypes
from msnb.nn._kinds import AboveZero, FloatNotNan
from msnb.nn.cell import Cell
from msnb.nn.layer._pixel_shuffle import PixelShuffle, PixelUnshuffle
from msnb.nn.layer.container import CellList
from msnb.nn.layer.conv import Conv2d
from msnb.nn.layer.pooling import AvgPool2d
from msnb.ops import functional as F
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    pass

__all__ = ["ImageGradients", "SSIM", "MSSSIM", "PSNR", "CentralCrop", "PixelShuffle", "PixelUnshuffle"]


def _check_image_pair(layer, img1, img2):
    check_dims(layer, img1, 4, name="'img1'")
    check_dims(layer, img2, 4, name="'img2'")
    check_alike(layer, img1=img1, img2=img2)


def _get_max_pixel_value(dtype):
    """Return the greatest pixel value of a dtype: the greatest integer, or 1.0 for floats."""
    np_dtype = np.dtype(mstype.dtype_to_nptype(dtype))
    return float(np.iinfo(np_dtype).max) if np_dtype.kind in "iu" else 1.0


class ImageGradients(Cell):
    """
    Differences between neighbouring pixels.

    Inputs:
        - **images** (Tensor) - of shape (N, C, H, W).

    Outputs:
        - **dy** (Tensor) - the pixel below minus this pixel; 0 in the last row.
        - **dx** (Tensor) - the pixel to the right minus this pixel; 0 in the last column.

    Raises:
        ValueError: If `images` have a wrong number of dimensions.

    Examples:
        >>> dy, dx = nn.ImageGradients()(Tensor([[[[1, 2], [4, 8]]]], mindspore.int32))
        >>> print(dy[0, 0], dx[0, 0])
        [[3 6]
         [0 0]] [[1 0]
         [4 0]]
    """

    def construct(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return (dy, dx)."""
        check_dims(self.cls_name, images, 4)
        down, across = images[:, :, 1:] - images[:, :, :-1], images[..., 1:] - images[..., :-1]
        last_row, last_column = F.zeros_like(images[:, :, -1:]), F.zeros_like(images[..., -1:])
        return F.concat((down, last_row), 2), F.concat((across, last_column), 3)


def _make_gaussian_window(size, sigma):
    """Return a Gaussian convolution weight of shape (1, 1, size, size) whose sum is 1."""
    places = np.arange(size, dtype=np.float32) - (size - 1) // 2
    window = np.exp(-np.add.outer(places**2, places**2) / (2 * sigma**2))
    return Tensor((window / window.sum())[None, None].astype(np.float32))


class _Similarity(Cell):
    """Base class of SSIM and MSSSIM: compares images in Gaussian windows, at one scale."""

    @checked
    def __init__(
        self,
        max_val: PositiveNumber = 1.0,
        filter_size: PositiveInt = 11,
        filter_sigma: AboveZero = 1.5,
        k1: FloatNotNan = 0.01,
        k2: FloatNotNan = 0.03,
    ) -> None:
        super().__init__()
        self.max_val: float = max_val
        self.filter_size: int = filter_size
        self.filter_sigma = filter_sigma
        self.k1: float = k1
        self.k2: float = k2
        self.reduce_mean: P.ReduceMean = P.ReduceMean()

    def _make_gaussian_window(self):
        weight = _make_gaussian_window(self.filter_size, self.filter_sigma)
        window = Conv2d(1, 1, self.filter_size, pad_mode="valid", weight_init=weight, bias_init="zeros")
        window.weight.requires_grad = False
        return window

    def _compare_images(self, img1, img2, unit, window):
        """Compare two batches (N, C, H, W). Return the similarity of brightness and structure, and of structure only,
        as (N, C)."""
        channels = img1.shape[:2]
        if min(img1.shape[2:]) < self.filter_size:
            raise ValueError(
                f"For '{self.cls_name}', height and width should be at least filter_size {self.filter_size}, "
                f"but got shape {img1.shape}."
            )
        a, b = (F.reshape(image, (-1, 1, *image.shape[2:])) for image in (img1, img2))
        mean_a, mean_b = window(a), window(b)
        squares = mean_a * mean_a + mean_b * mean_b
        product = mean_a * mean_b
        little1, little2 = ((k * self.max_val / unit) ** 2 for k in (self.k1, self.k2))
        brightness = (2 * product + little1) / (squares + little1)
        together = 2 * (window(a * b) - product)
        structure = (together + little2) / (window(a * a) + window(b * b) - squares + little2)
        both = brightness * structure
        return tuple(F.reshape(self.reduce_mean(part, (1, 2, 3)), channels) for part in (both, structure))


def _scale_pixels_to_float32(image, unit):
    image = F.cast(image, mstype.float32)
    return image if unit == 1.0 else image * (1 / unit)


class SSIM(_Similarity):
    r"""
    Structural similarity of two images (Wang et al., 2004), 1 for equal images. It is the mean over all windows of

    .. math::
        \frac{2 \mu_x \mu_y + c_1}{\mu_x^2 + \mu_y^2 + c_1} \cdot
        \frac{2 \sigma_{xy} + c_2}{\sigma_x^2 + \sigma_y^2 + c_2}, \quad c_i = (k_i \cdot max\_val)^2

    Args:
        max_val (Union[int, float]): The largest pixel value: 1.0 for floats, 255 for bytes. Default: 1.0.
        filter_size (int): Height and width of a window, which has Gaussian weights. Default: 11.
        filter_sigma (float): Standard deviation of the Gaussian weights. Default: 1.5.
        k1 (float): The constant k_1, which avoids 0 / 0 in the first quotient. Default: 0.01.
        k2 (float): The constant k_2, which avoids 0 / 0 in the second quotient. Default: 0.03.

    Inputs:
        - **img1** (Tensor) - float16 or float32, of shape (N, C, H, W).
        - **img2** (Tensor) - of the same shape and type.

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If an argument or an image is of another type.
        ValueError: If an argument is not positive, or the images differ in shape or are smaller than a window.

    Examples:
        >>> image = Tensor(np.ones((1, 3, 16, 16)), mindspore.float32)
        >>> print(nn.SSIM()(image, image).shape)
        (1,)
    """

    @answered
    @readable
    def __init__(
        self,
        max_val: PositiveNumber = 1.0,
        filter_size: PositiveInt = 11,
        filter_sigma: AboveZero = 1.5,
        k1: FloatNotNan = 0.01,
        k2: FloatNotNan = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv: Conv2d = self._make_gaussian_window()

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """Return the similarity of the images."""
        _check_image_pair(self.cls_name, img1, img2)
        check_dtypes(self.cls_name, FLOATS, img1=img1)
        alike, _ = self._compare_images(
            _scale_pixels_to_float32(img1, 1.0), _scale_pixels_to_float32(img2, 1.0), 1.0, self.conv
        )
        return self.reduce_mean(alike, -1)


def _check_numbers(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if not value:
        raise ValueError
    return tuple(accept_value(Float, number) for number in value)


class MSSSIM(_Similarity):
    """
    SSIM at several scales (Wang et al., 2003), each with half the resolution of the previous one. It is the product of
    powers of the second quotient of SSIM at each scale, and of the complete SSIM at the last scale.

    Args:
        max_val (Union[int, float]): The largest pixel value: 1.0 for floats, 255 for bytes. Default: 1.0.
        power_factors (Union[tuple, list]): An exponent for each scale.
            Default: (0.0448, 0.2856, 0.3001, 0.2363, 0.1333).
        filter_size (int): Height and width of a window, which has Gaussian weights. Default: 11.
        filter_sigma (float): Standard deviation of the Gaussian weights. Default: 1.5.
        k1 (float): As in SSIM. Default: 0.01.
        k2 (float): As in SSIM. Default: 0.03.

    Inputs:
        - **img1** (Tensor) - of floats or bytes, of shape (N, C, H, W).
        - **img2** (Tensor) - of the same shape and type.

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If an argument or an image is of another type.
        ValueError: If an argument is not positive, or the images differ in shape or get smaller than a window.

    Examples:
        >>> image = Tensor(np.ones((1, 3, 64, 64)), mindspore.float32)
        >>> print(nn.MSSSIM(power_factors=(0.5, 0.5))(image, image).shape)
        (1,)
    """

    @checked
    def __init__(
        self,
        max_val: PositiveNumber = 1.0,
        power_factors: Annotated[
            tuple[float, ...] | list[float], Kind("a tuple or list of numbers", _check_numbers)
        ] = (
            0.0448,
            0.2856,
            0.3001,
            0.2363,
            0.1333,
        ),
        filter_size: PositiveInt = 11,
        filter_sigma: AboveZero = 1.5,
        k1: FloatNotNan = 0.01,
        k2: FloatNotNan = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.multi_convs_list: CellList = CellList([self._make_gaussian_window() for _ in power_factors])
        self.exponents: Tensor = Tensor(power_factors, mstype.float32)
        self.halve: AvgPool2d = AvgPool2d(2, 2)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """Return the similarity of the images."""
        _check_image_pair(self.cls_name, img1, img2)
        check_dtypes(self.cls_name, (*FLOATS, mstype.float64, mstype.uint8), img1=img1)
        unit = _get_max_pixel_value(img1.dtype)
        img1, img2 = _scale_pixels_to_float32(img1, unit), _scale_pixels_to_float32(img2, unit)
        parts = []
        for window in self.multi_convs_list:
            similarity, structure = self._compare_images(img1, img2, unit, window)
            parts.append(structure)
            img1, img2 = self.halve(img1), self.halve(img2)
        parts[-1] = similarity
        powers = F.pow(F.relu(F.stack(tuple(parts), -1)), self.exponents)
        return self.reduce_mean(F.prod(powers, -1), -1)


class PSNR(Cell):
    r"""
    Peak signal-to-noise ratio of two images, in decibels: :math:`10 \log_{10}(max\_val^2 / MSE)`.

    Args:
        max_val (Union[int, float]): The largest pixel value: 1.0 for floats, 255 for bytes. Default: 1.0.

    Inputs:
        - **img1** (Tensor) - of shape (N, C, H, W).
        - **img2** (Tensor) - of the same shape and type.

    Outputs:
        Tensor, float32, of shape (N,).

    Raises:
        TypeError: If `max_val` is no number, or the images are of different types.
        ValueError: If `max_val` is not positive, or the images have a wrong number of dimensions or different shapes.

    Examples:
        >>> image = Tensor(np.zeros((1, 3, 4, 4)), mindspore.float32)
        >>> print(nn.PSNR()(image, image + 1))
        [0.]
    """

    @checked
    def __init__(self, max_val: PositiveNumber = 1.0) -> None:
        super().__init__()
        self.max_val: float = max_val
        self.reduce_mean: P.ReduceMean = P.ReduceMean()

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """Return the ratio in decibels."""
        _check_image_pair(self.cls_name, img1, img2)
        unit = _get_max_pixel_value(img1.dtype)
        error = (F.cast(img1, mstype.float32) - F.cast(img2, mstype.float32)) / unit
        noise = self.reduce_mean(F.square(error), (1, 2, 3))
        return F.log((self.max_val / unit) ** 2 / noise) * (10 / math.log(10))


class CentralCrop(Cell):
    """
    Crop the central part of images.

    Args:
        central_fraction (float): Fraction of height and width that remains, in (0, 1].

    Inputs:
        - **image** (Tensor) - of shape (C, H, W) or (N, C, H, W).

    Outputs:
        The cropped Tensor.

    Raises:
        TypeError: If `central_fraction` is no float.
        ValueError: If it is out of range, or the image has a wrong number of dimensions.

    Examples:
        >>> print(nn.CentralCrop(0.5)(Tensor(np.ones((3, 4, 8)), mindspore.float32)).shape)
        (3, 2, 4)
    """

    @checked
    def __init__(self, central_fraction: Annotated[float, Between(StrictFloat, 0, 1, low_in=False)]) -> None:
        super().__init__()
        self.central_fraction: float = central_fraction
        self.slice: P.Slice = P.Slice()

    def construct(self, image: Tensor) -> Tensor:
        """Return the cropped images."""
        check_dims(self.cls_name, image, 3, 4)
        if self.central_fraction == 1.0:
            return image
        *leading, height, width = image.shape
        # The product of size and fraction is rounded to float32 before it is halved.
        edges = [int((size - np.float32(size * self.central_fraction)) / 2) for size in (height, width)]
        sizes = [size - 2 * edge for size, edge in zip((height, width), edges, strict=True)]
        return self.slice(image, (*[0] * len(leading), *edges), (*leading, *sizes))
