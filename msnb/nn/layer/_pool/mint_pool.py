"""Pooling layers of `mindspore.mint.nn`: padding is a number, and the default stride is the window size."""

from typing import Annotated, Any

from msnb.common.kinds import Bool, Kind, NonNegInt, PositiveInt, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Divisor, ThreeOffsets, ThreeSizes, TwoOffsets, TwoSizes
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "MaxPool2dExt"]


def _make_single_size_kind(kind, words):
    def accept(value):
        if isinstance(value, (tuple, list)):
            if len(value) != 1:
                raise ValueError
            value = value[0]
        return accept_value(kind, value)

    return Kind(f"{words} or a tuple of one", accept)


OneSize = Annotated[int | tuple[int], _make_single_size_kind(PositiveInt, "a positive int")]
OneOffset = Annotated[int | tuple[int], _make_single_size_kind(NonNegInt, "a non-negative int")]


class _Average(Cell):
    def _set_window(self, kernel_size, stride, padding, *how):
        self.kernel_size: Any = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.padding: Any = padding
        self._how = how

    def extend_repr(self) -> str:
        """Return window and stride for `repr`."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1dExt(_Average):
    """
    Average pooling of sequences: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Length of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Number of zeros added on both sides. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If a size has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AvgPool1dExt(2)(Tensor([[[1, 2, 3]]], mindspore.float32)))
        [[[1.5]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: OneSize,
        stride: OneSize | None = None,
        padding: OneOffset = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding, ceil_mode, count_include_pad)

    def construct(self, input: Tensor) -> Tensor:
        """Return the means."""
        check_dims(self.cls_name, input, 2, 3)
        if input.ndim == 2:
            return self.construct(F.expand_dims(input, 0))[0]
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, *self._how)


class AvgPool2dExt(_Average):
    """
    Average pooling of images: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Number of zeros added on both sides. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): Divisor of the sum, instead of the number of elements in the window. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If a size has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AvgPool2dExt(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[3.]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: TwoSizes,
        stride: TwoSizes | None = None,
        padding: TwoOffsets = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
        divisor_override: Divisor = None,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)

    def construct(self, input: Tensor) -> Tensor:
        """Return the means."""
        check_dims(self.cls_name, input, 3, 4)
        if input.ndim == 3:
            return self.construct(F.expand_dims(input, 0))[0]
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, *self._how)


class AvgPool3dExt(_Average):
    """
    Average pooling of volumes: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Number of zeros added on both sides. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): Divisor of the sum, instead of the number of elements in the window. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If a size has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AvgPool3dExt(2)(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[3.5]]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: ThreeSizes,
        stride: ThreeSizes | None = None,
        padding: ThreeOffsets = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
        divisor_override: Divisor = None,
    ) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)

    def construct(self, input: Tensor) -> Tensor:
        """Return the means."""
        check_dims(self.cls_name, input, 4, 5)
        if input.ndim == 4:
            return self.construct(F.expand_dims(input, 0))[0]
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, *self._how)


class MaxPool2dExt(Cell):
    """
    Max pooling of images: the greatest number in each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Number of pixels added on both sides. Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring elements of a window. Default: 1.
        return_indices (bool): Whether to return the indices of the maxima too. Default: False.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor with as many dimensions as the input, or a tuple (that Tensor, indices of the maxima).

    Raises:
        TypeError: If a size has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.MaxPool2dExt(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[5.]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: TwoSizes = 1,
        stride: TwoSizes | None = None,
        padding: TwoOffsets = 0,
        dilation: TwoSizes = 1,
        return_indices: Bool = False,
        ceil_mode: Bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices: bool = return_indices
        self.ceil_mode: bool = ceil_mode

    def construct(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the maxima."""
        window = self.kernel_size, self.stride, self.padding, self.dilation
        return F.max_pool2d(input, *window, self.return_indices, self.ceil_mode)
