"""Layers of MindSpore 2 that rearrange channels and pixels."""

from msnb.common.kinds import PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Cell):
    """
    Move channels to the pixels of a larger image (Shi et al., 2016): (N, C r^2, H, W) becomes (N, C, H r, W r).

    Args:
        upscale_factor (int): Factor r by which height and width grow.

    Inputs:
        - **input** (Tensor) - of shape (..., C * r * r, H, W).

    Outputs:
        Tensor of shape (..., C, H * r, W * r).

    Raises:
        TypeError: If `upscale_factor` is no int.
        ValueError: If it is less than 1, or the input has too few dimensions or another number of channels.

    Examples:
        >>> print(nn.PixelShuffle(2)(Tensor(np.arange(4).reshape(4, 1, 1), mindspore.float32)))
        [[[0. 1.]
          [2. 3.]]]
    """

    @checked
    def __init__(self, upscale_factor: PositiveInt) -> None:
        super().__init__()
        self.upscale_factor: int = upscale_factor

    def construct(self, input: Tensor) -> Tensor:
        """Return the larger image."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """
    Move pixels to the channels of a smaller image, the inverse of PixelShuffle: (N, C, H r, W r) becomes (N, C r^2, H,
    W).

    Args:
        downscale_factor (int): Factor r by which height and width shrink.

    Inputs:
        - **input** (Tensor) - of shape (..., C, H * r, W * r).

    Outputs:
        Tensor of shape (..., C * r * r, H, W).

    Raises:
        TypeError: If `downscale_factor` is no int.
        ValueError: If it is less than 1, or the input has too few dimensions or another size.

    Examples:
        >>> print(nn.PixelUnshuffle(2)(Tensor(np.arange(4).reshape(1, 2, 2), mindspore.float32)).shape)
        (4, 1, 1)
    """

    @checked
    def __init__(self, downscale_factor: PositiveInt) -> None:
        super().__init__()
        self.downscale_factor: int = downscale_factor

    def construct(self, input: Tensor) -> Tensor:
        """Return the smaller image."""
        return F.pixel_unshuffle(input, self.downscale_factor)
