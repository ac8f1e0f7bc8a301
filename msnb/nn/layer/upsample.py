"""`Upsample`: resize sequences, images and volumes."""

from typing import Any

from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["Upsample"]


class Upsample(Cell):
    """
    Resize sequences, images or volumes, see `ops.interpolate`.

    Args:
        size (Union[int, tuple[int]]): New lengths of the axes after N and C. Default: None.
        scale_factor (Union[float, tuple[float]]): Ratios of new to old lengths. Default: None.
        mode (str): "nearest", "linear", "bilinear", "trilinear" or "area". Default: "nearest".
        align_corners (bool): Whether the centres of the corner pixels keep their positions. Default: None, which means
            False.
        recompute_scale_factor (bool): Whether the pixel distance is old length / new length. Default: None, which means
            False.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L), (N, C, H, W) or (N, C, D, H, W).

    Outputs:
        Tensor of the new size.

    Raises:
        TypeError: If an argument has a wrong type.
        ValueError: If `size` and `scale_factor` are both given or both missing, or `mode` does not fit the input.

    Examples:
        >>> print(nn.Upsample(scale_factor=2.0, recompute_scale_factor=True)(Tensor([[[1, 2]]], mindspore.float32)))
        [[[1. 1. 2. 2.]]]
    """

    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size: int | tuple[int, ...] | None = size
        self.scale_factor: float | tuple[float, ...] | None = scale_factor
        self.mode: str = mode
        self.align_corners: bool | None = align_corners
        self.recompute_scale_factor: bool | None = recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        """Return the resized input."""
        how: dict[str, Any] = {"mode": self.mode, "align_corners": self.align_corners}
        return F.interpolate(x, self.size, self.scale_factor, recompute_scale_factor=self.recompute_scale_factor, **how)

    def extend_repr(self) -> str:
        """Return the constructor arguments for `repr`."""
        names = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
