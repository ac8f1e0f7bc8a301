"""Initial values of Parameters: each `Initializer` fills a numpy array; `initializer` returns the Tensor.

Random initializers draw from `numpy.random`, which `set_seed` seeds. `Normal` has a separate stream, which restarts at
each `set_seed`.
"""

import contextlib
import math
import numbers
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.checks.numbers import check_finite
from msnb.common.deferred_init import Unfilled
from msnb.common.dtype import np_dtype
from msnb.common.missing import asked
from msnb.common.seed import get_seed, on_seed

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.tensor.tensor import Tensor

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
_thread_state = threading.local()


def register_boxer(boxer: Callable[[Any], Any]) -> None:
    """Set the function that converts a numpy array to a Tensor. The package `core` calls this, as `common` must not
    import it."""
    global _box
    _box = boxer


@on_seed
def _reset_normal_draw_count(_seed):
    global _normal_draws
    _normal_draws = 0


@contextlib.contextmanager
def rehearsing() -> Iterator[None]:
    """Return a context in which, on this thread, `initializer` leaves its Tensors empty and consumes no random
    numbers."""
    global _normal_draws
    before, _thread_state.rehearsing = _normal_draws, True
    try:
        yield
    finally:
        _normal_draws, _thread_state.rehearsing = before, False


@contextlib.contextmanager
def delaying() -> Iterator[None]:
    """Return a context in which, on this thread, the Tensors of `initializer` are filled on first access."""
    before, _thread_state.delaying = getattr(_thread_state, "delaying", False), True
    try:
        yield
    finally:
        _thread_state.delaying = before


def _register(*aliases):
    def register(cls):
        for name in (cls.__name__.lower(), *aliases):
            _INITIALIZER_ALIAS.setdefault(name, cls)
        return cls

    return register


def _assignment(arr, num):  # networks import this helper for their own initializers
    """Fill `arr` in place with `num` (a number or an array of the same shape) and return it."""
    arr[...] = num
    return arr


def _calculate_fan_in_and_fan_out(shape):
    """Return (fan_in, fan_out) of a weight: `shape` is (out, in) or (out, in, *kernel)."""
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, "
            f"but got the shape {tuple(shape)}."
        )
    receptive_field = math.prod(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field


def _calculate_in_and_out(arr):
    """Return (n_in, n_out) of the weight `arr`."""
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
    """Return the factor that keeps the variance of activations through `nonlinearity` (He et al., 2015)."""
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


def _draw_uniform(bound, shape):
    return np.random.uniform(-bound, bound, shape)


def _draw_normal(std, shape):
    return np.random.normal(0, std, shape)


def _draw_truncated_normal(low, high, shape):
    """Return standard normal values within [low, high]: values outside are drawn again."""
    out = np.random.standard_normal(shape)
    wrong = (out < low) | (out > high)
    while wrong.any():
        out[wrong] = np.random.standard_normal(int(wrong.sum()))
        wrong = (out < low) | (out > high)
    return out


def _init_random_uniform(a, b, shape):
    """Return a float32 NumPy array of uniform random values in [a, b)."""
    return np.random.uniform(a, b, shape).astype(np.float32)


def _init_random_normal(mean, sigma, shape):
    """Return a float32 NumPy array of normal random values."""
    return np.random.normal(mean, sigma, shape).astype(np.float32)


def _init_truncated_normal(a, b, mean, sigma, shape):
    """Return a float32 NumPy array of normal random values, drawn again outside [a, b] standard deviations."""
    return (mean + sigma * _draw_truncated_normal(a, b, shape)).astype(np.float32)


class Initializer:
    """
    The base class of initializers: a subclass implements `_initialize(arr)`, which fills a numpy array in place.

    Args:
        kwargs (dict): The arguments of the initializer, for `repr`.

    Examples:
        >>> class Two(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[:] = 2
        >>> weight = initializer(Two(), [2, 3], mindspore.float32)
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._seed = None

    @property
    def seed(self) -> Any:
        """Return (seed, offset), which determine the values of `Normal`."""
        return (get_seed(), _normal_draws) if self._seed is None else (self._seed + 1, 0)

    @seed.setter
    def seed(self, value: Any) -> None:
        self._seed = value

    def _initialize(self, arr):
        raise NotImplementedError(f"{type(self).__name__} must implement _initialize(arr), which fills a numpy array.")

    def __call__(self, arr: np.ndarray) -> Any:
        return self._initialize(arr)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in self._kwargs.items())})"


class _Formula(Initializer):
    """Base class of initializers that return an array: a subclass implements `_values(shape)`.

    The arguments become attributes; they are finite numbers or names.
    """

    rank = None  # numbers of axes that the formula is defined for

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        for name, value in arguments.items():
            setattr(self, name, check_finite(value, name, type(self).__name__))

    def _initialize(self, arr):
        if self.rank is not None and arr.ndim not in self.rank:
            expected = ", ".join(map(str, self.rank)) if len(self.rank) < 9 else f"at least {self.rank[0]}"
            raise ValueError(
                f"For '{type(self).__name__}', the tensor must have {expected} dimensions, but got {arr.ndim}."
            )
        arr[...] = self._values(arr.shape)

    def _values(self, shape):
        raise NotImplementedError


@_register("zeros")
class Zero(_Formula):
    """Fill with zeros."""

    def _values(self, shape):
        return 0


@_register("ones")
class One(_Formula):
    """Fill with ones."""

    def _values(self, shape):
        return 1


class Constant(Initializer):
    """
    Fill with a constant.

    Args:
        value (Union[int, float, numpy.ndarray]): The value, or an array of the shape of the target.
    """

    @answered
    def __init__(self, value: float | np.ndarray) -> None:
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr):
        arr[...] = self.value


@_register("xavier_uniform")
class XavierUniform(_Formula):
    r"""
    Fill with uniform random values U(-b, b), :math:`b = gain \sqrt{6 / (n_{in} + n_{out})}` (Glorot and Bengio, 2010).

    Args:
        gain (float): A factor of the bound. Default: 1.
    """

    gain: float

    @answered
    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)

    def _values(self, shape):
        return _draw_uniform(self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(shape))), shape)


@_register("xavier_normal")
class XavierNormal(_Formula):
    r"""
    Fill with normal random values N(0, s), :math:`s = gain \sqrt{2 / (n_{in} + n_{out})}` (Glorot and Bengio, 2010).

    Args:
        gain (float): A factor of the standard deviation. Default: 1.
    """

    gain: float

    @answered
    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)

    def _values(self, shape):
        return _draw_normal(self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(shape))), shape)


class _He(_Formula):
    negative_slope: float
    mode: str
    nonlinearity: str

    @answered
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)

    def _compute_deviation(self, shape):
        fan = _calculate_correct_fan(shape, self.mode)
        return _calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


@_register("he_uniform")
class HeUniform(_He):
    r"""
    Fill with uniform random values U(-b, b), :math:`b = \sqrt{6 / ((1 + a^2) \, fan)}` for a leaky ReLU of slope `a`
    (He et al., 2015).

    Args:
        negative_slope (int, float): The slope `a`, used when `nonlinearity` is "leaky_relu". Default: 0.
        mode (str): "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity (str): The function that follows the layer. Default: "leaky_relu".
    """

    def _values(self, shape):
        return _draw_uniform(math.sqrt(3.0) * self._compute_deviation(shape), shape)


@_register("he_normal")
class HeNormal(_He):
    r"""
    Fill with normal random values N(0, s), :math:`s = \sqrt{2 / ((1 + a^2) \, fan)}` for a leaky ReLU of slope `a` (He
    et al., 2015).

    Args:
        negative_slope (int, float): The slope `a`, used when `nonlinearity` is "leaky_relu". Default: 0.
        mode (str): "fan_in" or "fan_out". Default: "fan_in".
        nonlinearity (str): The function that follows the layer. Default: "leaky_relu".
    """

    def _values(self, shape):
        return _draw_normal(self._compute_deviation(shape), shape)


@_register()
class Uniform(_Formula):
    """
    Fill with uniform random values in (-scale, scale).

    Args:
        scale (float): The bound. Default: 0.07.
    """

    scale: float

    @answered
    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)

    def _values(self, shape):
        return _draw_uniform(self.scale, shape)


@_register()
class Normal(_Formula):
    """
    Fill with normal random values N(mean, sigma).

    Args:
        sigma (float): The standard deviation. Default: 0.01.
        mean (float): The mean. Default: 0.0.
    """

    sigma: float
    mean: float

    @answered
    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)

    def _values(self, shape):
        global _normal_draws
        seed, draw = self.seed
        if self._seed is None:
            _normal_draws += 1
        bits = np.random.Philox(None if seed is None else np.random.SeedSequence([seed, draw]))
        standard = np.random.Generator(bits).standard_normal(shape, dtype=np.float32)
        return standard * np.float32(self.sigma) + np.float32(self.mean)


@_register()
class TruncatedNormal(_Formula):
    """
    Fill with normal random values N(mean, sigma), truncated to mean + a * sigma and mean + b * sigma.

    Args:
        sigma (float): The standard deviation before truncation. Default: 0.01.
        mean (float): The mean. Default: 0.0.
        a (float): The lower bound in standard deviations. Default: -2.0.
        b (float): The upper bound in standard deviations, greater than `a`. Default: 2.0.

    Raises:
        ValueError: If `b` is not greater than `a`.
    """

    sigma: float
    mean: float
    a: float
    b: float

    @answered
    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        if b <= a:  # the interval is empty
            raise ValueError(f"For 'TruncatedNormal', 'b' must be greater than 'a', but got a={a} and b={b}.")

    def _values(self, shape):
        return self.mean + self.sigma * _draw_truncated_normal(self.a, self.b, shape)


_FANS = {"fan_in": (1, 0), "fan_out": (0, 1), "fan_avg": (0.5, 0.5)}  # weights of fan_in and fan_out
_DISTRIBUTIONS = {
    "uniform": lambda std, shape: _draw_uniform(math.sqrt(3) * std, shape),
    # 0.8796... is the standard deviation of a standard normal cut at +-2.
    "truncated_normal": lambda std, shape: _draw_truncated_normal(-2, 2, shape) * (std / 0.87962566103423978),
    "untruncated_normal": lambda std, shape: _draw_normal(std, shape),
}


@_register("variance_scaling")
class VarianceScaling(_Formula):
    r"""
    Fill with random values of variance :math:`scale / n`, where n is the number of inputs or outputs that `mode`
    selects.

    Args:
        scale (float): The factor of the variance. Default: 1.0.
        mode (str): "fan_in", "fan_out" or "fan_avg". Default: "fan_in".
        distribution (str): "untruncated_normal", "truncated_normal" or "uniform". Default: "truncated_normal".

    Raises:
        ValueError: If `scale` is not positive, or one of the names is unknown.
    """

    scale: float
    mode: str
    distribution: str

    @answered
    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if not scale > 0:
            raise ValueError(f"For 'VarianceScaling', 'scale' must be greater than 0.0, but got {scale}.")
        for name, value, allowed in (("mode", mode, _FANS), ("distribution", distribution, _DISTRIBUTIONS)):
            if value not in allowed:
                raise ValueError(
                    f"For 'VarianceScaling', '{name}' must be one of {', '.join(allowed)}, but got {value}."
                )

    def _values(self, shape):
        fan = sum(w * n for w, n in zip(_FANS[self.mode], _calculate_fan_in_and_fan_out(shape), strict=True))
        return _DISTRIBUTIONS[self.distribution](math.sqrt(self.scale / max(1.0, fan)), shape)


@_register()
class Orthogonal(_Formula):
    """
    Fill with `gain` times a random matrix with orthonormal rows or columns. Its rows are along axis 0; the other axes
    are flattened to one axis of columns.

    Args:
        gain (float): The factor. Default: 1.0.
    """

    gain: float
    rank: range = range(2, 33)

    @answered
    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)

    def _values(self, shape):
        size = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(_draw_normal(1, (max(size), min(size))))
        q *= np.sign(np.diag(r))  # makes all orthogonal matrices equally likely
        return self.gain * (q if size[0] >= size[1] else q.T).reshape(shape)


@_register()
class Sparse(_Formula):
    """
    Fill a matrix with normal random values N(0, sigma), then set a fraction of each column to zero.

    Args:
        sparsity (float): The fraction of zeros in each column.
        sigma (float): The standard deviation. Default: 0.01.
    """

    sparsity: float
    sigma: float
    rank: tuple[int, ...] = (2,)

    @answered
    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)

    def _values(self, shape):
        rows, columns = shape
        matrix = _draw_normal(self.sigma, shape)
        for column in range(columns):
            matrix[np.random.permutation(rows)[: math.ceil(self.sparsity * rows)], column] = 0
        return matrix


@_register()
class Dirac(_Formula):
    """
    Fill a convolution weight so that output channel i of each group is a copy of input channel i.

    Args:
        groups (int): The number of groups of output channels. Default: 1.
    """

    groups: int
    rank: tuple[int, ...] = (3, 4, 5)

    @answered
    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)

    def _values(self, shape):
        outputs, inputs, *kernel = shape
        if outputs % self.groups:
            raise ValueError(f"For 'Dirac', the first axis {outputs} must be a multiple of groups {self.groups}.")
        weight = np.zeros(shape)
        passed = np.arange(min(outputs // self.groups, inputs))
        for first in range(0, outputs, outputs // self.groups):
            weight[(first + passed, passed, *(size // 2 for size in kernel))] = 1
        return weight


@_register()
class Identity(_Formula):
    """Fill a matrix with ones on its main diagonal and zeros elsewhere."""

    rank: tuple[int, ...] = (2,)

    def _values(self, shape):
        return np.eye(*shape)


def _check_shape(shape):
    shape = (shape,) if isinstance(shape, numbers.Number) else tuple(shape)
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size <= 0:
            raise ValueError(f"shape is invalid, shape value must be positive integer, but got shape {shape}.")
    return tuple(int(size) for size in shape)


def initializer(init: Any, shape: int | Sequence[int] | None = None, dtype: Any = mstype.float32) -> "Tensor":
    """
    Return a Tensor filled by an initializer.

    Args:
        init (Union[Tensor, str, Initializer, numbers.Number]): An Initializer or the name of one ("normal", "zeros",
            "XavierUniform", ...); a number to fill with; or a Tensor, which is returned unchanged.
        shape (Union[tuple, list, int]): Shape of the Tensor. Default: None, the attribute `shape` of the Initializer.
        dtype (:class:`mindspore.dtype`): Type of the elements. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `init` is none of the above.
        ValueError: If a size is not a positive integer, `init` is a Tensor of another shape, or the name is unknown.

    Examples:
        >>> weight = initializer("ones", (2, 3))
        >>> bias = initializer(Normal(0.1), 4, mindspore.float16)
        >>> print(initializer(0.5, [2]))
        [0.5 0.5]
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
    if getattr(_thread_state, "delaying", False) and not getattr(_thread_state, "rehearsing", False):
        return _box(Unfilled(_check_shape(shape), np.dtype(np_dtype(dtype)), init))
    arr = np.zeros(_check_shape(shape), dtype=np_dtype(dtype))
    if not getattr(_thread_state, "rehearsing", False):
        init(arr)
    return _box(arr)


def __getattr__(name: str) -> Any:
    if name == "Tensor":  # some programs import Tensor from here
        return sys.modules["msnb"].Tensor
    return asked(__name__, name)
