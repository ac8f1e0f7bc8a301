"""Layers of `mindspore.mint.nn` that move elements: padding, windows, pooling, resizing."""

from typing import Annotated, Any

from msnb.common.kinds import Bool, Kind, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.mint.nn import functional as F
from msnb.mint.nn.layer._of_function import OfFunction
from msnb.nn._hyperparameter_kinds import FiniteNumber
from msnb.nn._kinds import TwoOffsets, TwoSizes
from msnb.nn.cell import Cell

__all__ = [
    "AdaptiveMaxPool1d",
    "Fold",
    "Identity",
    "MaxUnpool2d",
    "PixelShuffle",
    "Unfold",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


def _make_int_tuple_kind(count):
    def accept(value):
        sides = (value,) * count if isinstance(value, int) else tuple(value)
        if not all(isinstance(side, int) and not isinstance(side, bool) for side in sides):
            raise TypeError
        if len(sides) != count:
            raise ValueError
        return sides

    return Kind(f"an int or a tuple of {count} ints", accept)


TwoSides = Annotated[int | tuple[int, ...] | list[int], _make_int_tuple_kind(2)]
FourSides = Annotated[int | tuple[int, ...] | list[int], _make_int_tuple_kind(4)]
SixSides = Annotated[int | tuple[int, ...] | list[int], _make_int_tuple_kind(6)]


class Identity(Cell):
    """
    Returns its input.

    Args:
        args (Any): Ignored, as in PyTorch.
        kwargs (Any): Ignored, as in PyTorch.

    Inputs:
        - **input** (Any) - anything.

    Outputs:
        The input.

    Examples:
        >>> print(mint.nn.Identity(54, dim=1)(Tensor([1.0])))
        [1.]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        """Return the input."""
        return input


class _ZeroPad(OfFunction, function=F.pad):
    """Base class of layers that pad a Tensor with zeros."""


class ZeroPad1d(_ZeroPad):
    """
    Pads both ends with zeros.

    Args:
        padding (Union[int, tuple[int]]): Width on both sides, or (left, right). Negative numbers crop.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor with as many dimensions as the input.
    """

    @checked
    def __init__(self, padding: TwoSides) -> None:
        super().__init__(pad=padding)


class ZeroPad2d(_ZeroPad):
    """
    Pads an image with zeros.

    Args:
        padding (Union[int, tuple[int]]): Width on all sides, or (left, right, top, bottom); negative numbers crop.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor with as many dimensions as the input.
    """

    @checked
    def __init__(self, padding: FourSides) -> None:
        super().__init__(pad=padding)


class ZeroPad3d(_ZeroPad):
    """
    Pads a volume with zeros.

    Args:
        padding (Union[int, tuple[int]]): Padding of all sides, or of the left, right, top, bottom, front
            and back; negative numbers crop.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor with as many dimensions as the input.
    """

    @checked
    def __init__(self, padding: SixSides) -> None:
        super().__init__(pad=padding)


class Unfold(OfFunction, function=F.unfold):
    """
    Returns the windows of an image as columns.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Distance between neighbouring elements of a window. Default: 1.
        padding (Union[int, tuple[int]]): Zeros at each side. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C * height * width, number of windows).
    """

    @checked
    def __init__(
        self, kernel_size: TwoSizes, dilation: TwoSizes = 1, padding: TwoOffsets = 0, stride: TwoSizes = 1
    ) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(OfFunction, function=F.fold):
    """
    Sums windows, given as columns, into an image.

    Args:
        output_size (Union[int, tuple[int]]): Height and width of the image.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Distance between neighbouring elements of a window. Default: 1.
        padding (Union[int, tuple[int]]): Border removed on each side. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C * height * width, number of windows).

    Outputs:
        Tensor, (N, C, H, W).
    """

    @checked
    def __init__(
        self,
        output_size: TwoSizes,
        kernel_size: TwoSizes,
        dilation: TwoSizes = 1,
        padding: TwoOffsets = 0,
        stride: TwoSizes = 1,
    ) -> None:
        super().__init__(
            output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )


class PixelShuffle(OfFunction, function=F.pixel_shuffle):
    """
    Moves channels to the pixels of a larger image: (N, C r^2, H, W) becomes (N, C, H r, W r).

    Args:
        upscale_factor (int): Factor r by which height and width grow.

    Inputs:
        - **input** (Tensor) - (..., C * factor * factor, H, W).

    Outputs:
        Tensor, (..., C, H * factor, W * factor).
    """

    @checked
    def __init__(self, upscale_factor: PositiveInt) -> None:
        super().__init__(upscale_factor=upscale_factor)


class AdaptiveMaxPool1d(OfFunction, function=F.adaptive_max_pool1d):
    """
    Adaptive max pooling: returns the largest value of each of `output_size` windows of a sequence.

    Args:
        output_size (int): Length of the output.
        return_indices (bool): Whether to return the indices of the values too. Default: False.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor with as many dimensions as the input, or a tuple (that Tensor, indices).
    """

    @checked
    def __init__(self, output_size: PositiveInt, return_indices: Bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)


class MaxUnpool2d(OfFunction, function=F.max_unpool2d):
    """
    Inverse of `MaxPool2d`: puts each maximum back at its index, and 0 elsewhere.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding on each side of the pool. Default: 0.

    Inputs:
        - **input** (Tensor) - the values, (N, C, H, W) or (C, H, W).
        - **indices** (Tensor) - indices of the maxima.
        - **output_size** (tuple[int]) - the shape of the result. Default: None, the smallest shape that fits.

    Outputs:
        Tensor with as many dimensions as the input.
    """

    @checked
    def __init__(self, kernel_size: TwoSizes, stride: TwoSizes | None = None, padding: TwoOffsets = 0) -> None:
        super().__init__(kernel_size=kernel_size, stride=stride, padding=padding)

    def construct(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, input: Tensor, indices: Tensor, output_size: tuple[int, ...] | None = None
    ) -> Tensor:
        """Return the values at their positions."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _Upsampling(Cell):
    """Base class of layers that resize images."""

    _mode: str = ""
    _corners: bool | None = None

    @checked
    def __init__(
        self, size: TwoSizes | None = None, scale_factor: FiniteNumber | tuple[float, ...] | None = None
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor

    def construct(self, input: Tensor) -> Tensor:
        """Return the resized image."""
        return F.interpolate(input, self.size, self.scale_factor, self._mode, self._corners)


class UpsamplingNearest2d(_Upsampling):
    """
    Resizes an image by nearest-neighbour interpolation.

    Args:
        size (Union[int, tuple[int]]): New height and width. Default: None.
        scale_factor (Union[float, tuple[float]]): Scale factor of the dimensions. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C, height, width).
    """

    _mode = "nearest"


class UpsamplingBilinear2d(_Upsampling):
    """
    Resizes an image by bilinear interpolation; corner pixels keep their values.

    Args:
        size (Union[int, tuple[int]]): New height and width. Default: None.
        scale_factor (Union[float, tuple[float]]): Scale factor of the dimensions. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C, height, width).
    """

    _mode = "bilinear"
    _corners = True
