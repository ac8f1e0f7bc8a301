"""Pooling of volumes: a number for each window of three axes. Signatures are MindSpore 2's."""

from msnb.common.kinds import Bool, checked
from msnb.core.tensor import Tensor
from msnb.nn._inputs import check_dims
from msnb.nn._kinds import Divisor, PoolMode, ThreeOffsets, ThreeSizes
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["AvgPool3d"]


class AvgPool3d(Cell):
    """
    The mean of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): By how much it moves along each. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in AvgPool2d. Default: "valid".
        padding (Union[int, tuple[int]]): For "pad", how many places are added on both sides of each axis. Default: 0.
        ceil_mode (bool): Whether a last incomplete window counts. Default: False.
        count_include_pad (bool): Whether what was added counts in the mean. Default: True.
        divisor_override (int): Divides the sum instead of the number of places. Default: None.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor of as many dimensions.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If one is less than 1, a word unknown, `padding` given without "pad", or the input has other
            dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode
        around = padding if isinstance(padding, tuple) else (padding,) * 3
        if any(around) and pad_mode != "PAD":
            raise ValueError(
                f"For '{self.cls_name}', 'padding' needs 'pad_mode' \"pad\", but got {padding} with "
                f'"{pad_mode.lower()}".'
            )
        sides = tuple(side for side in around for _ in range(2))
        self.avg_pool: P.AvgPool3D = P.AvgPool3D(
            kernel_size, stride, pad_mode, sides, ceil_mode, count_include_pad, divisor_override or 0
        )

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        check_dims(self.cls_name, x, 4, 5)
        return self.avg_pool(x) if x.ndim == 5 else self.avg_pool(F.expand_dims(x, 0))[0]

    def extend_repr(self) -> str:
        """The window and how it moves."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"
