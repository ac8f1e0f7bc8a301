"""Distributions of weights: the prior, and the posterior that is trained."""

from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Kind, Str, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Real
from msnb.nn.cell import Cell
from msnb.nn.probability._parameters import FloatType
from msnb.nn.probability.distribution.normal import Normal
from msnb.ops import functional as F

__all__ = ["NormalPrior", "NormalPosterior"]


def _check_standard_deviation(value):
    """Check a standard deviation. A negative number is a TypeError, as in MindSpore."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise TypeError
    return value


def _check_shape(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    return tuple(value)


StandardDeviation = Annotated[float, Kind("an int or a float of at least 0", _check_standard_deviation)]


class NormalPrior(Cell):
    """
    A normal prior distribution of weights.

    Args:
        dtype (mindspore.dtype): Type of the weights. Default: mindspore.float32.
        mean (Union[int, float]): The mean. Default: 0.
        std (Union[int, float]): The standard deviation. Default: 0.1.

    Inputs:
        The name of a method and its arguments, as for a Distribution.

    Outputs:
        The result of that method.

    Raises:
        TypeError: If `dtype` is no type of floating point numbers.
        ValueError: If `std` is not positive.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> print(bnn_layers.NormalPrior(std=0.5)("sd"))
        0.5
    """

    def __init__(self, dtype: mstype.Type = mstype.float32, mean: float = 0, std: float = 0.1) -> None:
        super().__init__()
        self.normal: Normal = Normal(mean, std, dtype=dtype)

    def construct(self, *inputs: Any) -> Any:
        """Call a method of the distribution by its name."""
        return self.normal(*inputs)


class NormalPosterior(Cell):
    r"""
    A normal posterior distribution of weights. Its Parameters are the means :math:`\mu` and the numbers :math:`\rho`,
    which give the standard deviations :math:`\log(1 + e^\rho)` (Blundell et al., 2015).

    Args:
        name (str): Prefix of the Parameter names.
        shape (Union[list, tuple]): Shape of the weights.
        dtype (mindspore.dtype): Type of the weights. Default: mindspore.float32.
        loc_mean (Union[int, float]): Mean of the initial :math:`\mu`, which are drawn randomly. Default: 0.
        loc_std (Union[int, float]): Standard deviation of these initial values. Default: 0.1.
        untransformed_scale_mean (Union[int, float]): Mean of the initial :math:`\rho`, which are drawn randomly.
            Default: -5.
        untransformed_scale_std (Union[int, float]): Standard deviation of these initial values. Default: 0.1.

    Inputs:
        The name of a method and its arguments, as for a Distribution.

    Outputs:
        The result of that method.

    Raises:
        TypeError: If an argument has the wrong type, or a standard deviation is negative.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> posterior = bnn_layers.NormalPosterior("fc", (2, 3))
        >>> print(posterior("sample").shape, posterior.mean.name)
        (2, 3) fc_mean
    """

    @checked
    def __init__(
        self,
        name: Str,
        shape: Annotated[tuple[int, ...] | list[int], Kind("a tuple or a list", _check_shape)],
        dtype: FloatType = mstype.float32,
        loc_mean: Real = 0,
        loc_std: StandardDeviation = 0.1,
        untransformed_scale_mean: Real = -5,
        untransformed_scale_std: StandardDeviation = 0.1,
    ) -> None:
        super().__init__()
        means = np.random.normal(loc_mean, loc_std, shape)
        scales = np.random.normal(untransformed_scale_mean, untransformed_scale_std, shape)
        self.mean: Parameter = Parameter(Tensor(means, dtype=dtype), name=name + "_mean")
        self.untransformed_std: Parameter = Parameter(Tensor(scales, dtype=dtype), name=name + "_untransformed_std")
        self.normal: Normal = Normal(dtype=dtype)

    def std_trans(self, std_pre: Tensor) -> Tensor:
        """Return the standard deviation log(1 + exp(std_pre)), plus a small number so that it is not 0."""
        return 1e-6 - F.logsigmoid(-std_pre)

    def construct(self, *inputs: Any) -> Any:
        """Call a method of the distribution by its name."""
        return self.normal(*inputs, mean=self.mean, sd=self.std_trans(self.untransformed_std))
