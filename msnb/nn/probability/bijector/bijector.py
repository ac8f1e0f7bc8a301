"""`Bijector`: base class of invertible functions that transform distributions."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Str, checked
from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.probability._parameters import CheckTensor, FloatType, as_type

__all__ = ["Bijector"]

_thread = trace_state.thread
_METHODS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")
_check_tensor = CheckTensor()


class Bijector(Cell):
    """
    Base class of bijectors: a function g with its inverse and the logarithms of the derivatives of both.
    `TransformedDistribution` gives the distribution of g(X) for a distribution of X.

    A subclass defines `_forward`, `_inverse`, `_forward_log_jacobian` and `_inverse_log_jacobian`: functions of a
    Tensor.

    Args:
        is_constant_jacobian (bool): Whether the derivative is the same everywhere. Default: False.
        is_injective (bool): Whether g maps different values to different images. Default: True.
        name (str): Name of the bijector. It is required: the default None raises TypeError.
        dtype (mindspore.dtype): The required dtype of parameters and values. Default: None, any floating point dtype;
            parameters are then cast to the dtype of the value.
        param (dict): The constructor arguments; "param_dict" has the parameters of the bijector. Default: None.

    Raises:
        TypeError: If an argument has the wrong type, a parameter does not hold floating point numbers, or two
            parameters differ in element type.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> class Cube(msb.Bijector):
        ...     def __init__(self):
        ...         super().__init__(name="Cube", param={})
        ...     def _forward(self, x):
        ...         return x ** 3
        >>> print(Cube().forward(Tensor([2.0], mindspore.float32)))
        [8.]
    """

    _words: ClassVar[dict[str, str]] = {}  # parameter -> its label in `repr`
    _transformed: ClassVar[Callable[..., Any] | None] = None  # TransformedDistribution, which registers itself

    @checked
    def __init__(
        self,
        is_constant_jacobian: Bool = False,
        is_injective: Bool = True,
        name: Str = None,  # pyright: ignore[reportArgumentType] - MindSpore's default, which its own check refuses
        dtype: FloatType | None = None,
        param: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if name is None:
            raise TypeError(f"For '{self.cls_name}', 'name' should be a string, but got None.")
        self._name = name
        self._dtype = dtype
        parameters = {k: v for k, v in (param or {}).items() if k not in ("self", "param") and not k.startswith("_")}
        self._parameters: dict[str, Any] = parameters
        self._is_constant_jacobian = is_constant_jacobian
        self._is_injective = is_injective
        self.default_parameters: list[Tensor] = []
        self.parameter_names: list[str] = []
        self.common_dtype: mstype.Type | None = None
        numbers = parameters.get("param_dict")
        self._batch_shape: tuple[int, ...] | None = None
        self._is_scalar_batch: bool = False
        if numbers is not None:
            self._is_scalar_batch = all(v is None or isinstance(v, (int, float)) for v in numbers.values())
            if not any(v is None for v in numbers.values()):
                self._batch_shape = np.broadcast_shapes(*(np.shape(v) for v in numbers.values()))

    # ------------------------------------------------------------------ constructor arguments
    @property
    def name(self) -> str:
        """Name of the bijector."""
        return self._name

    @property
    def dtype(self) -> mstype.Type | None:
        """The required dtype of values; None for any."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor arguments."""
        return self._parameters

    @property
    def is_constant_jacobian(self) -> bool:
        """True if the derivative of g is constant."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """True if g maps different values to different images."""
        return self._is_injective

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The broadcast shape of the parameters; None if the bijector has no parameters, or one is missing."""
        return self._batch_shape

    @property
    def is_scalar_batch(self) -> bool:
        """True if the parameters are scalars."""
        return self._is_scalar_batch

    @property
    def _is_decreasing(self):
        """Return a bool Tensor that is True where the function decreases, or None if it increases everywhere."""
        return None

    def shape_mapping(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the result of `forward` for a Tensor of shape `shape` (tuple)."""
        return np.broadcast_shapes(shape, self._batch_shape or ())

    # ------------------------------------------------------------------ parameters, for subclasses
    def _add_parameter(self, value, name):
        """Convert a parameter to a Tensor and register it."""
        if isinstance(value, bool) or not isinstance(value, (int, float, list, np.ndarray, np.number, Tensor)):
            raise TypeError(f"For '{self.cls_name}', '{name}' should be numbers, but got {describe(value)}.")
        tensor = value if isinstance(value, Parameter) else Tensor(value)
        dtype = self._dtype or self.common_dtype
        if dtype is None and tensor.dtype not in mstype.float_type:
            raise TypeError(
                f"For '{self.cls_name}', '{name}' should be of floating point numbers, but got {tensor.dtype}."
            )
        if dtype is not None and tensor.dtype != dtype:
            raise TypeError(f"For '{self.cls_name}', '{name}' should be of type {dtype}, but got {tensor.dtype}.")
        self.common_dtype = tensor.dtype
        self.default_parameters.append(tensor)
        self.parameter_names.append(name)
        return tensor

    def cast_param_by_value(self, value: Tensor, para: Tensor) -> Tensor:
        """
        Cast a parameter to the dtype of a value.

        Args:
            value (Tensor): The value.
            para (Tensor): The parameter.

        Returns:
            Tensor.
        """
        return as_type(para, value.dtype)

    def _check_value(self, value, name):
        return _check_tensor(value, name)

    def _check_value_dtype(self, value):
        """Return `value`. Raise TypeError if it is no Tensor of the required dtype."""
        _check_tensor(value, "value")
        if value.dtype != self._dtype if self._dtype is not None else value.dtype not in mstype.float_type:
            dtype = self._dtype or "a type of floating point numbers"
            raise TypeError(f"For '{self.cls_name}', 'value' should be of type {dtype}, but got {value.dtype}.")
        return value

    def _check_value_and_cast_params(self, value):
        """Return `value`, and the parameters cast to the dtype of `value`."""
        value = self._check_value_dtype(value)
        return value, *(self.cast_param_by_value(value, p) for p in self.default_parameters)

    # ------------------------------------------------------------------ the function
    def _call_implementation(self, name, value, args, kwargs):
        method = getattr(self, name, None)
        if method is None:
            raise NotImplementedError(f"{name[1:]} is not implemented for the bijector '{self._name}'.")
        if _thread.frame is not None:
            method = script.call(method)  # a user's method may branch on Tensors
        return method(value, *args, **kwargs)

    def forward(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """
        Return g(value).

        Args:
            value (Tensor): Floating point numbers.
            args: Further arguments of a subclass.
            kwargs: Further arguments of a subclass.

        Returns:
            Tensor.
        """
        return self._call_implementation("_forward", value, args, kwargs)

    def inverse(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the x with g(x) = value. See `forward` for the arguments."""
        return self._call_implementation("_inverse", value, args, kwargs)

    def forward_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return log |g'(value)|, from the derivative of `forward`. See `forward` for the arguments."""
        return self._call_implementation("_forward_log_jacobian", value, args, kwargs)

    def inverse_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of the absolute derivative of `inverse` at `value`. See `forward` for the arguments."""
        return self._call_implementation("_inverse_log_jacobian", value, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call a method by its name, as ``bijector("forward", x)``; for a Distribution return the
        TransformedDistribution."""
        if args and isinstance(args[0], Cell) and type(self)._transformed is not None:
            return type(self)._transformed(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Tensor:
        """
        Call a method by its name: ``bijector("inverse", y)`` is ``bijector.inverse(y)``.

        Raises:
            NotImplementedError: If there is no such method.
        """
        if name not in _METHODS:
            raise NotImplementedError(f"{describe(name)} should be one of {', '.join(_METHODS)}.")
        return getattr(self, name)(*args, **kwargs)

    def extend_repr(self) -> str:
        """Return a text with the parameters if they are numbers, or with their shape otherwise."""
        if not self._words:
            return ""
        if not self._is_scalar_batch:
            return f"batch_shape = {self._batch_shape}"
        parameters = zip(self._words.values(), self.default_parameters, strict=True)
        return ", ".join(f"{word} = {value}" for word, value in parameters)
