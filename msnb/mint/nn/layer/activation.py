"""Activations of `mindspore.mint.nn`."""

from typing import Annotated

from msnb.common.kinds import Bool, Int, OneOf, checked
from msnb.mint.nn import functional as F
from msnb.mint.nn.layer._of_function import OfFunction
from msnb.nn._hyperparameter_kinds import FiniteNumber, NonNegativeNumber

__all__ = [
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardtanh",
    "Mish",
    "ReLU6",
    "SELU",
    "SiLU",
    "Softmax",
    "Softshrink",
    "Threshold",
]


class ELU(OfFunction, function=F.elu):
    """
    Returns x where x > 0, and alpha * (exp(x) - 1) elsewhere.

    Args:
        alpha (Union[int, float]): The results are greater than -alpha. Default: 1.0.
        inplace (bool): Whether the result is written into the input. Default: False.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.

    Examples:
        >>> print(mint.nn.ELU()(Tensor([0.0, 2.0], mindspore.float32)))
        [0. 2.]
    """

    @checked
    def __init__(self, alpha: FiniteNumber = 1.0, inplace: Bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class ReLU6(OfFunction, function=F.relu6):
    """
    Returns min(max(x, 0), 6).

    Args:
        inplace (bool): Whether the result is written into the input. Default: False.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, inplace: Bool = False) -> None:
        super().__init__(inplace=inplace)


class SiLU(OfFunction, function=F.silu):
    """
    Returns x * sigmoid(x).

    Args:
        inplace (bool): Whether the result is written into the input. Default: False.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, inplace: Bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardtanh(OfFunction, function=F.hardtanh):
    """
    Limits every element to [min_val, max_val].

    Args:
        min_val (Union[int, float]): The lower limit. Default: -1.0.
        max_val (Union[int, float]): The upper limit. Default: 1.0.
        inplace (bool): Whether the result is written into the input. Default: False.

    Inputs:
        - **input** (Tensor) - numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, min_val: FiniteNumber = -1.0, max_val: FiniteNumber = 1.0, inplace: Bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class Threshold(OfFunction, function=F.threshold):
    """
    Returns x where x > threshold, and `value` elsewhere.

    Args:
        threshold (Union[int, float]): The threshold.
        value (Union[int, float]): Replacement of elements that are not greater than the threshold.
        inplace (bool): Whether the result is written into the input. Default: False.

    Inputs:
        - **input** (Tensor) - numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, threshold: FiniteNumber, value: FiniteNumber, inplace: Bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class GELU(OfFunction, function=F.gelu):
    """
    Gaussian error linear unit: x times the standard normal cumulative distribution function at x.

    Args:
        approximate (str): "none" for the exact function, "tanh" for an approximation with tanh. Default: "none".

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, approximate: Annotated[str, OneOf("none", "tanh")] = "none") -> None:
        super().__init__(approximate=approximate)


class GLU(OfFunction, function=F.glu):
    """
    Gated linear unit: the first half of a dimension times the sigmoid of the second half.

    Args:
        dim (int): The dimension. Default: -1.

    Inputs:
        - **input** (Tensor) - with an even length along `dim`.

    Outputs:
        Tensor whose length along `dim` is halved.
    """

    @checked
    def __init__(self, dim: Int = -1) -> None:
        super().__init__(dim=dim)


class Softmax(OfFunction, function=F.softmax):
    """
    Returns exp(x) / sum(exp(x)), with the sum over a dimension.

    Args:
        dim (int): The dimension. Default: None, which is 0 for inputs with 0, 1 or 3 dimensions, and 1 for others.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, dim: Int | None = None) -> None:
        super().__init__(dim=dim)


class Hardshrink(OfFunction, function=F.hardshrink):
    """
    Returns x where |x| > lambd, and 0 elsewhere.

    Args:
        lambd (Union[int, float]): Threshold. Default: 0.5.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, lambd: FiniteNumber = 0.5) -> None:
        super().__init__(lambd=lambd)


class Softshrink(OfFunction, function=F.softshrink):
    """
    Returns x - lambd where x > lambd, x + lambd where x < -lambd, and 0 elsewhere.

    Args:
        lambd (Union[int, float]): Threshold, not negative. Default: 0.5.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """

    @checked
    def __init__(self, lambd: NonNegativeNumber = 0.5) -> None:
        super().__init__(lambd=lambd)


class Mish(OfFunction, function=F.mish):
    """
    Returns x * tanh(softplus(x)).

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """


class SELU(OfFunction, function=F.selu):
    """
    ELU with a scale that preserves mean and variance of activations.

    Inputs:
        - **input** (Tensor) - floating point numbers.

    Outputs:
        Tensor of the same shape.
    """
