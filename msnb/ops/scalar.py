"""Functions of Python numbers, strings, tuples, lists and dicts. They run immediately, in PYNATIVE and in GRAPH
mode.
"""

import math
from typing import Any

from msnb.core.operator.declare import spelling
from msnb.core.operator.primitive import by_name
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _constants
from msnb.ops.math.exponential import Log


@spelling(generation=1)
def scalar_add(x: Any, y: Any) -> Any:
    """Return x + y."""
    return x + y


@spelling(generation=1)
def scalar_sub(x: Any, y: Any) -> Any:
    """Return x - y."""
    return x - y


@spelling(generation=1)
def scalar_mul(x: Any, y: Any) -> Any:
    """Return x * y."""
    return x * y


@spelling(generation=1)
def scalar_div(x: Any, y: Any) -> Any:
    """Return x / y."""
    return x / y


@spelling(generation=1)
def scalar_floordiv(x: Any, y: Any) -> Any:
    """Return x // y."""
    return x // y


@spelling(generation=1)
def scalar_mod(x: Any, y: Any) -> Any:
    """Return x % y."""
    return x % y


@spelling(generation=1)
def scalar_pow(x: Any, y: Any) -> Any:
    """Return x ** y."""
    return x**y


@spelling(generation=1)
def scalar_log(x: Any) -> Any:
    """Return the natural logarithm of a number."""
    return Log.functional(x) if isinstance(x, Tensor) else math.log(x)


@spelling(generation=1)
def scalar_uadd(x: Any) -> Any:
    """Return a number unchanged."""
    return x


@spelling(generation=1)
def scalar_usub(x: Any) -> Any:
    """Return -x."""
    return -x


@spelling(generation=1)
def scalar_gt(x: Any, y: Any) -> Any:
    """Return True if the first number is larger."""
    return x > y


@spelling(generation=1)
def scalar_lt(x: Any, y: Any) -> Any:
    """Return True if the first number is smaller."""
    return x < y


@spelling(generation=1)
def scalar_ge(x: Any, y: Any) -> Any:
    """Return True if the first number is not smaller."""
    return x >= y


@spelling(generation=1)
def scalar_le(x: Any, y: Any) -> Any:
    """Return True if the first number is not larger."""
    return x <= y


@spelling(generation=1)
def scalar_eq(x: Any, y: Any) -> Any:
    """Return True if two numbers are equal."""
    return x == y


@spelling(generation=1)
def scalar_ne(x: Any, y: Any) -> Any:
    """Return True if two numbers differ."""
    return x != y


@spelling(generation=1)
def string_eq(x: Any, y: Any) -> Any:
    """Return True if two strings are equal."""
    return x == y


@spelling(generation=1)
def string_concat(x: Any, y: Any) -> Any:
    """Return two strings concatenated."""
    return x + y


@spelling(generation=1)
def bool_not(x: Any) -> Any:
    """Return not x."""
    return not x


@spelling(generation=1)
def bool_eq(x: Any, y: Any) -> Any:
    """Return True if two bools are equal."""
    return x == y


@spelling(generation=1)
def bool_or(x: Any, y: Any) -> Any:
    """Return True if one of two bools is True."""
    return x or y


@spelling(generation=1)
def bool_and(x: Any, y: Any) -> Any:
    """Return True if both of two bools are True."""
    return x and y


@spelling(generation=1)
def is_(x: Any, y: Any) -> Any:
    """Return True if two values are the same object."""
    return x is y


@spelling(generation=1)
def is_not(x: Any, y: Any) -> Any:
    """Return True if two values are different objects."""
    return x is not y


@spelling(generation=1)
def in_dict(key: Any, d: Any) -> Any:
    """Return True if a dict has a key."""
    return key in d


@spelling(generation=1)
def not_in_dict(key: Any, d: Any) -> Any:
    """Return True if a dict lacks a key."""
    return key not in d


@spelling(generation=1)
def tuple_getitem(x: Any, y: Any) -> Any:
    """Return x[y] of a tuple."""
    return x[y]


@spelling(generation=1)
def list_getitem(x: Any, y: Any) -> Any:
    """Return x[y] of a list."""
    return x[y]


@spelling(generation=1)
def dict_getitem(x: Any, y: Any) -> Any:
    """Return x[y] of a dict."""
    return x[y]


@spelling(generation=1)
def tuple_len(x: Any) -> Any:
    """Return the length of a tuple."""
    return len(x)


@spelling(generation=1)
def list_len(x: Any) -> Any:
    """Return the length of a list."""
    return len(x)


@spelling(generation=1)
def tuple_equal(x: Any, y: Any) -> Any:
    """Return True if two tuples are equal."""
    return x == y


@spelling(generation=1)
def list_equal(x: Any, y: Any) -> Any:
    """Return True if two lists are equal."""
    return x == y


@spelling(generation=1)
def make_range(*a: Any) -> Any:
    """Return tuple(range(*a))."""
    return tuple(range(*a))


@spelling(generation=1)
def make_tuple(*a: Any) -> Any:
    """Return a tuple of the arguments."""
    return a


@spelling(generation=1)
def make_list(*a: Any) -> Any:
    """Return a list of the arguments."""
    return list(a)


@spelling(generation=1)
def make_dict(keys: Any, values: Any) -> Any:
    """Return a dict of keys and values."""
    return dict(zip(keys, values, strict=True))


@spelling(generation=1)
def make_slice(*args: Any) -> Any:
    """Return a slice of start, stop and step."""
    return slice(*args)


@spelling(generation=1)
def tuple_reversed(t: Any) -> Any:
    """Return a tuple in reverse order."""
    return tuple(reversed(t))


@spelling(generation=1)
def shape_mul(input_data: Any) -> Any:
    """Return the product of the entries of a shape."""
    return math.prod(input_data)


by_name.update(
    {
        _constants.kScalarAdd: scalar_add,
        _constants.kScalarSub: scalar_sub,
        _constants.kScalarMul: scalar_mul,
        _constants.kScalarDiv: scalar_div,
        _constants.kScalarFloordiv: scalar_floordiv,
        _constants.kScalarMod: scalar_mod,
        _constants.kScalarPow: scalar_pow,
        _constants.kScalarTrunc: math.trunc,
        _constants.kScalarFloor: math.floor,
        _constants.kScalarUadd: scalar_uadd,
        _constants.kScalarUsub: scalar_usub,
        _constants.kMakeTuple: lambda *values: values,
        _constants.kTupleGetItem: lambda values, index: values[index],
    }
)


@spelling()
def scalar_max(x: Any, y: Any) -> Any:
    """Return max(x, y)."""
    return max(x, y)


@spelling()
def scalar_min(x: Any, y: Any) -> Any:
    """Return min(x, y)."""
    return min(x, y)
