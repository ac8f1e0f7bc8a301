"""`Distribution`: base class of distributions. It derives methods that a subclass does not define from those that it
defines."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core import script
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.probability._parameters import (
    CheckTensor,
    NumberType,
    Seed,
    as_type,
    cast_to_tensor,
    set_param_type,
)
from msnb.ops import functional as F
from msnb.ops.array.broadcast import _BroadcastTensors
from msnb.ops.math.exponential import _LogOneMinusExp
from msnb.ops.random.uniform import UniformReal

_thread = trace_state.thread
_METHODS = frozenset(
    "log_prob prob cdf log_cdf survival_function log_survival kl_loss mean mode sd var entropy cross_entropy sample "
    "get_dist_args get_dist_type".split()
)
_check_tensor = CheckTensor()
_SMALLEST = 2.0**-24  # half the distance between neighbouring results of UniformReal


def _compute_complement(p):
    return 1.0 - p


def _compute_log_complement(p):
    return F.log1p(-p)


def _compute_one_minus_exp(log_p):
    return -F.expm1(log_p)


class Distribution(Cell):
    r"""
    Base class of distributions.

    A subclass defines `_prob` or `_log_prob`, and any of `_cdf`, `_log_cdf`, `_survival_function`,
    `_log_survival`, `_mean`, `_mode`, `_sd` or `_var`, `_entropy`, `_kl_loss`, `_cross_entropy` and `_sample`:
    functions of a value (`_prob` to `_log_survival`) and of the parameters of the distribution. Other methods are
    derived where possible.

    Args:
        seed (int): Seed of the random numbers, not negative; None is 0.
        dtype (mindspore.dtype): Type of the samples.
        name (str): A name.
        param (dict): The constructor arguments; "param_dict" has the parameters of the distribution.

    Raises:
        TypeError: If an argument has the wrong type, or two parameters differ in element type.
        ValueError: If `seed` is negative, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes the parameters of the distribution after its own arguments, by position or by name: Tensors
        that replace those of the constructor in that call. A parameter that is None in the constructor is required.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> class Triangle(msd.Distribution):
        ...     def __init__(self, seed=None, dtype=mindspore.float32, name="Triangle"):
        ...         super().__init__(seed, dtype, name, {"param_dict": {}})
        ...     def _cdf(self, value):
        ...         return value * value
        >>> print(Triangle().survival_function(Tensor([0.5], mindspore.float32)))
        [0.75]
    """

    _words: ClassVar[dict[str, str]] = {}  # parameter -> its label in `repr`

    @checked
    def __init__(self, seed: Seed, dtype: NumberType, name: Str, param: dict[str, Any]) -> None:
        super().__init__()
        self._name = name
        self._seed: int = seed or 0
        self._dtype = dtype
        self._parameters: dict[str, Any] = {k: v for k, v in param.items() if k != "self" and not k.startswith("_")}
        self._reset_parameters()
        if "distribution" not in self._parameters:
            self._set_dtype_and_shapes(self._parameters.get("param_dict", {}))

    def _set_dtype_and_shapes(self, parameters):
        """Set the attributes for dtype and shapes from the dict `parameters`."""
        self.parameter_type: mstype.Type = set_param_type(parameters, self._dtype)
        self._is_scalar_batch: bool = all(v is None or isinstance(v, (int, float)) for v in parameters.values())
        self._batch_shape: tuple[int, ...] | None = None
        if not any(v is None for v in parameters.values()):
            self._batch_shape = self._compute_common_shape(*(np.shape(v) for v in parameters.values()))
        self._broadcast_shape = self._batch_shape

    def _compute_common_shape(self, *shapes):
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(
                f"For '{self.cls_name}', the shapes of the parameters should broadcast, "
                f"but got {' and '.join(map(str, shapes))}."
            ) from None

    # ------------------------------------------------------------------ constructor arguments
    @property
    def name(self) -> str:
        """Name of the distribution."""
        return self._name

    @property
    def dtype(self) -> mstype.Type:
        """Type of the samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """Seed of the random numbers."""
        return self._seed

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor arguments."""
        return self._parameters

    @property
    def is_scalar_batch(self) -> bool:
        """True if the parameters are scalars."""
        return self._is_scalar_batch

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The broadcast shape of the parameters; None if one is missing in the constructor."""
        return self._batch_shape

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of one sample; None if a parameter is missing in the constructor."""
        return self._broadcast_shape

    @property
    def _value_cast_dtype(self):
        """Return the dtype to which values are cast."""
        return self._dtype if self._dtype in mstype.float_type else self.parameter_type

    # ------------------------------------------------------------------ parameters, for subclasses
    def _reset_parameters(self):
        self.default_parameters: list[Tensor | None] = []
        self.parameter_names: list[str] = []

    def _add_parameter(self, value, name):
        """Register a parameter of the constructor and return it as a Tensor, or None. Calls without this parameter use
        it."""
        tensor = None if value is None else cast_to_tensor(value, self.parameter_type)
        self.default_parameters.append(tensor)
        self.parameter_names.append(name)
        return tensor

    def _parameter(self, value, name, default):
        if value is None:
            if default is None:
                raise TypeError(
                    f"For '{self.cls_name}', '{name}' should be a Tensor given in this call: "
                    f"the constructor was not given it."
                )
            value = default
        return as_type(_check_tensor(value, name), self.parameter_type)

    def _all_parameters(self, *args):
        """Return all parameters of a call, broadcast to one shape. Where `args` has None, the parameter of the
        constructor is used."""
        entries = zip(args, self.parameter_names, self.default_parameters, strict=True)
        parameters = [self._parameter(*one) for one in entries]
        if len({x.shape for x in parameters}) < 2:
            return tuple(parameters)
        self._compute_common_shape(*(x.shape for x in parameters))
        return _BroadcastTensors.functional(tuple(parameters))

    def _check_param_type(self, *args):
        """Return the result of `_all_parameters`, or its only element."""
        parameters = self._all_parameters(*args)
        return parameters[0] if len(parameters) == 1 else parameters

    def _check_value(self, value, name):
        return _check_tensor(value, name)

    def _get_sample_shape(self, *parameters):
        """Return the shape of one sample for the parameters of a call."""
        return parameters[0].shape

    def _draw_uniform(self, shape):
        """Draw uniformly distributed numbers from the open interval (0, 1)."""
        return F.maximum(UniformReal.functional(shape, seed=self._seed), _SMALLEST)

    # ------------------------------------------------------------------ derived methods
    def _call_first_defined(self, method_name, ways, args, kwargs):
        """Return the result of the first method in `ways` that the class defines, converted by the function in
        `ways`."""
        for name, then in ways.items():
            method = getattr(self, name, None)
            if method is not None:
                if _thread.frame is not None:
                    method = script.call(method)  # a user's method may branch on Tensors
                result = method(*args, **kwargs)
                return result if then is None else then(result)
        raise NotImplementedError(f"{method_name} is not implemented for the distribution '{self._name}'.")

    def prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """
        Return the density, or the probability of a value of a discrete distribution.

        Args:
            value (Tensor): Points at which the distribution is evaluated.
            args (Tensor): Parameters of the distribution.
            kwargs (Tensor): Parameters of the distribution.

        Returns:
            Tensor.
        """
        return self._call_first_defined("prob", {"_prob": None, "_log_prob": F.exp}, (value, *args), kwargs)

    def log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of `prob`, which has the same arguments."""
        return self._call_first_defined("log_prob", {"_log_prob": None, "_prob": F.log}, (value, *args), kwargs)

    def cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability that a sample is at most `value`. See `prob` for the arguments."""
        ways = {
            "_cdf": None,
            "_log_cdf": F.exp,
            "_survival_function": _compute_complement,
            "_log_survival": _compute_one_minus_exp,
        }
        return self._call_first_defined("cdf", ways, (value, *args), kwargs)

    def log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of `cdf`, which has the same arguments."""
        ways = {
            "_log_cdf": None,
            "_cdf": F.log,
            "_survival_function": _compute_log_complement,
            "_log_survival": _LogOneMinusExp.functional,
        }
        return self._call_first_defined("log_cdf", ways, (value, *args), kwargs)

    def survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability that a sample is greater than `value`. See `prob` for the arguments."""
        ways = {
            "_survival_function": None,
            "_log_survival": F.exp,
            "_cdf": _compute_complement,
            "_log_cdf": _compute_one_minus_exp,
        }
        return self._call_first_defined("survival_function", ways, (value, *args), kwargs)

    def log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of `survival_function`, which has the same arguments."""
        ways = {
            "_log_survival": None,
            "_survival_function": F.log,
            "_cdf": _compute_log_complement,
            "_log_cdf": _LogOneMinusExp.functional,
        }
        return self._call_first_defined("log_survival", ways, (value, *args), kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """
        Return the mean.

        Args:
            args (Tensor): Parameters of the distribution.
            kwargs (Tensor): Parameters of the distribution.

        Returns:
            Tensor.
        """
        return self._call_first_defined("mean", {"_mean": None}, args, kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the most probable value. See `mean` for the arguments."""
        return self._call_first_defined("mode", {"_mode": None}, args, kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the standard deviation. See `mean` for the arguments."""
        return self._call_first_defined("sd", {"_sd": None, "_var": F.sqrt}, args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the variance. See `mean` for the arguments."""
        return self._call_first_defined("var", {"_var": None, "_sd": F.square}, args, kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the entropy, in natural logarithms. See `mean` for the arguments."""
        return self._call_first_defined("entropy", {"_entropy": None}, args, kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """
        Return the Kullback-Leibler divergence KL(a||b), where a is this distribution.

        Args:
            dist (str): Name of the family of b, which must be that of a.
            args (Tensor): All parameters of b, followed by those of a.
            kwargs (Tensor): Parameters of b and of a.

        Returns:
            Tensor.
        """
        return self._call_first_defined("kl_loss", {"_kl_loss": None}, (dist, *args), kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """Return the cross entropy H(a, b) = H(a) + KL(a||b), where a is this distribution. See `kl_loss` for the
        arguments."""
        return self._call_first_defined("cross_entropy", {"_cross_entropy": None}, (dist, *args), kwargs)

    def sample(self, *args: Any, **kwargs: Any) -> Tensor:
        """
        Draw random numbers from this distribution.

        Args:
            args: The shape of the sample, a tuple, () by default; and Parameters of the distribution.
            kwargs: The same arguments by name: `shape`, and Parameters of the distribution.

        Returns:
            Tensor of element type `dtype`, of shape (shape of the sample + shape of the parameters).
        """
        return self._call_first_defined("sample", {"_sample": None}, args, kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Tensor | None, ...]:
        """
        Return the parameters of the distribution, as `kl_loss` and other methods take them.

        Args:
            args (Tensor): Parameters of the distribution, which are returned.
            kwargs (Tensor): Parameters of the distribution, which are returned.

        Returns:
            tuple[Tensor]. Missing parameters are replaced by those of the constructor.
        """
        return self._call_first_defined("get_dist_args", {"_get_dist_args": None}, args, kwargs)

    def _get_dist_args(self, *args, **kwargs):
        bound = inspect.Signature(
            [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for n in self.parameter_names]
        ).bind(*args, **kwargs)
        bound.apply_defaults()
        pairs = zip(bound.arguments.items(), self.default_parameters, strict=True)
        return tuple(default if x is None else _check_tensor(x, name) for (name, x), default in pairs)

    def get_dist_type(self) -> str:
        """Return the name of the family, such as "Normal"."""
        return self._call_first_defined("get_dist_type", {"_get_dist_type": None}, (), {})

    def _get_dist_type(self):
        return self.cls_name

    # ------------------------------------------------------------------ as a Cell
    def _bind_keywords_to_positions(self, args, kwargs):
        """Convert keyword arguments to positional arguments, since a graph takes no keywords."""
        bound = inspect.signature(getattr(self, f"_{args[0]}", getattr(self, args[0], None))).bind(*args[1:], **kwargs)
        bound.apply_defaults()
        return (args[0], *bound.args), bound.kwargs

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """
        Call a method by its name: ``dist("log_prob", value)`` is ``dist.log_prob(value)``.

        Raises:
            NotImplementedError: If there is no such method.
        """
        if name not in _METHODS:
            raise NotImplementedError(f"{name} is not implemented for the distribution '{self._name}'.")
        if name == "get_dist_type":
            return self.get_dist_type()  # arguments are ignored
        method: Callable[..., Any] = getattr(self, name)
        return method(*args, **kwargs)

    def extend_repr(self) -> str:
        """Return a text with the parameters if they are numbers, or with their shape otherwise."""
        if not self._words:
            return ""
        if not self._is_scalar_batch:
            return f"batch_shape = {self._broadcast_shape}"
        parameters = zip(self._words.values(), self.default_parameters, strict=True)
        return ", ".join(f"{word} = {value}" for word, value in parameters)
