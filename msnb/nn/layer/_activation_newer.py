"""Activation layers that newer versions of MindSpore added."""

from msnb._checkparam import Validator
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = [
    "SiLU",
    "Mish",
    "Softsign",
    "Softmin",
    "SeLU",
    "CELU",
    "Hardtanh",
    "Tanhshrink",
    "HShrink",
    "SoftShrink",
]


class SiLU(Cell):
    """
    Sigmoid linear unit, also called swish: x * sigmoid(x).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.sigmoid = P.Sigmoid()

    def construct(self, x):
        return x * self.sigmoid(x)


class Mish(Cell):
    """
    Mish: x * tanh(softplus(x)) (Misra, 2019).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.mish = P.Mish()

    def construct(self, x):
        return self.mish(x)


class Softsign(Cell):
    """
    Softsign: x / (1 + abs(x)).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.softsign = P.Softsign()

    def construct(self, x):
        return self.softsign(x)


class Softmin(Cell):
    """
    Softmax of -x.

    Args:
        axis (int): The axis to normalise along. Default: -1.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.softmax = P.Softmax(axis)

    def construct(self, x):
        return self.softmax(-x)


class SeLU(Cell):
    """
    Scaled exponential linear unit, which keeps activations normalised (Klambauer et al., 2017).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.selu = P.SeLU()

    def construct(self, x):
        return self.selu(x)


class CELU(Cell):
    """
    Continuously differentiable exponential linear unit: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).

    Args:
        alpha (float): The limit for large negative `x` is -alpha. Default: 1.0.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is not a float.
        ValueError: If `alpha` is 0.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = Validator.check_value_type("alpha", alpha, [float], self.cls_name)
        if alpha == 0.0:
            raise ValueError("For 'CELU', 'alpha' should not be 0.")
        self.celu = P.CeLU(alpha)

    def construct(self, x):
        return self.celu(x)


class Hardtanh(Cell):
    """
    Clip to [min_val, max_val].

    Args:
        min_val (Union[int, float]): The lower bound. Default: -1.0.
        max_val (Union[int, float]): The upper bound. Default: 1.0.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        ValueError: If `min_val` is not less than `max_val`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, min_val=-1.0, max_val=1.0):
        super().__init__()
        Validator.check_value_type("min_val", min_val, [float, int], self.cls_name)
        Validator.check_value_type("max_val", max_val, [float, int], self.cls_name)
        if min_val >= max_val:
            raise ValueError(
                f"For 'Hardtanh', 'min_val' should be less than 'max_val', but got {min_val} and {max_val}."
            )
        self.min_val = min_val
        self.max_val = max_val
        self.minimum = P.Minimum()
        self.maximum = P.Maximum()

    def construct(self, x):
        return self.minimum(self.maximum(x, self.min_val), self.max_val)


class Tanhshrink(Cell):
    """
    x - tanh(x).

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.tanh = P.Tanh()

    def construct(self, x):
        return x - self.tanh(x)


class HShrink(Cell):
    """
    Hard shrink: `x` where abs(x) > lambd, 0 elsewhere.

    Args:
        lambd (float): The threshold. Default: 0.5.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = Validator.check_value_type("lambd", lambd, [float], self.cls_name)
        self.hshrink = P.HShrink(lambd)

    def construct(self, x):
        return self.hshrink(x)


class SoftShrink(Cell):
    """
    Soft shrink: `x` moved towards 0 by lambd, 0 where abs(x) <= lambd.

    Args:
        lambd (float): The threshold, not negative. Default: 0.5.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = Validator.check_value_type("lambd", lambd, [float], self.cls_name)
        if lambd < 0:
            raise ValueError(f"For 'SoftShrink', 'lambd' should not be negative, but got {lambd}.")
        self.soft_shrink = P.SoftShrink(lambd)

    def construct(self, x):
        return self.soft_shrink(x)
