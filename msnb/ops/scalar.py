"""Functions of Python numbers, strings, tuples, lists and dicts. They compute at once, in both modes."""

import math

from msnb.core.declare import spelling
from msnb.core.tensor import Tensor
from msnb.ops.math.exponential import Log


@spelling(generation=1)
def scalar_add(x, y):
    """Sum of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x + y


@spelling(generation=1)
def scalar_sub(x, y):
    """Difference of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x - y


@spelling(generation=1)
def scalar_mul(x, y):
    """Product of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x * y


@spelling(generation=1)
def scalar_div(x, y):
    """Quotient of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x / y


@spelling(generation=1)
def scalar_floordiv(x, y):
    """Quotient of two numbers, rounded down.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x // y


@spelling(generation=1)
def scalar_mod(x, y):
    """Remainder of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x % y


@spelling(generation=1)
def scalar_pow(x, y):
    """Power of two numbers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x**y


@spelling(generation=1)
def scalar_log(x):
    """Natural logarithm of a number.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Log.functional(x) if isinstance(x, Tensor) else math.log(x)


@spelling(generation=1)
def scalar_uadd(x):
    """A number itself.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x


@spelling(generation=1)
def scalar_usub(x):
    """A number with its sign changed.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return -x


@spelling(generation=1)
def scalar_gt(x, y):
    """Whether the first number is larger.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x > y


@spelling(generation=1)
def scalar_lt(x, y):
    """Whether it is smaller.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x < y


@spelling(generation=1)
def scalar_ge(x, y):
    """Whether the first number is not smaller.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x >= y


@spelling(generation=1)
def scalar_le(x, y):
    """Whether the first number is not larger.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x <= y


@spelling(generation=1)
def scalar_eq(x, y):
    """Whether two numbers are equal.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x == y


@spelling(generation=1)
def scalar_ne(x, y):
    """Whether two numbers differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x != y


@spelling(generation=1)
def string_eq(x, y):
    """Whether two strings are equal.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x == y


@spelling(generation=1)
def string_concat(x, y):
    """Two strings joined.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x + y


@spelling(generation=1)
def bool_not(x):
    """Negation of a bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return not x


@spelling(generation=1)
def bool_eq(x, y):
    """Whether two bools are equal.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x == y


@spelling(generation=1)
def bool_or(x, y):
    """Whether one of two bools is True.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x or y


@spelling(generation=1)
def bool_and(x, y):
    """Whether both of two bools are True.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x and y


@spelling(generation=1)
def is_(x, y):
    """Whether two values are one object.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x is y


@spelling(generation=1)
def is_not(x, y):
    """Whether two values are different objects.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x is not y


@spelling(generation=1)
def in_dict(key, d):
    """Whether a dict has a key.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return key in d


@spelling(generation=1)
def not_in_dict(key, d):
    """Whether a dict lacks a key.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return key not in d


@spelling(generation=1)
def tuple_getitem(x, y):
    """An element of a tuple.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x[y]


@spelling(generation=1)
def list_getitem(x, y):
    """An element of a list.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x[y]


@spelling(generation=1)
def dict_getitem(x, y):
    """The value of a key in a dict.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x[y]


@spelling(generation=1)
def tuple_len(x):
    """Length of a tuple.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return len(x)


@spelling(generation=1)
def list_len(x):
    """Length of a list.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return len(x)


@spelling(generation=1)
def tuple_equal(x, y):
    """Whether two tuples are equal.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x == y


@spelling(generation=1)
def list_equal(x, y):
    """Whether two lists are equal.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return x == y


@spelling(generation=1)
def make_range(*a):
    """The numbers of a range, as a tuple.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tuple(range(*a))


@spelling(generation=1)
def make_tuple(*a):
    """A tuple of the arguments.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return a


@spelling(generation=1)
def make_list(*a):
    """A list of the arguments.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return list(a)


@spelling(generation=1)
def make_dict(keys, values):
    """A dict of keys and values.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return dict(zip(keys, values, strict=True))


@spelling(generation=1)
def make_slice(*args):
    """A slice of start, stop and step.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return slice(*args)


@spelling(generation=1)
def tuple_reversed(t):
    """A tuple in reverse order.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tuple(reversed(t))


@spelling(generation=1)
def shape_mul(x):
    """Product of the entries of a shape.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return math.prod(x)
