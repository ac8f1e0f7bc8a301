"""Operators that give a Parameter a new value."""

import jax.numpy as jnp

from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, with_source_of
from msnb.core.support.type_promotion import is_inexact
from msnb.ops._check import ANY, NUMBER, dtype_in, dtype_name

_DOC = """{summary}

    Inputs:
        - **variable** (Parameter) - Parameter to update.
        - **value** (Union[Tensor, Number]) - {value}; it is converted to the element type of `variable` unless that
          would narrow it.

    Outputs:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `variable` is not a Parameter, or the element type of `value` does not fit.
        ValueError: If the shape of `value` does not fit.

    Examples:
        >>> variable = Parameter(Tensor([1., 2.], mindspore.float32), name="variable")
        >>> output = ops.{name}()(variable, Tensor([2., 2.], mindspore.float32))
        >>> print(variable.asnumpy())
        {shown}
    """


def _cast_scalar(name, variable, value):
    """Cast a Python number to the element type of `variable`."""
    if is_inexact(value.dtype) and not is_inexact(variable.dtype):
        raise TypeError(
            f"For '{name}', a float does not go into a Parameter of {dtype_name(variable)}; "
            f"convert it with int() first."
        )
    return value.astype(variable.dtype)


def _convert_assigned_value(name, variable, value):
    dtype_in(name, "variable", variable, ANY)
    if value.weak_type:
        return jnp.broadcast_to(_cast_scalar(name, variable, value), variable.shape)
    if variable.size == value.size == 1 and 0 in (variable.ndim, value.ndim):  # as in r1.1, a scalar fits shape (1,)
        return value.reshape(variable.shape)
    if value.shape != variable.shape:
        raise ValueError(
            f"For '{name}', 'value' should have the shape of the Parameter, {variable.shape}, but got {value.shape}."
        )
    return value


def _make_checked_update(combine):
    def compute(name, variable, value):
        dtype_in(name, "variable", variable, NUMBER)
        if value.weak_type:
            value = _cast_scalar(name, variable, value)
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


def _declare_assign_operator(functional, value, example, numbers=True):
    """Decorator that declares an operator that writes a Parameter. The decorated function takes the old value and an
    operand, and returns the new value."""
    compute = _make_checked_update if numbers else lambda combine: _convert_assigned_value

    def declare(combine):
        name, new = combine.__name__, compute(combine)

        def kernel(variable, value):
            return new(name, variable, value)

        doc = _DOC.format(name=name, summary=combine.__doc__, value=value, shown=example)
        return operator(functional=functional, writes=("variable",))(with_source_of(combine, kernel, doc))

    return declare


@_declare_assign_operator(
    "assign", "The value, of the shape of `variable` or, for one element, a scalar", "[2. 2.]", numbers=False
)
def Assign(variable, value):
    """Write a value to a Parameter."""
    return value


@_declare_assign_operator("assign_add", "What is added, of a shape that broadcasts to that of `variable`", "[3. 4.]")
def AssignAdd(variable, value):
    """Add a value to a Parameter."""
    return variable + value


@_declare_assign_operator(
    "assign_sub", "What is subtracted, of a shape that broadcasts to that of `variable`", "[-1.  0.]"
)
def AssignSub(variable, value):
    """Subtract a value from a Parameter."""
    return variable - value


CASES = [
    case(Assign, F(2), F(2)),
    case(AssignAdd, F(2), F(2)),
    case(AssignSub, F(2), F(2)),
    refused(ValueError, Assign, F(2, 3), F(1)),
    refused(TypeError, Assign, F(2, 3), "a"),
    refused(TypeError, AssignAdd, I(1), 1.5),
]
