"""Initial values of Parameters: each `Initializer` fills a numpy array; `initializer` makes the Tensor.

The random ones draw from `numpy.random` (which `set_seed` seeds); `Normal` has a stream of its own, which restarts at
`set_seed`.
"""

import math
import numbers

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.dtype import np_dtype
from msnb.common.seed import get_seed, on_seed

__all__ = [
    "Initializer",
    "initializer",
    "TruncatedNormal",
    "Normal",
    "Uniform",
    "HeUniform",
    "HeNormal",
    "XavierUniform",
    "XavierNormal",
    "VarianceScaling",
    "Orthogonal",
    "Sparse",
    "Dirac",
    "Identity",
    "One",
    "Zero",
    "Constant",
]

_INITIALIZER_ALIAS = {}
_normal_draws = 0
_box = None


def register_boxer(boxer):
    """Set the function that makes a Tensor of a numpy array: core does, so that this floor imports nothing above."""
    global _box
    _box = boxer


@on_seed
def _restart(_seed):
    global _normal_draws
    _normal_draws = 0


def _register(*aliases):
    def register(cls):
        for name in (cls.__name__.lower(), *aliases):
            _INITIALIZER_ALIAS.setdefault(name, cls)
        return cls

    return register


def _assignment(arr, num):
    """Fill `arr` in place with `num` (a number or an array of the same shape) and return it."""
    arr[...] = num
    return arr


def _calculate_fan_in_and_fan_out(shape):
    """(fan_in, fan_out) of a weight: `shape` is (out, in) or (out, in, *kernel)."""
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, "
            f"but got the shape {tuple(shape)}."
        )
    receptive_field = math.prod(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field


def _calculate_in_and_out(arr):
    """(n_in, n_out) of the weight `arr`."""
    return _calculate_fan_in_and_fan_out(arr.shape)


def _calculate_correct_fan(shape, mode):
    modes = ("fan_in", "fan_out")
    if not isinstance(mode, str) or mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}.")
    return _calculate_fan_in_and_fan_out(shape)[modes.index(mode.lower())]


_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def _calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance of activations through `nonlinearity` (He et al., 2015)."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number.")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}, please use tanh, relu, leaky_relu or one of {_LINEAR}.")


def _truncated_normal(low, high, shape):
    """Standard normal values within [low, high]: what falls outside is drawn again."""
    out = np.random.standard_normal(shape)
    wrong = (out < low) | (out > high)
    while wrong.any():
        out[wrong] = np.random.standard_normal(int(wrong.sum()))
        wrong = (out < low) | (out > high)
    return out


class Initializer:
    """
    The base class of initializers: a subclass implements `_initialize(arr)`, which fills a numpy array in place.

    Args:
        kwargs (dict): The arguments of the initializer, kept for printing.

    Examples:
        >>> class Two(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[:] = 2
        >>> weight = initializer(Two(), [2, 3], mindspore.float32)
    """

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._seed = None

    @property
    def seed(self):
        """(seed, offset): the values that determine what `Normal` draws."""
        if self._seed is None:
            return get_seed(), _normal_draws
        return self._seed + 1, 0

    @seed.setter
    def seed(self, value):
        self._seed = value

    def _initialize(self, arr):
        raise NotImplementedError(f"{type(self).__name__} must implement _initialize(arr), which fills a numpy array.")

    def __call__(self, arr):
        return self._initialize(arr)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in self._kwargs.items())})"


@_register("zeros")
class Zero(Initializer):
    """Fill with zeros."""

    def _initialize(self, arr):
        _assignment(arr, 0)


@_register("ones")
class One(Initializer):
    """Fill with ones."""

    def _initialize(self, arr):
        _assignment(arr, 1)


class Constant(Initializer):
    """
    Fill with a constant.

    Args:
        value (Union[int, float, numpy.ndarray]): The value, or an array of the shape to be filled.
    """

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr):
        _assignment(arr, self.value)


@_register("xavier_uniform")
class XavierUniform(Initializer):
    r"""
    Fill with values of U(-b, b), :math:`b = gain \sqrt{6 / (n_{in} + n_{out})}` (Glorot and Bengio, 2010).

    Args:
        gain (float): A factor of the bound. Default: 1.
    """

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        bound = self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, np.random.uniform(-bound, bound, arr.shape))


@_register("xavier_normal")
class XavierNormal(Initializer):
    r"""
    Fill with values of N(0, s), :math:`s = gain \sqrt{2 / (n_{in} + n_{out})}` (Glorot and Bengio, 2010).

    Args:
        gain (float): A factor of the standard deviation. Default: 1.
    """

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        std = self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        _assignment(arr, np.random.normal(0, std, arr.shape))


class _He(Initializer):
    def __init__(self, negative_slope=0, mode="fan_in", nonlinearity="leaky_relu"):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = negative_slope
        self.mode = mode
        self.nonlinearity = nonlinearity

    def _std(self, shape):
        fan = _calculate_correct_fan(shape, self.mode)
        return _calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


@_register("he_uniform")
class HeUniform(_He):
    r"""
    Fill with values of U(-b, b), :math:`b = \sqrt{6 / ((1 + a^2) \, fan)}` for a leaky ReLU of
    slope `a` (He et al., 2015).

    Args:
        negative_slope (int, float): The slope `a`, used when `nonlinearity` is "leaky_relu". Default: 0.
        mode (str): "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity (str): The function that follows the layer. Default: "leaky_relu".
    """

    def _initialize(self, arr):
        bound = math.sqrt(3.0) * self._std(arr.shape)
        _assignment(arr, np.random.uniform(-bound, bound, arr.shape))


@_register("he_normal")
class HeNormal(_He):
    r"""
    Fill with values of N(0, s), :math:`s = \sqrt{2 / ((1 + a^2) \, fan)}` for a leaky ReLU of
    slope `a` (He et al., 2015).

    Args:
        negative_slope (int, float): The slope `a`, used when `nonlinearity` is "leaky_relu". Default: 0.
        mode (str): "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity (str): The function that follows the layer. Default: "leaky_relu".
    """

    def _initialize(self, arr):
        _assignment(arr, np.random.normal(0, self._std(arr.shape), arr.shape))


@_register()
class Uniform(Initializer):
    """
    Fill with values of U(-scale, scale).

    Args:
        scale (float): The bound. Default: 0.07.
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr):
        _assignment(arr, np.random.uniform(-self.scale, self.scale, arr.shape))


@_register()
class Normal(Initializer):
    """
    Fill with values of N(mean, sigma).

    Args:
        sigma (float): The standard deviation. Default: 0.01.
        mean (float): The mean. Default: 0.0.
    """

    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = sigma
        self.mean = mean

    def _initialize(self, arr):
        global _normal_draws
        seed, draw = self.seed
        if self._seed is None:
            _normal_draws += 1
        bits = np.random.Philox(None if seed is None else np.random.SeedSequence([seed, draw]))
        data = np.random.Generator(bits).standard_normal(arr.shape, dtype=np.float32)
        _assignment(arr, data * np.float32(self.sigma) + np.float32(self.mean))


@_register()
class TruncatedNormal(Initializer):
    """
    Fill with values of N(mean, sigma) that lie within `a` to `b` standard deviations.

    Args:
        sigma (float): The standard deviation before truncation. Default: 0.01.
        mean (float): The mean. Default: 0.0.
        a (float): The lower bound in standard deviations. Default: -2.0.
        b (float): The upper bound in standard deviations. Default: 2.0.
    """

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma = sigma
        self.mean = mean
        self.a = a
        self.b = b

    def _initialize(self, arr):
        _assignment(arr, _truncated_normal(self.a, self.b, arr.shape) * self.sigma + self.mean)


@_register("variance_scaling")
class VarianceScaling(Initializer):
    r"""
    Fill with values of variance :math:`scale / n`, where `n` is the fan that `mode` names.

    Args:
        scale (float): The factor of the variance. Default: 1.0.
        mode (str): "fan_in", "fan_out" or "fan_avg". Default: "fan_in".
        distribution (str): "untruncated_normal", "truncated_normal" or "uniform". Default: "truncated_normal".
    """

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0.0:
            raise ValueError(f"For 'VarianceScaling', 'scale' must be greater than 0.0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"For 'VarianceScaling', 'mode' must be fan_in, fan_out or fan_avg, but got {mode}.")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "For 'VarianceScaling', 'distribution' must be uniform, truncated_normal or untruncated_normal, "
                f"but got {distribution}."
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def _initialize(self, arr):
        fan_in, fan_out = _calculate_fan_in_and_fan_out(arr.shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        std = math.sqrt(self.scale / max(1.0, fan))
        if self.distribution == "truncated_normal":
            # 0.8796... is the standard deviation of a standard normal cut at +-2.
            data = _truncated_normal(-2, 2, arr.shape) * (std / 0.87962566103423978)
        elif self.distribution == "untruncated_normal":
            data = np.random.normal(0, std, arr.shape)
        else:
            data = np.random.uniform(-math.sqrt(3) * std, math.sqrt(3) * std, arr.shape)
        _assignment(arr, data)


@_register()
class Orthogonal(Initializer):
    """
    Fill with a matrix (leading axis by the others) whose rows or columns are orthonormal, times `gain`.

    Args:
        gain (float): The factor. Default: 1.0.
    """

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        if arr.ndim < 2:
            raise ValueError(f"For 'Orthogonal', the tensor must have at least 2 dimensions, but got {arr.ndim}.")
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        q, r = np.linalg.qr(np.random.normal(0, 1, (max(rows, columns), min(rows, columns))))
        q *= np.sign(np.diag(r))
        _assignment(arr, self.gain * (q.T if rows < columns else q).reshape(arr.shape))


@_register()
class Sparse(Initializer):
    """
    Fill a matrix with N(0, sigma), then set a fraction of each column to zero.

    Args:
        sparsity (float): The fraction of zeros in each column.
        sigma (float): The standard deviation. Default: 0.01.
    """

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity = sparsity
        self.sigma = sigma

    def _initialize(self, arr):
        if arr.ndim != 2:
            raise ValueError(f"For 'Sparse', the tensor must have 2 dimensions, but got {arr.ndim}.")
        data = np.random.normal(0, self.sigma, arr.shape)
        zeros = math.ceil(self.sparsity * arr.shape[0])
        for column in range(arr.shape[1]):
            data[np.random.permutation(arr.shape[0])[:zeros], column] = 0
        _assignment(arr, data)


@_register()
class Dirac(Initializer):
    """
    Fill a convolution weight so that it passes each input channel through.

    Args:
        groups (int): The number of groups of output channels. Default: 1.
    """

    def __init__(self, groups=1):
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr):
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"For 'Dirac', the tensor must have 3, 4 or 5 dimensions, but got {arr.ndim}.")
        if arr.shape[0] % self.groups:
            raise ValueError(f"For 'Dirac', the first axis {arr.shape[0]} must be a multiple of groups {self.groups}.")
        arr[...] = 0
        centre = tuple(size // 2 for size in arr.shape[2:])
        per_group = arr.shape[0] // self.groups
        for group in range(self.groups):
            for channel in range(min(per_group, arr.shape[1])):
                arr[(group * per_group + channel, channel, *centre)] = 1


@_register()
class Identity(Initializer):
    """Fill a matrix with ones on its main diagonal and zeros elsewhere."""

    def _initialize(self, arr):
        if arr.ndim != 2:
            raise ValueError(f"For 'Identity', the tensor must have 2 dimensions, but got {arr.ndim}.")
        _assignment(arr, np.eye(*arr.shape))


def _checked_shape(shape):
    shape = (shape,) if isinstance(shape, numbers.Number) else tuple(shape)
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size <= 0:
            raise ValueError(f"shape is invalid, shape value must be positive integer, but got shape {shape}.")
    return tuple(int(size) for size in shape)


def initializer(init, shape=None, dtype=mstype.float32):
    """
    Create and initialize a tensor.

    Args:
        init (Union[Tensor, str, Initializer, numbers.Number]): A Tensor (returned as it is), the name of an
            initializer ("normal", "zeros", "XavierUniform", ...), an Initializer, or a number to fill with.
        shape (Union[tuple, list, int]): The shape of the result. Default: None.
        dtype (:class:`mindspore.dtype`): The type of the result. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `init` is none of the above.
        ValueError: If `shape` is not of positive integers, is not that of the Tensor `init`, or the name is unknown.

    Examples:
        >>> tensor = initializer('ones', [1, 2, 3], mindspore.float32)
        >>> tensor = initializer(One(), [1, 2, 3], mindspore.float32)
        >>> tensor = initializer(0, [1, 2, 3], mindspore.float32)
    """
    if hasattr(init, "asnumpy"):
        if shape is not None:
            expected = (shape,) if isinstance(shape, numbers.Number) else tuple(shape)
            if tuple(init.shape) != expected:
                raise ValueError(
                    "The shape of init should be same as variable shape, but got the shape of init "
                    f"{list(init.shape)} and the variable shape {list(expected)}."
                )
        return init
    if isinstance(init, str):
        if init.lower() not in _INITIALIZER_ALIAS:
            raise ValueError(f"The initializer '{init}' is unknown, please use one of {sorted(_INITIALIZER_ALIAS)}.")
        init = _INITIALIZER_ALIAS[init.lower()]()
    elif isinstance(init, numbers.Number):
        init = Constant(init)
    elif not isinstance(init, Initializer):
        raise TypeError(
            f"Unsupported init type '{type(init)}', please use a Tensor, a str, an Initializer or a number."
        )
    if shape is None:
        shape = getattr(init, "shape", None)
        if shape is None:
            raise ValueError(f"The shape of the tensor must be given to initialize it with {init!r}.")
    arr = np.zeros(_checked_shape(shape), dtype=np_dtype(dtype))
    init(arr)
    return _box(arr)
