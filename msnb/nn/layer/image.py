"""Image layers: gradients, similarity measures, cropping."""

import numpy as np

from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.activation import ReLU
from msnb.nn.layer.container import CellList
from msnb.nn.layer.conv import Conv2d
from msnb.nn.layer.pooling import AvgPool2d
from msnb.ops import operations as P

__all__ = ["ImageGradients", "SSIM", "MSSSIM", "PSNR", "CentralCrop"]


def _check_4d(x, name, cls_name):
    if x.ndim != 4:
        raise ValueError(f"For '{cls_name}', '{name}' should be 4d, but got shape {x.shape}.")


def _check_pair(img1, img2, cls_name, dtypes=None):
    _check_4d(img1, "img1", cls_name)
    _check_4d(img2, "img2", cls_name)
    if dtypes is not None:
        Validator.check_type_name("img1", img1.dtype, dtypes, cls_name)
    if img1.dtype != img2.dtype:
        raise TypeError(
            f"For '{cls_name}', 'img1' and 'img2' should have one type, but got {img1.dtype} and {img2.dtype}."
        )
    if tuple(img1.shape) != tuple(img2.shape):
        raise ValueError(
            f"For '{cls_name}', 'img1' and 'img2' should have one shape, but got {img1.shape} and {img2.shape}."
        )


def _check_max_val(max_val, cls_name):
    Validator.check_value_type("max_val", max_val, [int, float], cls_name)
    Validator.check_number("max_val", max_val, 0.0, Rel.GT, cls_name)
    return max_val


def _unit(dtype):
    """What 1.0 is in images of `dtype`: the greatest integer, or 1.0 for floats."""
    np_dtype = np.dtype(mstype.dtype_to_nptype(dtype))
    return float(np.iinfo(np_dtype).max) if np_dtype.kind in "iu" else 1.0


class ImageGradients(Cell):
    """
    Differences of neighbouring pixels.

    Inputs:
        - **images** (Tensor) - of shape (N, C, H, W).

    Outputs:
        - **dy** (Tensor) - the pixel below less the pixel; 0 in the last row.
        - **dx** (Tensor) - the pixel to the right less the pixel; 0 in the last column.

    Raises:
        ValueError: If `images` is not 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.ImageGradients()
        >>> dy, dx = net(Tensor(np.array([[[[1, 2], [3, 4]]]]), mindspore.int32))
    """

    def __init__(self):
        super().__init__()
        self.concat_rows = P.Concat(2)
        self.concat_columns = P.Concat(3)
        self.zeros_like = P.ZerosLike()

    def construct(self, images):
        _check_4d(images, "images", self.cls_name)
        dy, dx = self.zeros_like(images[:, :, -1:, :]), self.zeros_like(images[:, :, :, -1:])
        if images.shape[2] > 1:
            dy = self.concat_rows((images[:, :, 1:, :] - images[:, :, :-1, :], dy))
        if images.shape[3] > 1:
            dx = self.concat_columns((images[:, :, :, 1:] - images[:, :, :, :-1], dx))
        return dy, dx


def _gaussian_window(size, sigma):
    """A convolution weight (1, 1, size, size) of sum 1."""
    positions = np.arange(-size // 2 + 1, size // 2 + 1, dtype=np.float32)
    squares = positions[:, None] ** 2 + positions[None, :] ** 2
    window = np.exp(-squares / (2 * sigma**2))
    return Tensor((window / window.sum())[None, None].astype(np.float32))


class _Similarity(Cell):
    """What SSIM and MSSSIM share: constants, and the comparison at one scale."""

    def __init__(self, max_val, filter_size, filter_sigma, k1, k2):
        super().__init__()
        self.max_val = _check_max_val(max_val, self.cls_name)
        self.filter_size = Validator.check_int(filter_size, 1, Rel.GE, "filter_size", self.cls_name)
        self.filter_sigma = Validator.check_positive_float(filter_sigma, "filter_sigma", self.cls_name)
        self.k1 = Validator.check_value_type("k1", k1, [float], self.cls_name)
        self.k2 = Validator.check_value_type("k2", k2, [float], self.cls_name)
        self.reduce_mean = P.ReduceMean()
        self.reshape = P.Reshape()
        self.cast = P.Cast()

    def _filter(self):
        window = _gaussian_window(self.filter_size, self.filter_sigma)
        conv = Conv2d(1, 1, self.filter_size, weight_init=window, pad_mode="valid")
        conv.weight.requires_grad = False
        return conv

    def _float32(self, image):
        unit = _unit(image.dtype)
        image = self.cast(image, mstype.float32)
        return image if unit == 1.0 else image * (1.0 / unit)

    def _compare(self, img1, img2, unit, conv):
        """Mean similarity, and its contrast-structure part, of each channel: two (N, C)."""
        channels = tuple(img1.shape[:2])
        if min(img1.shape[2:]) < self.filter_size:
            raise ValueError(
                f"For '{self.cls_name}', height and width should be at least filter_size {self.filter_size}, "
                f"but got shape {img1.shape}."
            )
        img1 = self.reshape(img1, (-1, 1, *img1.shape[2:]))
        img2 = self.reshape(img2, (-1, 1, *img2.shape[2:]))
        c1 = (self.k1 * self.max_val / unit) ** 2
        c2 = (self.k2 * self.max_val / unit) ** 2
        mean1, mean2 = conv(img1), conv(img2)
        variance1 = conv(img1 * img1) - mean1 * mean1
        variance2 = conv(img2 * img2) - mean2 * mean2
        covariance = conv(img1 * img2) - mean1 * mean2
        luminance = (2 * mean1 * mean2 + c1) / (mean1 * mean1 + mean2 * mean2 + c1)
        contrast_structure = (2 * covariance + c2) / (variance1 + variance2 + c2)
        return tuple(
            self.reshape(self.reduce_mean(x, (1, 2, 3)), channels)
            for x in (luminance * contrast_structure, contrast_structure)
        )


class SSIM(_Similarity):
    r"""
    Structural similarity of images (Wang et al., 2004), in Gaussian windows:
    :math:`\frac{(2 \mu_x \mu_y + c_1)(2 \sigma_{xy} + c_2)}{(\mu_x^2 + \mu_y^2 + c_1)(\sigma_x^2 + \sigma_y^2 + c_2)}`
    with :math:`c_i = (k_i \cdot max\_val)^2`.

    Args:
        max_val (Union[int, float]): The range of pixel values: 255 for 8 bits, 1.0 for floats. Default: 1.0.
        filter_size (int): The size of the window. Default: 11.
        filter_sigma (float): The standard deviation of the window. Default: 1.5.
        k1 (float): Stabilises the means. Default: 0.01.
        k2 (float): Stabilises the variances. Default: 0.03.

    Inputs:
        - **img1** (Tensor) - float16 or float32, of shape (N, C, H, W).
        - **img2** (Tensor) - of the shape and type of `img1`.

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If an argument or an image is of the wrong type.
        ValueError: If an argument is not positive, or the images are smaller than the window or of different shapes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.SSIM()
        >>> output = net(Tensor(np.ones((1, 3, 16, 16), np.float32)), Tensor(np.zeros((1, 3, 16, 16), np.float32)))
    """

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv = self._filter()

    def construct(self, img1, img2):
        _check_pair(img1, img2, self.cls_name, [mstype.float32, mstype.float16])
        similarity, _ = self._compare(self._float32(img1), self._float32(img2), 1.0, self.conv)
        return self.reduce_mean(similarity, -1)


class MSSSIM(_Similarity):
    """
    Multi-scale structural similarity of images (Wang et al., 2003): SSIM at several scales, each half of the last.

    Args:
        max_val (Union[int, float]): The range of pixel values: 255 for 8 bits, 1.0 for floats. Default: 1.0.
        power_factors (Union[tuple, list]): The exponent of each scale.
            Default: (0.0448, 0.2856, 0.3001, 0.2363, 0.1333).
        filter_size (int): The size of the window. Default: 11.
        filter_sigma (float): The standard deviation of the window. Default: 1.5.
        k1 (float): Stabilises the means. Default: 0.01.
        k2 (float): Stabilises the variances. Default: 0.03.

    Inputs:
        - **img1** (Tensor) - a float or uint8 Tensor of shape (N, C, H, W).
        - **img2** (Tensor) - of the shape and type of `img1`.

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If an argument or an image is of the wrong type.
        ValueError: If an argument is not positive, or the images are too small or of different shapes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.MSSSIM(power_factors=(0.033, 0.033, 0.033))
        >>> img1, img2 = Tensor(np.ones((1, 3, 128, 128), np.float32)), Tensor(np.ones((1, 3, 128, 128), np.float32))
        >>> output = net(img1, img2)
    """

    def __init__(
        self,
        max_val=1.0,
        power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size=11,
        filter_sigma=1.5,
        k1=0.01,
        k2=0.03,
    ):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        Validator.check_value_type("power_factors", power_factors, [tuple, list], self.cls_name)
        self.level = len(power_factors)
        self.multi_convs_list = CellList([self._filter() for _ in power_factors])
        self.weight_tensor = Tensor(list(power_factors), mstype.float32)
        self.avg_pool = AvgPool2d(kernel_size=2, stride=2, pad_mode="valid")
        self.relu = ReLU()
        self.prod = P.ReduceProd()
        self.pow = P.Pow()
        self.pack = P.Pack(axis=-1)

    def construct(self, img1, img2):
        _check_pair(img1, img2, self.cls_name, [mstype.float64, mstype.float32, mstype.float16, mstype.uint8])
        unit = _unit(img1.dtype)
        img1, img2 = self._float32(img1), self._float32(img2)
        terms = []
        for level, conv in enumerate(self.multi_convs_list):
            similarity, contrast_structure = self._compare(img1, img2, unit, conv)
            terms.append(self.relu(contrast_structure if level < self.level - 1 else similarity))
            img1, img2 = self.avg_pool(img1), self.avg_pool(img2)
        product = self.prod(self.pow(self.pack(tuple(terms)), self.weight_tensor), -1)
        return self.reduce_mean(product, -1)


class PSNR(Cell):
    r"""
    Peak signal-to-noise ratio in decibels: :math:`10 \log_{10}(max\_val^2 / MSE)`.

    Args:
        max_val (Union[int, float]): The range of pixel values: 255 for 8 bits, 1.0 for floats. Default: 1.0.

    Inputs:
        - **img1** (Tensor) - of shape (N, C, H, W).
        - **img2** (Tensor) - of the shape and type of `img1`.

    Outputs:
        Tensor, float32, of shape (N,).

    Raises:
        TypeError: If `max_val` is neither an int nor a float, or the images are of different types.
        ValueError: If `max_val` is not positive, or the images are not 4-D or of different shapes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.PSNR()
        >>> output = net(Tensor(np.ones((1, 3, 16, 16), np.float32)), Tensor(np.zeros((1, 3, 16, 16), np.float32)))
    """

    def __init__(self, max_val=1.0):
        super().__init__()
        self.max_val = _check_max_val(max_val, self.cls_name)
        self.reduce_mean = P.ReduceMean()
        self.square = P.Square()
        self.log = P.Log()
        self.cast = P.Cast()

    def construct(self, img1, img2):
        _check_pair(img1, img2, self.cls_name)
        unit = _unit(img1.dtype)
        difference = (self.cast(img1, mstype.float32) - self.cast(img2, mstype.float32)) / unit
        mse = self.reduce_mean(self.square(difference), (-3, -2, -1))
        return self.log((self.max_val / unit) ** 2 / mse) * (10 / float(np.log(10)))


class CentralCrop(Cell):
    """
    Cut the centre out of images.

    Args:
        central_fraction (float): The share of each size that stays, in (0, 1].

    Inputs:
        - **image** (Tensor) - of shape (C, H, W) or (N, C, H, W).

    Outputs:
        Tensor, the centre.

    Raises:
        TypeError: If `central_fraction` is not a float.
        ValueError: If `central_fraction` is not in (0, 1], or the image neither 3-D nor 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.CentralCrop(central_fraction=0.5)
        >>> output = net(Tensor(np.random.random((4, 3, 4, 4)), mindspore.float32))
        >>> print(output.shape)
        (4, 3, 2, 2)
    """

    def __init__(self, central_fraction):
        super().__init__()
        Validator.check_value_type("central_fraction", central_fraction, [float], self.cls_name)
        Validator.check_float_range(central_fraction, 0.0, 1.0, Rel.INC_RIGHT, "central_fraction", self.cls_name)
        self.central_fraction = central_fraction
        self.slice = P.Slice()

    def construct(self, image):
        if image.ndim not in (3, 4):
            raise ValueError(f"For 'CentralCrop', 'image' should be 3d or 4d, but got shape {image.shape}.")
        if self.central_fraction == 1.0:
            return image
        *leading, height, width = image.shape
        # float32, as the product of size and fraction is rounded to before halving.
        top, left = (int((size - np.float32(size * self.central_fraction)) / 2) for size in (height, width))
        begin = (0,) * len(leading) + (top, left)
        return self.slice(image, begin, (*leading, height - 2 * top, width - 2 * left))
