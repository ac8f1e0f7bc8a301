"""Checks of bool, strings, tuples of sizes, instances, and the arguments of a function."""

import inspect
import math
import re
from functools import wraps

from numpy.lib.array_utils import normalize_axis_tuple

from msnb.common.checks.words import as_tuple, got, names_of
from msnb.common.kinds import refusal


def check_bool(arg_value, arg_name=None, prim_name=None):
    """Return `arg_value` if it is a bool; raise TypeError otherwise."""
    if not isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, "bool", got(arg_value))
    return arg_value


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    """Return `arg_value` if it is one of the strings `valid_values`; raise ValueError otherwise."""
    if not (isinstance(arg_value, str) and arg_value in valid_values):
        raise refusal(ValueError, prim_name, arg_name, f"one of {', '.join(map(repr, valid_values))}", got(arg_value))
    return arg_value


def _check_pattern(target, pattern, flag, prim_name):
    if re.match(pattern, target, flag) is None:
        raise refusal(ValueError, prim_name, None, f"what matches the regular expression {pattern!r}", repr(target))
    return True


def check_str_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """Return True if `target` matches `reg`; raise ValueError otherwise. If `reg` is None, `target` may contain
    letters, digits, ``_`` and, after the first character, ``.``."""
    return _check_pattern(target, r"^\w+[0-9a-zA-Z\_\.]*$" if reg is None else reg, flag, prim_name)


def check_file_name_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """Return True if `target` matches `reg`; raise ValueError otherwise. If `reg` is None, `target` may contain
    letters, digits, ``_-.:``, slashes and backslashes."""
    return _check_pattern(target, r"^[0-9a-zA-Z\_\-\.\:\/\\]+$" if reg is None else reg, flag, prim_name)


def check_isinstance(arg_name, arg_value, classes):
    """Return `arg_value` if it is an instance of `classes`; raise ValueError otherwise."""
    if not isinstance(arg_value, classes):
        raise refusal(ValueError, None, arg_name, f"an instance of {names_of(as_tuple(classes))}", got(arg_value))
    return arg_value


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    """Return `arg_value` if it is an instance of `valid_types` (a bool only if bool is listed); raise TypeError
    otherwise.

    Raise ValueError for NaN.
    """
    valid_types = as_tuple(valid_types)
    if not isinstance(arg_value, valid_types) or (isinstance(arg_value, bool) and bool not in valid_types):
        raise refusal(TypeError, prim_name, arg_name, names_of(valid_types), got(arg_value))
    if isinstance(arg_value, float) and math.isnan(arg_value):  # a later `if value < 0: raise` would not detect NaN
        raise refusal(ValueError, prim_name, arg_name, names_of(valid_types), "NaN")
    return arg_value


def check_pad_value_by_mode(pad_mode, padding, prim_name):
    """Return `padding` if `pad_mode` is "pad" or `padding` is 0; raise ValueError otherwise."""
    if pad_mode != "pad" and padding != 0:
        raise refusal(
            ValueError, prim_name, "padding", "0 unless pad_mode is 'pad'", f"{padding!r} with pad_mode '{pad_mode}'"
        )
    return padding


def check_const_input(arg_name, arg_value, prim_name):
    """Return `arg_value`; raise ValueError if it is None, that is, not known at compile time."""
    if arg_value is None:
        raise refusal(ValueError, prim_name, arg_name, "a constant", "a value that is not known yet")
    return arg_value


def check_reduce_shape(ori_shape, shape, axis, prim_name):
    """Raise ValueError unless `shape` is `ori_shape` without the axes `axis`."""
    axes = as_tuple(axis)
    expected = [size for i, size in enumerate(ori_shape) if i not in axes]
    if list(shape) != expected:
        raise ValueError(
            f"For '{prim_name}', {tuple(ori_shape)} reduced over axis {axis} has shape {tuple(expected)}, "
            f"but got {tuple(shape)}."
        )


def _expand_tuple(n):
    def expand(value):
        if isinstance(value, int) and not isinstance(value, bool):
            return (value,) * n
        if (
            not isinstance(value, tuple)
            or len(value) != n
            or any(not isinstance(v, int) or isinstance(v, bool) for v in value)
        ):
            raise refusal(TypeError, None, None, f"an int or a tuple of {n} int", got(value))
        return value

    expand.__doc__ = f"A tuple of {n} int from an int or such a tuple; TypeError otherwise."
    return expand


once, twice, triple = _expand_tuple(1), _expand_tuple(2), _expand_tuple(3)


def _check_3d_int_or_tuple(arg_name, arg_value, prim_name, allow_five=False, ret_five=False, greater_zero=True):
    """Return the sizes of the three spatial axes, given as an int, as 3 ints, or as 5 ints with N and C first. With
    `ret_five` the result has 5 ints."""
    check_value_type(arg_name, arg_value, (int, tuple), prim_name)
    values = (arg_value,) * 3 if isinstance(arg_value, int) else arg_value
    lengths = (3, 5) if allow_five else (3,)
    smallest = 1 if greater_zero else 0
    if len(values) not in lengths or any(not isinstance(v, int) or isinstance(v, bool) or v < smallest for v in values):
        raise refusal(
            ValueError,
            prim_name,
            arg_name,
            f"an int or a tuple of {' or '.join(map(str, lengths))} int, each at least {smallest}",
            got(arg_value),
        )
    return ((1, 1) + values if len(values) == 3 else values) if ret_five else values[-3:]


def args_type_check(*type_args, **type_kwargs):
    """Decorator that raises TypeError if an argument is neither None nor of the type that is passed here for it."""

    def decorate(func):
        signature = inspect.signature(func)
        expected = signature.bind_partial(*type_args, **type_kwargs).arguments
        expected.update(expected.pop("kwargs", {}))

        @wraps(func)
        def checked(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            for name, value in {**given, **given.get("kwargs", {})}.items():
                if name in expected and value is not None and not isinstance(value, expected[name]):
                    raise refusal(TypeError, func.__name__, name, names_of(as_tuple(expected[name])), got(value))
            return func(*args, **kwargs)

        return checked

    return decorate


def check_and_canonicalize_axes(axes, ndim):
    """Return a tuple of non-negative axes for an axis or a tuple of axes of an array with `ndim` axes.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range or repeated.
    """
    return normalize_axis_tuple(axes, ndim)
