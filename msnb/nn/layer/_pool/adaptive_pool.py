"""Adaptive pooling: one window per output pixel, and the windows cover the input evenly."""

from typing import Annotated

from msnb.common.kinds import Bool, Kind, NonNegInt, PositiveInt, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveMaxPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool3d",
]


def _make_output_size_check(axes, length=PositiveInt):
    def accept(value):
        sizes = value if isinstance(value, tuple) else (value,) * axes
        if len(sizes) != axes:
            raise ValueError
        for size in sizes:
            if size is not None:
                accept_value(length, size)
        return value

    return accept


Pixels = int | None
OutputSize = Annotated[
    Pixels | tuple[Pixels, Pixels], Kind("a positive int, None or a tuple of two of them", _make_output_size_check(2))
]
VolumeSize = Annotated[
    Pixels | tuple[Pixels, Pixels, Pixels],
    Kind("a positive int, None or a tuple of three of them", _make_output_size_check(3)),
]
# In MindSpore, average pooling of images and volumes may have an output of length 0.
MeanSize = Annotated[
    Pixels | tuple[Pixels, Pixels],
    Kind("a non-negative int, None or a tuple of two of them", _make_output_size_check(2, NonNegInt)),
]
MeanVolumeSize = Annotated[
    Pixels | tuple[Pixels, Pixels, Pixels],
    Kind("a non-negative int, None or a tuple of three of them", _make_output_size_check(3, NonNegInt)),
]


class _AdaptivePool2d(Cell):
    @checked
    def __init__(self, output_size: MeanSize) -> None:
        super().__init__()
        self.output_size = output_size

    def extend_repr(self) -> str:
        """Return the output size for `repr`."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool2d(_AdaptivePool2d):
    @checked
    def __init__(self, output_size: OutputSize, return_indices: Bool = False) -> None:
        super().__init__(output_size)
        self.return_indices: bool = return_indices


class _AdaptivePool1d(Cell):
    @checked
    def __init__(self, output_size: PositiveInt) -> None:
        super().__init__()
        self.output_size: int = output_size

    def extend_repr(self) -> str:
        """Return the output length for `repr`."""
        return f"output_size={self.output_size}"


class _AdaptivePool3d(Cell):
    @checked
    def __init__(self, output_size: MeanVolumeSize) -> None:
        super().__init__()
        self.output_size = output_size

    def extend_repr(self) -> str:
        """Return the output size for `repr`."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool3d(_AdaptivePool3d):
    @checked
    def __init__(self, output_size: VolumeSize, return_indices: Bool = False) -> None:
        super().__init__(output_size)
        self.return_indices: bool = return_indices


class AdaptiveAvgPool2d(_AdaptivePool2d):
    """
    Adaptive average pooling of images: the output has a given size.

    Args:
        output_size (Union[int, tuple]): Height and width of the output; None keeps the size of the input.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of shape (N, C, H_out, W_out) or (C, H_out, W_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is negative, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveAvgPool2d(1)(Tensor([[[1, 2, 3], [4, 5, 6]]], mindspore.float32)))
        [[[3.5]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMaxPool2d):
    """
    Adaptive max pooling of images: the output has a given size.

    Args:
        output_size (Union[int, tuple]): Height and width of the output; None keeps the size of the input.
        return_indices (bool): Whether to return the indices of the maxima too. Default: False.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of shape (N, C, H_out, W_out) or (C, H_out, W_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is not positive, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveMaxPool2d(1)(Tensor([[[1, 2, 3], [4, 5, 6]]], mindspore.float32)))
        [[[6.]]]
    """

    def construct(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the maxima."""
        return F.adaptive_max_pool2d(x, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptivePool1d):
    """
    Adaptive average pooling of sequences: the output has a given length.

    Args:
        output_size (int): Length of the output.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is not positive, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveAvgPool1d(2)(Tensor([[[1, 2, 3, 4]]], mindspore.float32)))
        [[[1.5 3.5]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveMaxPool1d(_AdaptivePool1d):
    """
    Adaptive max pooling of sequences: the output has a given length.

    Args:
        output_size (int): Length of the output.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is not positive, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveMaxPool1d(2)(Tensor([[[1, 2, 3, 4]]], mindspore.float32)))
        [[[2. 4.]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the maxima."""
        return F.adaptive_max_pool1d(x, self.output_size)


class AdaptiveAvgPool3d(_AdaptivePool3d):
    """
    Adaptive average pooling of volumes: the output has a given size.

    Args:
        output_size (Union[int, tuple]): Depth, height and width of the output; None keeps the size of the input.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor of shape (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is negative, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveAvgPool3d(1)(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[3.5]]]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool3d(x, self.output_size)


class AdaptiveMaxPool3d(_AdaptiveMaxPool3d):
    """
    Adaptive max pooling of volumes: the output has a given size.

    Args:
        output_size (Union[int, tuple]): Depth, height and width of the output; None keeps the size of the input.
        return_indices (bool): Whether to return the indices of the maxima too. Default: False.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor of shape (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Raises:
        TypeError: If `output_size` has the wrong type.
        ValueError: If a size is not positive, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AdaptiveMaxPool3d(1)(Tensor(np.arange(8).reshape(1, 1, 2, 2, 2), mindspore.float32)))
        [[[[[7.]]]]]
    """

    def construct(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the maxima."""
        return F.adaptive_max_pool3d(x, self.output_size, self.return_indices)
