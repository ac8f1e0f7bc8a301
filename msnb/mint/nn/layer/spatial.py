"""Layers of `mindspore.mint.nn` that move elements: windows, borders, other sizes."""

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


def _sides(count):
    def accept(value):
        sides = (value,) * count if isinstance(value, int) else tuple(value)
        if not all(isinstance(side, int) and not isinstance(side, bool) for side in sides):
            raise TypeError
        if len(sides) != count:
            raise ValueError
        return sides

    return Kind(f"an int or a tuple of {count} ints", accept)


TwoSides = Annotated[int | tuple[int, ...] | list[int], _sides(2)]
FourSides = Annotated[int | tuple[int, ...] | list[int], _sides(4)]
SixSides = Annotated[int | tuple[int, ...] | list[int], _sides(6)]


class Identity(Cell):
    """
    What comes in.

    Args:
        args (Any): Nothing is done with it.
        kwargs (Any): Nor with this.

    Inputs:
        - **input** (Any) - anything.

    Outputs:
        The same.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mint.nn.Identity(54, dim=1)(Tensor([1.0])))
        [1.]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        """What comes in."""
        return input


class _ZeroPad(OfFunction, function=F.pad):
    """Zeros around a Tensor."""


class ZeroPad1d(_ZeroPad):
    """
    Zeros at both ends.

    Args:
        padding (Union[int, tuple[int]]): How many, or how many on the left and on the right; negative numbers cut.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor of as many dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, padding: TwoSides) -> None:
        super().__init__(pad=padding)


class ZeroPad2d(_ZeroPad):
    """
    Zeros around an image.

    Args:
        padding (Union[int, tuple[int]]): How many, or how many on the left, right, at the top and at the bottom;
            negative numbers cut.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of as many dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, padding: FourSides) -> None:
        super().__init__(pad=padding)


class ZeroPad3d(_ZeroPad):
    """
    Zeros around a volume.

    Args:
        padding (Union[int, tuple[int]]): How many, or how many on the left, right, at the top, at the bottom, in front
            and behind; negative numbers cut.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor of as many dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, padding: SixSides) -> None:
        super().__init__(pad=padding)


class Unfold(OfFunction, function=F.unfold):
    """
    The windows of an image as columns.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Spacing of its elements. Default: 1.
        padding (Union[int, tuple[int]]): Zeros at each side. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C * height * width, how many windows there are).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(
        self, kernel_size: TwoSizes, dilation: TwoSizes = 1, padding: TwoOffsets = 0, stride: TwoSizes = 1
    ) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(OfFunction, function=F.fold):
    """
    An image that is the sum of windows, which are columns.

    Args:
        output_size (Union[int, tuple[int]]): Height and width of the image.
        kernel_size (Union[int, tuple[int]]): Those of the window.
        dilation (Union[int, tuple[int]]): Spacing of its elements. Default: 1.
        padding (Union[int, tuple[int]]): What is cut at each side. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C * height * width, how many windows there are).

    Outputs:
        Tensor, (N, C, H, W).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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
    Channels spread over a finer grid.

    Args:
        upscale_factor (int): How many times finer.

    Inputs:
        - **input** (Tensor) - (..., C * factor * factor, H, W).

    Outputs:
        Tensor, (..., C, H * factor, W * factor).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, upscale_factor: PositiveInt) -> None:
        super().__init__(upscale_factor=upscale_factor)


class AdaptiveMaxPool1d(OfFunction, function=F.adaptive_max_pool1d):
    """
    The largest values of as many parts of a sequence as are asked for.

    Args:
        output_size (int): How many parts.
        return_indices (bool): Whether the places of the values come as well. Default: False.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor of as many dimensions, or a tuple of it and the places.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, output_size: PositiveInt, return_indices: Bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)


class MaxUnpool2d(OfFunction, function=F.max_unpool2d):
    """
    The values that a `MaxPool2d` gave, at their places, and 0 elsewhere.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): What was added at each side. Default: 0.

    Inputs:
        - **input** (Tensor) - the values, (N, C, H, W) or (C, H, W).
        - **indices** (Tensor) - their places.
        - **output_size** (tuple[int]) - the shape of the result. Default: None, the smallest that gives such a pool.

    Outputs:
        Tensor of as many dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    @checked
    def __init__(self, kernel_size: TwoSizes, stride: TwoSizes | None = None, padding: TwoOffsets = 0) -> None:
        super().__init__(kernel_size=kernel_size, stride=stride, padding=padding)

    def construct(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, input: Tensor, indices: Tensor, output_size: tuple[int, ...] | None = None
    ) -> Tensor:
        """The values at their places."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _Upsampling(Cell):
    """An image in another size."""

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
        """The image in its new size."""
        return F.interpolate(input, self.size, self.scale_factor, self._mode, self._corners)


class UpsamplingNearest2d(_Upsampling):
    """
    An image in another size, by the nearest pixel.

    Args:
        size (Union[int, tuple[int]]): Height and width. Default: None.
        scale_factor (Union[float, tuple[float]]): By how much they grow. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C, height, width).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    _mode = "nearest"


class UpsamplingBilinear2d(_Upsampling):
    """
    An image in another size, by the four nearest pixels; corners stay where they are.

    Args:
        size (Union[int, tuple[int]]): Height and width. Default: None.
        scale_factor (Union[float, tuple[float]]): By how much they grow. Default: None.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C, height, width).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    _mode = "bilinear"
    _corners = True
