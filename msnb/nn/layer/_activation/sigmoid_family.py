"""Smooth activations: sigmoid-shaped functions, and products of the input with such a function."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Int, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer._one_operator import OneOperator, PlainOperator
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = [
    "Sigmoid",
    "HSigmoid",
    "LogSigmoid",
    "Tanh",
    "Softsign",
    "SiLU",
    "HSwish",
    "Mish",
    "GELU",
    "FastGelu",
    "Tanhshrink",
    "GLU",
]


_INTEGERS = (*mstype.int_type, *mstype.uint_type)


class Sigmoid(PlainOperator, operator=P.Sigmoid, attribute_name="sigmoid"):
    r"""
    The logistic function: :math:`1 / (1 + e^{-x})`, between 0 and 1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.Sigmoid()(Tensor([0.0], mindspore.float32)))
        [0.5]
    """


class HSigmoid(PlainOperator, operator=P.HSigmoid, attribute_name="hsigmoid"):
    """
    Piecewise linear sigmoid: min(max((x + 3) / 6, 0), 1).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.HSigmoid()(Tensor([-4.0, 0.0, 4.0], mindspore.float32)))
        [0.  0.5 1. ]
    """


class LogSigmoid(Cell):
    r"""
    Logarithm of the sigmoid: :math:`-\log(1 + e^{-x})`. It does not overflow for large negative numbers.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.LogSigmoid()(Tensor([0.0, -100.0], mindspore.float32)))
        [  -0.6931472 -100.       ]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return log(sigmoid(x))."""
        return F.logsigmoid(x)


class Tanh(PlainOperator, operator=P.Tanh, attribute_name="tanh"):
    r"""
    The hyperbolic tangent: :math:`(e^x - e^{-x}) / (e^x + e^{-x})`, between -1 and 1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.Tanh()(Tensor([0.0, 20.0], mindspore.float32)))
        [0. 1.]
    """


class Softsign(PlainOperator, operator=P.Softsign, attribute_name="softsign"):
    """
    Softsign: x / (1 + abs(x)), between -1 and 1.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.Softsign()(Tensor([-1.0, 0.0, 3.0], mindspore.float32)))
        [-0.5   0.    0.75]
    """


class SiLU(PlainOperator, operator=P.SiLU, attribute_name="silu"):
    """
    Swish, the sigmoid-weighted linear unit: x * sigmoid(x) (Elfwing et al., 2017).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.SiLU()(Tensor([0.0, 20.0], mindspore.float32)))
        [ 0. 20.]
    """


class HSwish(PlainOperator, operator=P.HSwish, attribute_name="hswish"):
    """
    Hard swish: x * HSigmoid(x) (Howard et al., 2019).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.HSwish()(Tensor([-4.0, 0.0, 4.0], mindspore.float32)))
        [0. 0. 4.]
    """


class Mish(PlainOperator, operator=P.Mish, attribute_name="mish"):
    """
    x * tanh(log(1 + exp(x))) (Misra, 2019).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.Mish()(Tensor([0.0, 20.0], mindspore.float32)))
        [ 0. 20.]
    """


class GELU(OneOperator, operator=P.Gelu, attribute_name="gelu"):
    r"""
    Gaussian error linear unit (Hendrycks and Gimpel, 2016): x times the probability that a standard normal variable is
    less than x. It is computed with the tanh approximation :math:`0.5 x (1 + \tanh(\sqrt{2/\pi} (x + 0.044715 x^3)))`.

    Args:
        approximate (bool): In MindSpore 2: use the tanh approximation instead of the exact function. Default: True.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.GELU()(Tensor([0.0, 20.0], mindspore.float32)))
        [ 0. 20.]
    """

    @checked
    def __init__(self, approximate: Bool = True) -> None:
        super().__init__()
        self.approximate: bool = approximate

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of `x`."""
        return super().construct(x) if self.approximate else F.gelu(x)


class FastGelu(PlainOperator, operator=P.FastGelu, attribute_name="fast_gelu"):
    r"""
    Approximate GELU: x * sigmoid(1.702 x), computed as :math:`x / (1 + \exp(-1.702 |x|)) \exp(0.851 (x - |x|))`.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Examples:
        >>> print(nn.FastGelu()(Tensor([0.0, 20.0], mindspore.float32)))
        [ 0. 20.]
    """


class Tanhshrink(PlainOperator, operator=P.Tanh, attribute_name="tanh"):
    """
    x - tanh(x).

    Inputs:
        - **x** (Tensor) - numbers, of any shape.

    Outputs:
        Tensor of the shape and type of `x`, float32 for integers.

    Examples:
        >>> print(nn.Tanhshrink()(Tensor([0.0, 20.0], mindspore.float32)))
        [ 0. 19.]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return x - tanh(x)."""
        if x.dtype in _INTEGERS:
            x = P.Cast()(x, mstype.float32)
        return x - self.tanh(x)


class GLU(Cell):
    r"""
    Gated linear unit (Dauphin et al., 2017): :math:`a \cdot \sigma(b)`, where a and b are the two halves of the input.

    Args:
        axis (int): The axis that is split into the two halves. Default: -1.

    Inputs:
        - **x** (Tensor) - a float Tensor whose `axis` is of even length.

    Outputs:
        Tensor with half the length along `axis`.

    Raises:
        TypeError: If `axis` is no int.
        ValueError: If the axis does not exist or has an odd length.

    Examples:
        >>> print(nn.GLU()(Tensor([[3.0, 0.0]], mindspore.float32)))
        [[1.5]]
    """

    @checked
    def __init__(self, axis: Int = -1) -> None:
        super().__init__()
        self.dim: int = axis

    def construct(self, x: Tensor) -> Tensor:
        """Return the gated half."""
        return F.glu(x, self.dim)
