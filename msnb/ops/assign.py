"""Operators that give a Parameter a new value."""

import jax.numpy as jnp

from msnb.core.declare import operator
from msnb.core.dtype import is_inexact
from msnb.ops._check import ANY, NUMBER, dtype_in, dtype_name

_DOC = """{summary}

    Inputs:
        - **variable** (Parameter) - What is written.
        - **value** (Union[Tensor, Number]) - {value}; it is converted to the element type of `variable` unless that
          would narrow it.

    Outputs:
        Parameter, the written one.

    Raises:
        TypeError: If `variable` is not a Parameter, or the element type of `value` does not fit.
        ValueError: If the shape of `value` does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> variable = Parameter(Tensor([1., 2.], mindspore.float32), name="variable")
        >>> output = ops.{name}()(variable, Tensor([2., 2.], mindspore.float32))
        >>> print(variable.asnumpy())
        {shown}
    """


def _scalar(name, variable, value):
    """A Python number in the type of `variable`."""
    if is_inexact(value.dtype) and not is_inexact(variable.dtype):
        raise TypeError(
            f"For '{name}', a float does not go into a Parameter of {dtype_name(variable)}; "
            f"convert it with int() first."
        )
    return value.astype(variable.dtype)


def _assign(name, variable, value):
    dtype_in(name, "variable", variable, ANY)
    if value.weak_type:
        return jnp.broadcast_to(_scalar(name, variable, value), variable.shape)
    if value.shape != variable.shape:
        raise ValueError(
            f"For '{name}', 'value' should have the shape of the Parameter, {variable.shape}, but got {value.shape}."
        )
    return value


def _change(combine):
    def compute(name, variable, value):
        dtype_in(name, "variable", variable, NUMBER)
        if value.weak_type:
            value = _scalar(name, variable, value)
        dtype_in(name, "value", value, NUMBER)
        try:
            fits = jnp.broadcast_shapes(variable.shape, value.shape) == variable.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"For '{name}', 'value' should broadcast to the shape of the Parameter, {variable.shape}, "
                f"but got {value.shape}."
            )
        return combine(variable, value)

    return compute


def _declare(name, compute, functional, summary, value, shown):
    def kernel(variable, value):
        return compute(name, variable, value)

    kernel.__name__ = kernel.__qualname__ = functional
    kernel.__doc__ = _DOC.format(name=name, summary=summary, value=value, shown=shown)
    return operator(name, functional=functional, writes=("variable",))(kernel)


_declare("Assign", _assign, "assign", "A Parameter set to a value.", "The value, of the shape of `variable`", "[2. 2.]")
_declare(
    "AssignAdd",
    _change(lambda x, y: x + y),
    "assign_add",
    "A Parameter increased by a value.",
    "What is added, of a shape that broadcasts to that of `variable`",
    "[3. 4.]",
)
_declare(
    "AssignSub",
    _change(lambda x, y: x - y),
    "assign_sub",
    "A Parameter decreased by a value.",
    "What is subtracted, of a shape that broadcasts to that of `variable`",
    "[-1.  0.]",
)
