"""What stands beside a Tensor in Python's operators: numbers, lists, and whatever numpy makes, on either side.

A numpy scalar, or an array without axes, counts as the Python number that it holds, so that ``x * np.float32(2)`` is of
x's type; another array counts as the Tensor that it makes. The answer is a Tensor with its gradient, also where numpy
stands on the left and is asked first.
"""

from typing import Any

import jax
import numpy as np

from msnb.core.tensor.tensor import Tensor, attach, box

_NUMBERS = (bool, int, float, complex)


def other_operand(value: Any) -> Any:
    """The other operand of a Tensor as a Tensor or a Python number; NotImplemented where it can be neither.

    Args:
        value (Any): What stands beside the Tensor.

    Raises:
        TypeError: If it is an array or a list of something else than numbers.
    """
    if isinstance(value, (Tensor, *_NUMBERS)):
        return value
    if isinstance(value, (np.generic, np.ndarray)) and not value.ndim:  # numpy makes one of the other for comparisons
        return _number(value)
    if isinstance(value, (np.ndarray, list, tuple)):
        return Tensor(value)
    return box(value) if isinstance(value, jax.Array) else NotImplemented


def _number(scalar):
    if scalar.dtype.kind in "mM":  # of times some give an int, which would count nanoseconds
        return NotImplemented
    number = scalar.item()
    return number if isinstance(number, _NUMBERS) else NotImplemented


# numpy's functions behind its operators -> Tensor's methods for a Tensor on the left, and on the right
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
    # of these a Tensor has none, and numpy then says so
    np.left_shift: ("__lshift__", "__rlshift__"),
    np.right_shift: ("__rshift__", "__rrshift__"),
    np.divmod: ("__divmod__", "__rdivmod__"),
}


def _array_ufunc(self: Tensor, ufunc: np.ufunc, way: str, *inputs: Any, **options: Any) -> Any:
    """numpy asks this for its functions of elements: its operators are the Tensor's, the others take the values.

    Args:
        ufunc (numpy.ufunc): The function.
        way (str): How it is run: "__call__", "reduce" and the like.
        inputs (Any): Its operands, a Tensor among them.
        options (Any): numpy's further arguments. With `out`, as in ``array += tensor``, the values go there.

    Raises:
        TypeError: If `out` is a Tensor.
    """
    methods = _METHODS.get(ufunc)
    if methods and way == "__call__" and not options:
        left, right = inputs
        if isinstance(left, Tensor):
            return getattr(left, methods[0], _lacks)(right)
        return getattr(right, methods[1], _lacks)(left)
    if any(isinstance(target, Tensor) for target in options.get("out", ())):
        raise TypeError(f"numpy.{ufunc.__name__} cannot write into a Tensor; assign what it gives: x[...] = values.")
    options = {name: _values(value) for name, value in options.items()}
    return getattr(ufunc, way)(*map(_values, inputs), **options)


def _lacks(other):
    return NotImplemented


def _values(value):
    return np.asarray(value) if isinstance(value, Tensor) else value


attach("__array_ufunc__", _array_ufunc)
