"""Fractional max pooling, layers of MindSpore 2."""

from typing import Any

from msnb.common.kinds import Bool, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalPool(Cell):
    def _set_window(self, kernel_size, output_size, output_ratio, return_indices, samples):
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices = return_indices
        self._samples = samples
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"For '{self.cls_name}', one of 'output_size' and 'output_ratio' should be given.")

    def _apply_pool(self, pool, x):
        sizes = self.kernel_size, self.output_size, self.output_ratio
        return pool(x, *sizes, self.return_indices, self._samples)

    def extend_repr(self) -> str:
        """Return window and output size for `repr`."""
        return f"kernel_size={self.kernel_size}, output_size={self.output_size}, output_ratio={self.output_ratio}"


class FractionalMaxPool2d(_FractionalPool):
    """
    Fractional max pooling of images: windows at random distances (arXiv:1412.6071).

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        output_size (Union[int, tuple[int]]): Height and width of the result. Default: None.
        output_ratio (Union[float, tuple[float]]): Size of the result as a fraction of the input size, instead of
            `output_size`. Default: None.
        return_indices (bool): Whether to return the indices of the maxima too. Default: False.
        _random_samples (Tensor): Random numbers in [0, 1) of shape (N, C, 2). Default: None, drawn in each call.

    Inputs:
        - **input** (Tensor) - Numbers, of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor, or with `return_indices` a tuple of the maxima and their int64 indices in the image.

    Raises:
        ValueError: If none or both of `output_size` and `output_ratio` are given, or the shapes do not fit.

    Examples:
        >>> pool = nn.FractionalMaxPool2d(2, output_size=2)
        >>> print(pool(Tensor(np.arange(16).reshape(1, 1, 4, 4), mindspore.float32)))
        [[[[ 5.  7.]
           [13. 15.]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: Bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def construct(self, input: Tensor) -> Any:
        """Return the largest elements."""
        return self._apply_pool(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalPool):
    """
    Fractional max pooling of volumes: windows at random distances (arXiv:1412.6071).

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        output_size (Union[int, tuple[int]]): Depth, height and width of the result. Default: None.
        output_ratio (Union[float, tuple[float]]): Size of the result as a fraction of the input size, instead of
            `output_size`. Default: None.
        return_indices (bool): Whether to return the indices of the maxima too. Default: False.
        _random_samples (Tensor): Random numbers in [0, 1) of shape (N, C, 3). Default: None, drawn in each call.

    Inputs:
        - **input** (Tensor) - Numbers, of shape (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor, or with `return_indices` a tuple of the maxima and their int64 indices in the volume.

    Raises:
        ValueError: If none or both of `output_size` and `output_ratio` are given, or the shapes do not fit.

    Examples:
        >>> pool = nn.FractionalMaxPool3d(2, output_size=1)
        >>> print(pool(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[7.]]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: Bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def construct(self, input: Tensor) -> Any:
        """Return the largest elements."""
        return self._apply_pool(F.fractional_max_pool3d, input)
