"""Softmax activations: they turn scores into a distribution."""

from msnb.common.arguments import answered
from msnb.common.kinds import Axis, Int, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn.cell import Cell
from msnb.nn.layer._one_operator import OneOperator
from msnb.ops import operations as P

__all__ = ["Softmax", "LogSoftmax", "Softmin", "Softmax2d"]


class Softmax(OneOperator, operator=P.Softmax, attribute_name="softmax"):
    r"""
    Softmax: :math:`\exp(x_i) / \sum_j \exp(x_j)`.

    Args:
        axis (Union[int, tuple[int]]): Axis along which the results sum to 1. Default: -1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `axis` is neither an int nor a tuple of ints.
        ValueError: If `x` has no such axis.

    Examples:
        >>> print(nn.Softmax()(Tensor([[1.0, 1.0]], mindspore.float32)))
        [[0.5 0.5]]
    """

    @checked
    def __init__(self, axis: Axis = -1) -> None:
        super().__init__(axis)


class LogSoftmax(OneOperator, operator=P.LogSoftmax, attribute_name="log_softmax"):
    r"""
    Logarithm of Softmax: :math:`x_i - \log \sum_j \exp(x_j)`. It is accurate also where Softmax is nearly 0.

    Args:
        axis (int): The axis of the sum. Default: -1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `axis` is no int.
        ValueError: If `x` has no such axis.

    Examples:
        >>> print(nn.LogSoftmax()(Tensor([[1.0, 1.0]], mindspore.float32)))
        [[-0.6931472 -0.6931472]]
    """

    @checked
    def __init__(self, axis: Int = -1) -> None:
        super().__init__(axis)


class Softmin(OneOperator, operator=P.Softmax, attribute_name="softmax"):
    """
    Softmax of -x.

    Args:
        axis (int): Axis along which the results sum to 1. Default: -1.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.Softmin()(Tensor([[1.0, 1.0]], mindspore.float32)))
        [[0.5 0.5]]
    """

    @checked
    def __init__(self, axis: Axis = -1) -> None:
        super().__init__(axis)

    def construct(self, x: Tensor) -> Tensor:
        """Return the probabilities."""
        return self.softmax(-x)


class Softmax2d(Cell):
    """
    Softmax over the channels of each pixel.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        ValueError: If the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.Softmax2d()(Tensor(np.ones((4, 1, 1)), mindspore.float32)).flatten())
        [0.25 0.25 0.25 0.25]
    """

    @answered
    def __init__(self) -> None:
        super().__init__()
        self.softmax: P.Softmax = P.Softmax(-3)

    def construct(self, x: Tensor) -> Tensor:
        """Return the probabilities."""
        check_dims(self.cls_name, x, 3, 4)
        return self.softmax(x)
