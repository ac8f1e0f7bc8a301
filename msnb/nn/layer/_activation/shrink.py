"""Activations with thresholds: values beyond a bound, or near 0, become a constant."""

from typing import Annotated

from msnb.common.kinds import Between, Float, StrictFloat, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import FloatNotNan
from msnb.nn.cell import Cell
from msnb.nn.layer._one_operator import OneOperator
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Hardtanh", "HShrink", "SoftShrink", "Threshold"]


class Hardtanh(Cell):
    """
    Limit each element to [min_val, max_val].

    Args:
        min_val (Union[int, float]): The lower limit. Default: -1.0.
        max_val (Union[int, float]): The upper limit. Default: 1.0.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If a bound is no number.
        ValueError: If `min_val` is not less than `max_val`.

    Examples:
        >>> print(nn.Hardtanh()(Tensor([-3.0, 0.5, 3.0], mindspore.float32)))
        [-1.   0.5  1. ]
    """

    @checked
    def __init__(self, min_val: Float = -1.0, max_val: Float = 1.0) -> None:
        super().__init__()
        if not min_val < max_val:
            raise ValueError(
                f"For '{self.cls_name}', 'min_val' should be less than 'max_val', but got {min_val} and {max_val}."
            )
        self.min_val: float = min_val
        self.max_val: float = max_val

    def construct(self, x: Tensor) -> Tensor:
        """Return the clipped input."""
        return F.hardtanh(x, self.min_val, self.max_val)


class HShrink(OneOperator, operator=P.HShrink, attribute_name="hshrink"):
    """
    Hard shrinkage: x where abs(x) > lambd, and 0 elsewhere.

    Args:
        lambd (float): The threshold. Default: 0.5.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `lambd` is no float.

    Examples:
        >>> print(nn.HShrink()(Tensor([-1.0, 0.25], mindspore.float32)))
        [-1.  0.]
    """

    @checked
    def __init__(self, lambd: FloatNotNan = 0.5) -> None:
        super().__init__(lambd)


class SoftShrink(OneOperator, operator=P.SoftShrink, attribute_name="soft_shrink"):
    """
    Soft shrinkage: x - lambd where x > lambd, x + lambd where x < -lambd, and 0 elsewhere.

    Args:
        lambd (float): The threshold, not negative. Default: 0.5.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `lambd` is no float.
        ValueError: If it is negative.

    Examples:
        >>> print(nn.SoftShrink()(Tensor([-1.0, 0.25], mindspore.float32)))
        [-0.5  0. ]
    """

    @checked
    def __init__(self, lambd: Annotated[float, Between(StrictFloat, 0, None)] = 0.5) -> None:
        super().__init__(lambd)


class Threshold(Cell):
    """
    x where x > threshold, and the constant `value` elsewhere.

    Args:
        threshold (Union[int, float]): The threshold.
        value (Union[int, float]): The constant.

    Inputs:
        - **input_x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `input_x`.

    Raises:
        TypeError: If an argument is no number.

    Examples:
        >>> print(nn.Threshold(0.1, 20)(Tensor([0.0, 0.1, 0.2], mindspore.float32)))
        [20.  20.   0.2]
    """

    @checked
    def __init__(self, threshold: Float, value: Float) -> None:
        super().__init__()
        self.threshold: float = threshold
        self.value: float = value

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the thresholded input."""
        return F.threshold(input_x, self.threshold, self.value)
