"""The other operand of a Tensor in Python's operators: numbers, lists and numpy values, on either side.

A numpy scalar, or an array without axes, is converted to a Python number, so that ``x * np.float32(2)`` has the dtype
of x. Other arrays are converted to Tensors. The result is a Tensor that has a gradient, even if the numpy value is the
left operand: numpy then calls the Tensor's `__array_ufunc__`.
"""

from typing import Any

import jax
import numpy as np

from msnb.core.tensor.tensor import Tensor, attach, box

_NUMBERS = (bool, int, float, complex)


def other_operand(value: Any) -> Any:
    """Convert the other operand of a Tensor to a Tensor or a Python number; NotImplemented if it can be neither.

    Args:
        value (Any): The other operand.

    Raises:
        TypeError: If `value` is an array or a list with elements that are not numbers.
    """
    if isinstance(value, (Tensor, *_NUMBERS)):
        return value
    if isinstance(value, (np.generic, np.ndarray)) and not value.ndim:  # numpy passes such arrays for comparisons
        return _to_python_number(value)
    if isinstance(value, (np.ndarray, list, tuple)):
        return Tensor(value)
    return box(value) if isinstance(value, jax.Array) else NotImplemented


def _to_python_number(scalar):
    if scalar.dtype.kind in "mM":  # item() of some datetimes is an int that counts nanoseconds
        return NotImplemented
    number = scalar.item()
    return number if isinstance(number, _NUMBERS) else NotImplemented


# {numpy ufunc: (method of a Tensor that is the left operand, method of one that is the right operand)}
_METHODS = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.floor_divide: ("__floordiv__", "__rfloordiv__"),
    np.remainder: ("__mod__", "__rmod__"),
    np.power: ("__pow__", "__rpow__"),
    np.matmul: ("__matmul__", "__rmatmul__"),
    np.bitwise_and: ("__and__", "__rand__"),
    np.bitwise_or: ("__or__", "__ror__"),
    np.bitwise_xor: ("__xor__", "__rxor__"),
    np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
    np.less: ("__lt__", "__gt__"),
    np.less_equal: ("__le__", "__ge__"),
    np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"),
    # Tensors do not have these methods, so numpy raises its own TypeError.
    np.left_shift: ("__lshift__", "__rlshift__"),
    np.right_shift: ("__rshift__", "__rrshift__"),
    np.divmod: ("__divmod__", "__rdivmod__"),
}


def _handle_numpy_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """Handle a numpy ufunc with a Tensor operand: operators call the Tensor's methods, other ufuncs use its values.

    Args:
        ufunc (numpy.ufunc): The ufunc that numpy was called with.
        method (str): Method of the ufunc: "__call__", "reduce" and the like.
        inputs (Any): Its operands, a Tensor among them.
        options (Any): numpy's further arguments. With `out`, as in ``array += tensor``, the result is written there.

    Raises:
        TypeError: If `out` is a Tensor.
    """
    methods = _METHODS.get(ufunc)
    if methods and method == "__call__" and not options:
        left, right = inputs
        if isinstance(left, Tensor):
            return getattr(left, methods[0], _return_not_implemented)(right)
        return getattr(right, methods[1], _return_not_implemented)(left)
    if any(isinstance(target, Tensor) for target in options.get("out", ())):
        raise TypeError(f"numpy.{ufunc.__name__} cannot write into a Tensor; assign what it gives: x[...] = values.")
    options = {name: _to_numpy(value) for name, value in options.items()}
    return getattr(ufunc, method)(*map(_to_numpy, inputs), **options)


def _return_not_implemented(other):
    return NotImplemented


def _to_numpy(value):
    return np.asarray(value) if isinstance(value, Tensor) else value


attach("__array_ufunc__", _handle_numpy_ufunc)
