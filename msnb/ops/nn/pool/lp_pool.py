"""Power-average pooling: the p-norm of each window."""

from msnb.common import dtype as mstype
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops.array.cast import Cast
from msnb.ops.math.exponential import Pow
from msnb.ops.math.rounding import Abs, Sign
from msnb.ops.nn.activation.relu import ReLU
from msnb.ops.nn.pool.avg_pool import AvgPool1D, AvgPool2D


def _pool_p_norm(op, pool, taps, x, norm_type, kernel_size, stride, ceil_mode):
    if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
        raise TypeError(f"For '{op}', 'norm_type' should be a number, but got {norm_type!r}.")
    if norm_type == 0:
        raise ValueError(f"For '{op}', 'norm_type' should not be 0.")
    # half precision overflows in the powers
    half = tensor_argument(op, "x", x).dtype in (mstype.float16, mstype.bfloat16)
    powers = Pow.functional(Cast.functional(x, mstype.float32) if half else x, float(norm_type))
    settings = {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride}
    mean = pool(**settings, ceil_mode=ceil_mode)(powers)
    size = Sign.functional(mean) * ReLU()(Abs.functional(mean))
    norm = Pow.functional(size * taps, 1 / norm_type)
    return Cast.functional(norm, x.dtype) if half else norm


@spelling()
def lp_pool1d(
    x: Tensor, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of a sequence.

    Args:
        x (Tensor): Floating point, of shape (N, C, L) or (C, L).
        norm_type (Union[int, float]): Degree p of the norm, not 0.
        kernel_size (int): Length of the window.
        stride (int): Step of the window. Default: None, `kernel_size`.
        ceil_mode (bool): Whether to include a last window that extends beyond the border. Default: False.

    Returns:
        Tensor of shape (N, C, L_out) or (C, L_out).

    Raises:
        TypeError: If `x` is not a Tensor, or `norm_type` is not a number.
        ValueError: If `norm_type` is 0, or the window does not fit.
    """
    return _pool_p_norm("lp_pool1d", AvgPool1D, kernel_size, x, norm_type, kernel_size, stride, ceil_mode)


@spelling()
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window of an image.

    Args:
        x (Tensor): Floating point, of shape (N, C, H, W).
        norm_type (Union[int, float]): Degree p of the norm, not 0.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        ceil_mode (bool): Whether to include a last window that extends beyond the border. Default: False.

    Returns:
        Tensor of shape (N, C, H_out, W_out).

    Raises:
        TypeError: If `x` is not a Tensor, or `norm_type` is not a number.
        ValueError: If `norm_type` is 0, or the window does not fit.
    """
    height, width = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    return _pool_p_norm("lp_pool2d", AvgPool2D, height * width, x, norm_type, kernel_size, stride, ceil_mode)


CASES = [
    case(lp_pool1d, F(2, 3, 6, low=0.5), 2, 2).within(1e-4),
    case(lp_pool1d, F(2, 3, 7, low=0.5), 3.0, 3, 2, True).within(1e-4),
    case(lp_pool2d, F(2, 3, 4, 6, low=0.5), 2, 2).within(1e-4),
    case(lp_pool2d, F(1, 2, 5, 5, low=0.5), 1.0, (2, 3), 2, True).within(1e-4),
    refused(ValueError, lp_pool1d, F(1, 1, 4), 0, 2),
    refused(TypeError, lp_pool2d, F(1, 1, 4, 4), "2", 2),
]
