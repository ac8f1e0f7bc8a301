"""Activation layers; those of newer versions are re-exported."""

import numpy as np

from msnb._checkparam import Validator
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer._activation_newer import (
    CELU,
    Hardtanh,
    HShrink,
    Mish,
    SeLU,
    SiLU,
    Softmin,
    SoftShrink,
    Softsign,
    Tanhshrink,
)
from msnb.ops import operations as P

__all__ = [
    "Softmax",
    "LogSoftmax",
    "ReLU",
    "ReLU6",
    "Tanh",
    "GELU",
    "FastGelu",
    "Sigmoid",
    "PReLU",
    "get_activation",
    "LeakyReLU",
    "HSigmoid",
    "HSwish",
    "ELU",
    "LogSigmoid",
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


class Softmax(Cell):
    r"""
    Softmax: :math:`\exp(x_i) / \sum_j \exp(x_j)` along an axis.

    Args:
        axis (Union[int, tuple[int]]): The axis to normalise along. Default: -1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `axis` is neither an int nor a tuple.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> softmax = nn.Softmax()
        >>> output = softmax(Tensor(np.array([-1, -2, 0, 2, 1]), mindspore.float32))
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.softmax = P.Softmax(axis)

    def construct(self, x):
        return self.softmax(x)


class LogSoftmax(Cell):
    r"""
    The logarithm of softmax: :math:`x_i - \log \sum_j \exp(x_j)` along an axis.

    Args:
        axis (int): The axis to normalise along. Default: -1.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> log_softmax = nn.LogSoftmax()
        >>> output = log_softmax(Tensor(np.array([[-1.0, 4.0, -8.0]]), mindspore.float32))
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.log_softmax = P.LogSoftmax(axis)

    def construct(self, x):
        return self.log_softmax(x)


class ELU(Cell):
    r"""
    Exponential linear unit: `x` where positive, :math:`\alpha (\exp(x) - 1)` elsewhere (Clevert et al., 2015).

    Args:
        alpha (float): The limit for large negative `x` is -alpha. Default: 1.0.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is not a float.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> elu = nn.ELU()
        >>> output = elu(Tensor(np.array([-1, -2, 0, 2, 1]), mindspore.float32))
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        self.elu = P.Elu(alpha)

    def construct(self, x):
        return self.elu(x)


class ReLU(Cell):
    """
    Rectified linear unit: max(x, 0).

    Inputs:
        - **x** (Tensor) - a number Tensor of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> relu = nn.ReLU()
        >>> output = relu(Tensor(np.array([-1, 2, -3, 2, -1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.relu = P.ReLU()

    def construct(self, x):
        return self.relu(x)


class ReLU6(Cell):
    """
    Rectified linear unit with an upper bound: min(max(x, 0), 6).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> relu6 = nn.ReLU6()
        >>> output = relu6(Tensor(np.array([-1, -2, 0, 8, 1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.relu6 = P.ReLU6()

    def construct(self, x):
        return self.relu6(x)


class LeakyReLU(Cell):
    """
    Leaky rectified linear unit: `x` where positive, alpha * x elsewhere.

    Args:
        alpha (Union[int, float]): The slope where `x` is negative. Default: 0.2.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `alpha` is neither a float nor an int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> leaky_relu = nn.LeakyReLU()
        >>> output = leaky_relu(Tensor(np.array([[-1.0, 4.0, -8.0]]), mindspore.float32))
    """

    def __init__(self, alpha=0.2):
        super().__init__()
        Validator.check_value_type("alpha", alpha, [float, int], self.cls_name)
        self.alpha = alpha
        self.select_larger = P.Maximum() if alpha <= 1 else P.Minimum()

    def construct(self, x):
        return self.select_larger(self.alpha * x, x)


class Tanh(Cell):
    """
    Hyperbolic tangent.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> tanh = nn.Tanh()
        >>> output = tanh(Tensor(np.array([1, 2, 3, 2, 1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.tanh = P.Tanh()

    def construct(self, x):
        return self.tanh(x)


class GELU(Cell):
    r"""
    Gaussian error linear unit, by the tanh formula:
    :math:`0.5 x (1 + \tanh(\sqrt{2/\pi} (x + 0.044715 x^3)))` (Hendrycks and Gimpel, 2016).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> gelu = nn.GELU()
        >>> output = gelu(Tensor(np.array([[-1.0, 4.0, -8.0]]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.gelu = P.Gelu()

    def construct(self, x):
        return self.gelu(x)


class FastGelu(Cell):
    r"""
    A faster Gaussian error linear unit: :math:`x / (1 + \exp(-1.702 |x|)) \exp(0.851 (x - |x|))`.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> fast_gelu = nn.FastGelu()
        >>> output = fast_gelu(Tensor(np.array([[-1.0, 4.0, -8.0]]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.fast_gelu = P.FastGelu()

    def construct(self, x):
        return self.fast_gelu(x)


class Sigmoid(Cell):
    """
    Sigmoid: 1 / (1 + exp(-x)).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> sigmoid = nn.Sigmoid()
        >>> output = sigmoid(Tensor(np.array([-1, -2, 0, 2, 1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.sigmoid = P.Sigmoid()

    def construct(self, x):
        return self.sigmoid(x)


class PReLU(Cell):
    """
    Parametric rectified linear unit: max(x, 0) + w * min(x, 0), with a learned slope (He et al., 2015).

    Args:
        channel (int): The number of slopes: 1, or the size of axis 1 of the input. Default: 1.
        w (Union[float, list, Tensor]): The initial slopes. Default: 0.25.

    Inputs:
        - **x** (Tensor) - float16 or float32, of shape (N, C, ...).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `w` is not a float, a list or a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> prelu = nn.PReLU()
        >>> output = prelu(Tensor(np.array([[[[0.1, 0.6], [0.9, 0.9]]]]), mindspore.float32))
    """

    def __init__(self, channel=1, w=0.25):
        super().__init__()
        if isinstance(w, (np.float32, float)):
            Validator.check_finite(w, "w", self.cls_name)
            w = Tensor(np.full((channel,), w, dtype=np.float32))
        elif isinstance(w, list):
            w = Tensor(np.array(w, dtype=np.float32))
        if not isinstance(w, Tensor):
            raise TypeError(f"For 'PReLU', 'w' should be a float, a list or a Tensor, but got {w!r}.")
        self.w = Parameter(initializer(w, [channel]), name="a")
        self.prelu = P.PReLU()
        self.relu = P.ReLU()
        self.assign = P.Assign()

    def construct(self, x):
        slope = self.relu(self.w)
        out = self.prelu(x, slope)
        if self.training:
            self.assign(self.w, slope)
        return out


class HSwish(Cell):
    """
    Hard swish: x * relu6(x + 3) / 6 (Howard et al., 2019).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> hswish = nn.HSwish()
        >>> output = hswish(Tensor(np.array([-1, -2, 0, 2, 1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.hswish = P.HSwish()

    def construct(self, x):
        return self.hswish(x)


class HSigmoid(Cell):
    """
    Hard sigmoid: max(0, min(1, (x + 3) / 6)).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> hsigmoid = nn.HSigmoid()
        >>> output = hsigmoid(Tensor(np.array([-1, -2, 0, 2, 1]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.hsigmoid = P.HSigmoid()

    def construct(self, x):
        return self.hsigmoid(x)


class LogSigmoid(Cell):
    """
    The logarithm of sigmoid: log(1 / (1 + exp(-x))).

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> log_sigmoid = nn.LogSigmoid()
        >>> output = log_sigmoid(Tensor(np.array([1.0, 2.0, 3.0]), mindspore.float32))
    """

    def __init__(self):
        super().__init__()
        self.softplus = P.Softplus()

    def construct(self, x):
        # -softplus(-x) is the same function, finite for large negative x.
        return -self.softplus(-x)


_activation = {
    "softmax": Softmax,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "tanh": Tanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "silu": SiLU,
    "mish": Mish,
    "softsign": Softsign,
}


def get_activation(name):
    """
    The activation layer of a name.

    Args:
        name (str): "relu", "sigmoid", "softmax", ...; None gives None.

    Returns:
        Cell, the activation layer.

    Raises:
        KeyError: If `name` is unknown.

    Examples:
        >>> sigmoid = nn.get_activation('sigmoid')
    """
    if name is None:
        return None
    if name not in _activation:
        raise KeyError(f"Unknown activation type '{name}', please use one of {sorted(_activation)}.")
    return _activation[name]()
