"""Pooling layers: a number for each window. Those to a given size are re-exported."""

from typing import Annotated

from msnb.common.kinds import Kind, OneOf, PositiveInt, checked
from msnb.core.tensor import Tensor
from msnb.nn._kinds import Layout
from msnb.nn.layer._adaptive_pool import AdaptiveAvgPool2d, AdaptiveMaxPool2d
from msnb.nn.layer._one_operator import OneOperator
from msnb.ops import operations as P

__all__ = ["AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d"]


def _window(value):
    if not isinstance(value, (int, tuple)):
        raise TypeError
    sizes = value if isinstance(value, tuple) else (value, value)
    if len(sizes) != 2 or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError
    return value


Window = Annotated[int | tuple[int, int], Kind("a positive int or a tuple of two", _window)]
PadMode = Annotated[str, OneOf("VALID", "SAME", fold=True)]


class _Pool2d(OneOperator):
    """One number for each window of an image."""

    @checked
    def __init__(
        self, kernel_size: Window = 1, stride: Window = 1, pad_mode: PadMode = "VALID", data_format: Layout = "NCHW"
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, data_format)
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode
        self.format = data_format

    def extend_repr(self) -> str:
        """The window and how it moves."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _Pool1d(_Pool2d):
    """One number for each stretch of a sequence: of an image of height 1."""

    @checked
    def __init__(self, kernel_size: PositiveInt = 1, stride: PositiveInt = 1, pad_mode: PadMode = "VALID") -> None:
        super().__init__((1, kernel_size), (1, stride), pad_mode)
        self.expand: P.ExpandDims = P.ExpandDims()
        self.squeeze: P.Squeeze = P.Squeeze(2)

    def construct(self, x: Tensor) -> Tensor:
        """The number of each stretch."""
        if x.ndim != 3:
            raise ValueError(f"For '{self.cls_name}', the input should have 3 dims, but got shape {x.shape}.")
        return self.squeeze(super().construct(self.expand(x, 2)))


class MaxPool2d(_Pool2d, operator=P.MaxPool, held_as="max_pool"):
    """
    The greatest number in each window of an image.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): By how many pixels it moves down and to the right. Default: 1.
        pad_mode (str): "same" widens the image so that its size is divided by the stride, rounded up; "valid" takes
            whole windows only. In any case of letters. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, laid out as the input.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If one is less than 1, or a word unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(nn.MaxPool2d(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[5. 6.]]]]
    """


class MaxPool1d(_Pool1d, operator=P.MaxPool, held_as="max_pool"):
    """
    The greatest number in each stretch of a sequence.

    Args:
        kernel_size (int): Length of the stretch. Default: 1.
        stride (int): By how many places it moves. Default: 1.
        pad_mode (str): "same" or "valid", as in MaxPool2d. Default: "valid".

    Inputs:
        - **x** (Tensor) - of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If a size is no int.
        ValueError: If one is less than 1, `pad_mode` unknown, or the input has other dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(nn.MaxPool1d(2)(Tensor([[[1, 2, 3]]], mindspore.float32)))
        [[[2. 3.]]]
    """


class AvgPool2d(_Pool2d, operator=P.AvgPool, held_as="avg_pool"):
    """
    The mean of each window of an image.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): By how many pixels it moves down and to the right. Default: 1.
        pad_mode (str): "same" widens the image so that its size is divided by the stride, rounded up, and leaves out of
            the mean what it added; "valid" takes whole windows only. In any case of letters. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, laid out as the input.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If one is less than 1, or a word unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(nn.AvgPool2d(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[3. 4.]]]]
    """


class AvgPool1d(_Pool1d, operator=P.AvgPool, held_as="avg_pool"):
    """
    The mean of each stretch of a sequence.

    Args:
        kernel_size (int): Length of the stretch. Default: 1.
        stride (int): By how many places it moves. Default: 1.
        pad_mode (str): "same" or "valid", as in AvgPool2d. Default: "valid".

    Inputs:
        - **x** (Tensor) - of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If a size is no int.
        ValueError: If one is less than 1, `pad_mode` unknown, or the input has other dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(nn.AvgPool1d(2)(Tensor([[[1, 2, 3]]], mindspore.float32)))
        [[[1.5 2.5]]]
    """
