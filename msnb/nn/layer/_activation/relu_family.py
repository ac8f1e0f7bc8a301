"""Activations related to ReLU: ReLU, LeakyReLU, PReLU, RReLU, ELU, SeLU, CELU."""

from typing import Annotated

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Kind, PositiveInt, accept_value, checked
from msnb.core.operator.api_generations import current_generation, differs_in_api2
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat, FiniteNumber
from msnb.nn._kinds import FloatNotNan, NumberNotNan
from msnb.nn.cell import Cell
from msnb.nn.layer._one_operator import OneOperator, PlainOperator
from msnb.ops import functional as F
from msnb.ops import operations as P

_WHOLE = (mstype.bool_, *mstype.int_type, *mstype.uint_type)

__all__ = ["ReLU", "ReLU6", "LeakyReLU", "PReLU", "RReLU", "ELU", "SeLU", "CELU"]


class ReLU(PlainOperator, operator=P.ReLU, attribute_name="relu"):
    """
    Rectified linear unit: max(x, 0).

    Inputs:
        - **x** (Tensor) - a number Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.ReLU()(Tensor([-1.0, 2.0], mindspore.float32)))
        [0. 2.]
    """


class ReLU6(PlainOperator, operator=P.ReLU6, attribute_name="relu6"):
    """
    ReLU with an upper limit: min(max(x, 0), 6).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.ReLU6()(Tensor([-1.0, 2.0, 8.0], mindspore.float32)))
        [0. 2. 6.]
    """


class LeakyReLU(Cell):
    """
    Leaky ReLU: alpha * x where `x` is negative, and `x` elsewhere.

    Args:
        alpha (Union[int, float]): Slope for negative numbers. Default: 0.2.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is no number.

    Examples:
        >>> print(nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0], mindspore.float32)))
        [-0.5  2. ]
    """

    @checked
    def __init__(self, alpha: NumberNotNan = 0.2) -> None:
        super().__init__()
        self.alpha: float = alpha

    def construct(self, x: Tensor) -> Tensor:
        """Return the rectified numbers."""
        # This layer casts the slope to the dtype of x, so its fraction is dropped for integers.
        return F.leaky_relu(x, float(int(self.alpha)) if x.dtype in _WHOLE else self.alpha)


def _check_slopes(value):
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list):
        return Tensor(np.array(value, np.float32))
    if not isinstance(value, (float, np.float32)):
        raise TypeError
    return accept_value(FiniteFloat, float(value))


Slopes = Annotated[float | list[float] | Tensor, Kind("a float, a list or a Tensor", _check_slopes, whole=True)]


@differs_in_api2("the learned shares may be negative, and training leaves them as they are")
class PReLU(Cell):
    """
    LeakyReLU whose slope is learned, one for all channels or one per channel (He et al., 2015). Slopes do not become
    negative.

    Args:
        channel (int): Number of learned slopes: 1, or the size of axis 1 of the input. Default: 1.
        w (Union[float, list, Tensor]): Initial slopes. Default: 0.25.

    Inputs:
        - **x** (Tensor) - float16 or float32, of shape (N, C, ...).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `w` has the wrong type.

    Examples:
        >>> print(nn.PReLU()(Tensor([[-1.0, 2.0]], mindspore.float32)))
        [[-0.25  2.  ]]
    """

    _is_cut = True  # default for pickles of msnb 0.1, whose PReLU is that of r1.1

    @checked
    def __init__(self, channel: PositiveInt = 1, w: Slopes = 0.25) -> None:
        super().__init__()
        self.w: Parameter = Parameter(initializer(w, [channel]), "a")
        self.prelu: P.PReLU = P.PReLU()
        self._is_cut: bool = current_generation() == 1

    def construct(self, x: Tensor) -> Tensor:
        """Return the rectified numbers. In training, a negative slope is set to 0, as in r1.1."""
        if not self._is_cut:
            return self.prelu(x, self.w)
        share = F.relu(self.w)
        if self.training:
            F.assign(self.w, share)
        return self.prelu(x, share)


class RReLU(Cell):
    """
    LeakyReLU whose slope is drawn for each element and each call (Xu et al., 2015).

    Args:
        lower (Union[int, float]): Smallest slope. Default: 1 / 8.
        upper (Union[int, float]): Largest slope. Default: 1 / 3.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If a bound is no number.
        ValueError: If `lower` is greater than `upper`.

    Examples:
        >>> print(nn.RReLU(0.5, 0.5)(Tensor([-1.0, 2.0], mindspore.float32)))
        [-0.5  2. ]
    """

    @checked
    def __init__(self, lower: FiniteNumber = 1 / 8, upper: FiniteNumber = 1 / 3) -> None:
        super().__init__()
        if lower > upper:
            raise ValueError(
                f"For '{self.cls_name}', 'lower' should not be greater than 'upper', but got {lower} and {upper}."
            )
        self.lower: float = lower
        self.upper: float = upper

    def construct(self, x: Tensor) -> Tensor:
        """Return the rectified numbers."""
        return F.rrelu(x, self.lower, self.upper)


class ELU(OneOperator, operator=P.Elu, attribute_name="elu"):
    r"""
    Exponential linear unit (Clevert et al., 2015): :math:`\alpha (e^x - 1)` where x is negative, and x elsewhere.

    Args:
        alpha (float): The results are greater than -alpha. Default: 1.0.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is no float.

    Examples:
        >>> print(nn.ELU()(Tensor([-100.0, 2.0], mindspore.float32)))
        [-1.  2.]
    """

    @checked
    def __init__(self, alpha: FloatNotNan = 1.0) -> None:
        super().__init__(alpha)


class SeLU(PlainOperator, operator=P.SeLU, attribute_name="selu"):
    """
    Scaled ELU: activations keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.SeLU()(Tensor([0.0, 1.0], mindspore.float32)))
        [0.       1.050701]
    """


def _accept_nonzero(value):
    value = accept_value(FloatNotNan, value)
    if value == 0:
        raise ValueError
    return value


class CELU(OneOperator, operator=P.CeLU, attribute_name="celu"):
    r"""
    Continuously differentiable ELU (Barron, 2017): :math:`\alpha (e^{x / \alpha} - 1)` where x is negative, and x
    elsewhere.

    Args:
        alpha (float): The results are greater than -alpha; not 0. Default: 1.0.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is no float.
        ValueError: If it is 0.

    Examples:
        >>> print(nn.CELU(2.0)(Tensor([-100.0, 2.0], mindspore.float32)))
        [-2.  2.]
    """

    @checked
    def __init__(self, alpha: Annotated[float, Kind("a float other than 0", _accept_nonzero)] = 1.0) -> None:
        super().__init__(alpha)
        self.alpha: float = alpha
