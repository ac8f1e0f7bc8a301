"""Power-average pooling, layers of MindSpore 2."""

from math import prod
from typing import Annotated, Any

from msnb.common.kinds import Bool, Float, Kind, PositiveInt, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import TwoSizes
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.cell import Cell
from msnb.nn.layer._conv.base import along
from msnb.ops import functional as F

__all__ = ["LPPool1d", "LPPool2d"]


def _accept_nonzero(value):
    if accept_value(Float, value) == 0:
        raise ValueError
    return value


Power = Annotated[float, Kind("a number other than 0", _accept_nonzero)]


class _PowerPool(Cell):
    r"""Base class of power-average pooling: :math:`(\sum x^p)^{1/p}`, where the sum is computed as mean times count."""

    def _set_window(self, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> None:
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.ceil_mode = ceil_mode

    def _apply_pool(self, x, mean, count):
        power = float(self.norm_type)
        mean_power = mean(F.pow(widen(x), power), self.kernel_size, self.stride, 0, self.ceil_mode)
        return round_to_inputs(F.pow(mean_power * count, 1.0 / power), x)

    def extend_repr(self) -> str:
        """Return power, window and stride for `repr`."""
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}"


class LPPool1d(_PowerPool):
    r"""
    Power-average pooling of sequences: :math:`(\sum x^p)^{1/p}` in each window.

    Args:
        norm_type (Union[int, float]): The exponent p, not 0.
        kernel_size (int): Length of the window.
        stride (int): Step of the window. Default: None, `kernel_size`.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **x** (Tensor) - float, of shape (N, C, L) or (C, L).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `norm_type` is 0, a size less than 1, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.LPPool1d(2, 2)(Tensor([[3, 4, 6, 8]], mindspore.float32)))
        [[ 5. 10.]]
    """

    @checked
    def __init__(
        self, norm_type: Power, kernel_size: PositiveInt, stride: PositiveInt | None = None, ceil_mode: Bool = False
    ) -> None:
        super().__init__()
        self._set_window(norm_type, kernel_size, stride, ceil_mode)

    def construct(self, x: Tensor) -> Tensor:
        """Return the power means."""
        check_dims(self.cls_name, x, 2, 3)
        if x.ndim == 2:
            return self.construct(F.expand_dims(x, 0))[0]
        return self._apply_pool(x, F.avg_pool1d, self.kernel_size)


class LPPool2d(_PowerPool):
    r"""
    Power-average pooling of images: :math:`(\sum x^p)^{1/p}` in each window.

    Args:
        norm_type (Union[int, float]): The exponent p, not 0.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window along each axis. Default: None, `kernel_size`.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **x** (Tensor) - float, of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `norm_type` is 0, a size less than 1, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.LPPool2d(1, 2)(Tensor([[[[1, 2], [3, 4]]]], mindspore.float32)))
        [[[[10.]]]]
    """

    @checked
    def __init__(
        self, norm_type: Power, kernel_size: TwoSizes, stride: TwoSizes | None = None, ceil_mode: Bool = False
    ) -> None:
        super().__init__()
        self._set_window(norm_type, kernel_size, stride, ceil_mode)

    def construct(self, x: Tensor) -> Tensor:
        """Return the power means."""
        check_dims(self.cls_name, x, 4)
        return self._apply_pool(x, F.avg_pool2d, prod(along(2, self.kernel_size)))
