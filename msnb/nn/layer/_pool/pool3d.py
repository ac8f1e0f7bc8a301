"""Pooling layers of volumes, with MindSpore 2's signatures."""

from typing import Any

from msnb.common.kinds import Bool, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Divisor, PoolMode, ThreeOffsets, ThreeSizes
from msnb.nn.cell import Cell
from msnb.nn.layer._conv.base import along
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.nn.pool.max_pool import MaxPool3DWithArgmax

__all__ = ["AvgPool3d", "MaxPool3d"]


class _VolumePool(Cell):
    """Base class of 3-D pooling: checks window and stride, and accepts inputs without a batch axis."""

    def _set_window(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode
        if any(along(3, padding)) and pad_mode != "PAD":
            raise ValueError(
                f"For '{self.cls_name}', 'padding' needs 'pad_mode' \"pad\", but got {padding} with "
                f'"{pad_mode.lower()}".'
            )

    def _pool_with_batch_axis(self, x, pool):
        check_dims(self.cls_name, x, 4, 5)
        if x.ndim == 5:
            return pool(x)
        outputs = pool(F.expand_dims(x, 0))
        return tuple(part[0] for part in outputs) if isinstance(outputs, tuple) else outputs[0]

    def extend_repr(self) -> str:
        """Return window and stride for `repr`."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class AvgPool3d(_VolumePool):
    """
    Average pooling of volumes: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window along each axis. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in AvgPool2d. Default: "valid".
        padding (Union[int, tuple[int]]): For "pad", the number of elements added on both sides of each axis. Default:
            0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the padding counts in the mean. Default: True.
        divisor_override (int): Divisor of the sum, instead of the number of elements in the window. Default: None.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If a size is less than 1, `pad_mode` is unknown, `padding` is given without "pad", or the input has
            a wrong number of dimensions.

    Examples:
        >>> print(nn.AvgPool3d(2)(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[3.5]]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: ThreeSizes = 1,
        stride: ThreeSizes = 1,
        pad_mode: PoolMode = "VALID",
        padding: ThreeOffsets = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
        divisor_override: Divisor = None,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, pad_mode, padding)
        sides = tuple(side for side in along(3, padding) for _ in range(2))
        self.avg_pool: P.AvgPool3D = P.AvgPool3D(
            kernel_size, stride, pad_mode, sides, ceil_mode, count_include_pad, divisor_override or 0
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the means."""
        return self._pool_with_batch_axis(x, self.avg_pool)


class MaxPool3d(_VolumePool):
    """
    Max pooling of volumes: the greatest number in each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window along each axis. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in MaxPool2d. Default: "valid".
        padding (Union[int, tuple[int]]): For "pad", the number of elements added on both sides of each axis. Default:
            0.
        dilation (Union[int, tuple[int]]): For "pad", the distance between neighbouring elements of a window. Default:
            1.
        return_indices (bool): For "pad", whether to return the indices of the maxima too. Default: False.
        ceil_mode (bool): For "pad", whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor with as many dimensions as the input, or a tuple (that Tensor, int64 indices of the maxima).

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If a size is less than 1, a mode is unknown, an argument for "pad" is given with another mode, or
            the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.MaxPool3d(2)(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[7.]]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: ThreeSizes = 1,
        stride: ThreeSizes = 1,
        pad_mode: PoolMode = "VALID",
        padding: ThreeOffsets = 0,
        dilation: ThreeSizes = 1,
        return_indices: Bool = False,
        ceil_mode: Bool = False,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, pad_mode, padding)
        self.return_indices: bool = return_indices
        is_dilated = set(along(3, dilation)) != {1}
        if (is_dilated or return_indices) and pad_mode != "PAD":
            raise ValueError(
                f"For '{self.cls_name}', 'dilation' and 'return_indices' need 'pad_mode' \"pad\", but got "
                f'"{pad_mode.lower()}".'
            )
        if is_dilated or return_indices:
            self.max_pool: Any = MaxPool3DWithArgmax(kernel_size, stride, padding, dilation, ceil_mode)
        else:
            sides = tuple(side for side in along(3, padding) for _ in range(2))
            self.max_pool = P.MaxPool3D(kernel_size, stride, pad_mode, sides, ceil_mode)

    def construct(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the maxima."""
        outputs = self._pool_with_batch_axis(x, self.max_pool)
        return outputs if self.return_indices or not isinstance(outputs, tuple) else outputs[0]
