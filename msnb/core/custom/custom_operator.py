"""`custom_operator`: the decorator, and the classes that it makes."""

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

_STATIC = (bool, int, float, str, tuple, list)  # annotations of what is no Tensor


def custom_operator(
    function: Callable[..., Any] | None = None,
    *,
    backward: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Decorator: a pure function of JAX arrays becomes an operator, a class as those of `mindspore.ops` are.

    Parameters of the function without annotation are Tensors, and None is taken where it is the default. One that is
    annotated ``int``, ``float``, ``bool``, ``str``, ``tuple`` or ``list`` is a value that each call gives; one behind
    ``*`` is an attribute, which the class is made with. The program is compiled for each of their values. The shape and
    the type of the results are those of what the function returns.

    JAX differentiates the function, unless it is told how: `backward`, or ``@Name.backward`` above a function, is
    called with the inputs, the result, its gradient, and the attributes by name. It returns an array for each Tensor,
    None for one without a gradient; for one Tensor the array alone will do.

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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
    return made(function, name or function.__name__, Gradient(backward))


class Gradient:
    """How an operator is differentiated.

    Attributes:
        function (Callable): The user's; None where JAX does it.
        missing (str): What to say where JAX cannot; None where it can.
    """

    def __init__(self, function: Callable[..., Any] | None, missing: str | None = None) -> None:
        self.function: Callable[..., Any] | None = function
        self.missing: str | None = missing


def made(function: Callable[..., Any], name: str, gradient: Gradient) -> type:
    """The class of an operator that computes `function`.

    Raises:
        ValueError: If MindSpore has an operator of this name.
    """
    if name in REGISTRY:
        raise ValueError(f"MindSpore has an operator '{name}'; call yours by another name.")
    signature = inspect.signature(function)
    parameters = [_kept(p) for p in signature.parameters.values()]
    tensors = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY and kind_of(p.annotation) is None]

    def kernel(*args, **attributes):
        given = signature.bind(*args, **attributes)
        given.apply_defaults()
        return _differentiated(function, given, tensors, gradient, name)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__module__, kernel.__doc__ = function.__module__, function.__doc__
    kernel.__wrapped__ = function
    kernel.__signature__ = signature.replace(parameters=parameters)
    cls = class_of(kernel)
    cls.kernel = staticmethod(function)
    cls.operator.functional = cls.operator.primitive

    def backward(fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the gradient of the operator, see `custom_operator`."""
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


_again.__module__ = "msnb.core.custom"  # pickles name this module


def _kept(parameter):
    """A parameter as declarations have it: what is no Tensor has a Kind."""
    kind = parameter.kind
    if kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TypeError(f"An operator takes a fixed number of inputs, but got a function with '*{parameter.name}'.")
    static = kind is parameter.KEYWORD_ONLY or _is_static(parameter.annotation)
    annotation = parameter.empty
    if static:
        annotation = parameter.annotation if kind_of(parameter.annotation) is not None else Value
    return parameter.replace(annotation=annotation)


def _is_static(annotation):
    names = {kind.__name__ for kind in _STATIC}
    return annotation in _STATIC or annotation in names or kind_of(annotation) is not None


def _differentiated(function, given, tensors, gradient, name):
    """The function of what is given, with the user's gradient."""
    if gradient.function is None and gradient.missing is None:
        return function(*given.args, **given.kwargs)
    places = [key for key in tensors if given.arguments[key] is not None]

    def run(*arrays):
        given.arguments.update(zip(places, arrays, strict=True))
        return function(*given.args, **given.kwargs)

    whole = jax.custom_vjp(run)

    def forward(*arrays):
        out = run(*arrays)
        return out, (arrays, out)

    def back(saved, cotangent):
        arrays, out = saved
        if gradient.function is None:
            raise NotImplementedError(gradient.missing)
        given.arguments.update(zip(places, arrays, strict=True))
        found = gradient.function(*given.args, out, cotangent, **given.kwargs)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(tensors):
            raise TypeError(
                f"The gradient of '{name}' should return one array per Tensor ({', '.join(tensors)}), but returned "
                f"{len(found)}."
            )
        kept = [value for key, value in zip(tensors, found, strict=True) if key in places]
        return tuple(_cotangent(g, a, key, name) for g, a, key in zip(kept, arrays, places, strict=True))

    whole.defvjp(forward, back)
    return whole(*[jnp.asarray(given.arguments[key]) for key in places])


def _cotangent(gradient, array, key, name):
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
