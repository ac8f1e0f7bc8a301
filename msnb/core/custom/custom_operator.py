"""`custom_operator`: the decorator, and the construction of its classes."""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Value, kind_of
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import class_of
from msnb.core.operator.operator_types import REGISTRY, USER_OPERATORS
from msnb.core.support.type_promotion import is_inexact

_STATIC = (bool, int, float, str, tuple, list)  # annotations of parameters that are not Tensors


def custom_operator(
    function: Callable[..., Any] | None = None,
    *,
    backward: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Decorator: turn a pure function of JAX arrays into an operator, a class like those of `mindspore.ops`.

    Parameters of the function without annotation are Tensors; None is accepted if it is the default. A parameter
    annotated ``int``, ``float``, ``bool``, ``str``, ``tuple`` or ``list`` is a static value of each call. A
    keyword-only parameter is an attribute, a constructor argument of the class. The kernel is compiled for each
    combination of static values and attributes. The function determines shape and dtype of the results.

    JAX differentiates the function, unless a gradient function is passed as `backward` or decorated with
    ``@Name.backward``. The gradient function is called with the inputs, the result, the gradient of the result, and the
    attributes by name. It returns an array for each Tensor, or None for a Tensor without a gradient. For a single
    Tensor it may return the array without a tuple.

    Args:
        function (Callable): The function; its name is that of the operator. Default: None, for a decorator with
            arguments.
        backward (Callable): Its gradient. Default: None, that of JAX.
        name (str): Name of the operator. Default: None, that of the function.

    Returns:
        type, the class of the operator.

    Raises:
        TypeError: If `function` or `backward` cannot be called.
        ValueError: If MindSpore has an operator of this name.

    Examples:
        >>> import jax.numpy as jnp
        >>> @mindspore.custom_operator
        ... def Shifted(x, *, by=1.0):
        ...     return x + by
        >>> print(Shifted(by=2.0)(Tensor([1.0, 2.0], mindspore.float32)))
        [3. 4.]
    """
    if function is None:
        return lambda function: custom_operator(function, backward=backward, name=name)
    for what, value in (("function", function), ("backward", backward)):
        if not callable(value) and not (what == "backward" and value is None):
            raise TypeError(f"For 'custom_operator', '{what}' should be a function, but got {describe(value)}.")
    return make_operator_class(function, name or function.__name__, Gradient(backward))


class Gradient:
    """The gradient of a custom operator.

    Attributes:
        function (Callable): The user's function; None for JAX's gradient.
        missing (str): Error message if JAX cannot differentiate the operator; None if it can.
    """

    def __init__(self, function: Callable[..., Any] | None, missing: str | None = None) -> None:
        self.function: Callable[..., Any] | None = function
        self.missing: str | None = missing


def make_operator_class(function: Callable[..., Any], name: str, gradient: Gradient) -> type:
    """Return the class of an operator that computes `function`.

    Raises:
        ValueError: If MindSpore has an operator of this name.
    """
    if name in REGISTRY:
        raise ValueError(f"MindSpore has an operator '{name}'; call yours by another name.")
    signature = inspect.signature(function)
    parameters = [_convert_parameter_for_operator(p) for p in signature.parameters.values()]
    tensors = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY and kind_of(p.annotation) is None]

    def kernel(*args, **attributes):
        bound = signature.bind(*args, **attributes)
        bound.apply_defaults()
        return _call_with_gradient(function, bound, tensors, gradient, name)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__module__, kernel.__doc__ = function.__module__, function.__doc__
    kernel.__wrapped__ = function
    kernel.__signature__ = signature.replace(parameters=parameters)
    cls = class_of(kernel)
    cls.kernel = staticmethod(function)
    cls.operator.functional = cls.operator.primitive

    def backward(fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: register the decorated function as the gradient of the operator, see `custom_operator`."""
        if not callable(fn):
            raise TypeError(f"For '{name}.backward', a function should be given, but got {describe(fn)}.")
        gradient.function = fn
        cls.operator.kernels.clear()
        return fn

    cls.backward = staticmethod(backward)
    cls.__reduce__ = lambda self: (_again, (type(self), self._attributes))
    USER_OPERATORS[name] = cls.operator
    return cls


def _again(cls, attributes):
    return cls(**attributes)


_again.__module__ = "msnb.core.custom"  # the module path in pickles


def _convert_parameter_for_operator(parameter):
    """Return a parameter as `@operator` expects it: without annotation for a Tensor, else with a Kind."""
    kind = parameter.kind
    if kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TypeError(f"An operator takes a fixed number of inputs, but got a function with '*{parameter.name}'.")
    static = kind is parameter.KEYWORD_ONLY or _is_static_annotation(parameter.annotation)
    annotation = parameter.empty
    if static:
        annotation = parameter.annotation if kind_of(parameter.annotation) is not None else Value
    return parameter.replace(annotation=annotation)


def _is_static_annotation(annotation):
    names = {kind.__name__ for kind in _STATIC}
    return annotation in _STATIC or annotation in names or kind_of(annotation) is not None


def _call_with_gradient(function, bound, tensors, gradient, name):
    """Call the function with the user's gradient."""
    if gradient.function is None and gradient.missing is None:
        return function(*bound.args, **bound.kwargs)
    present = [key for key in tensors if bound.arguments[key] is not None]

    def run(*arrays):
        bound.arguments.update(zip(present, arrays, strict=True))
        return function(*bound.args, **bound.kwargs)

    run_with_gradient = jax.custom_vjp(run)

    def forward(*arrays):
        out = run(*arrays)
        return out, (arrays, out)

    def back(saved, cotangent):
        arrays, out = saved
        if gradient.function is None:
            raise NotImplementedError(gradient.missing)
        bound.arguments.update(zip(present, arrays, strict=True))
        grads = gradient.function(*bound.args, out, cotangent, **bound.kwargs)
        grads = grads if isinstance(grads, (tuple, list)) else (grads,)
        if len(grads) != len(tensors):
            raise TypeError(
                f"The gradient of '{name}' should return one array per Tensor ({', '.join(tensors)}), but returned "
                f"{len(grads)}."
            )
        present_grads = [value for key, value in zip(tensors, grads, strict=True) if key in present]
        return tuple(
            _normalize_cotangent(g, a, key, name) for g, a, key in zip(present_grads, arrays, present, strict=True)
        )

    run_with_gradient.defvjp(forward, back)
    return run_with_gradient(*[jnp.asarray(bound.arguments[key]) for key in present])


def _normalize_cotangent(gradient, array, key, name):
    if not is_inexact(array.dtype):
        return np.zeros(array.shape, jax.dtypes.float0)
    if gradient is None:
        return jnp.zeros(array.shape, array.dtype)
    gradient = jnp.asarray(gradient)
    if gradient.shape != array.shape:
        raise ValueError(
            f"The gradient of '{name}' for '{key}' should have its shape {array.shape}, but has {gradient.shape}."
        )
    return gradient.astype(array.dtype)
