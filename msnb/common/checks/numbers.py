"""Checks of numbers: type, size and interval."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.common.checks.relations import Rel
from msnb.common.checks.words import as_tuple, got, names_of
from msnb.common.kinds import refusal


def check_finite(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value`; raise ValueError if it is NaN or infinite. Values that are not numbers are returned
    unchanged."""
    if isinstance(arg_value, (float, np.floating)) and not math.isfinite(arg_value):
        raise refusal(ValueError, prim_name, arg_name, "a finite number", got(arg_value))
    return arg_value


def check_number(
    arg_value: Any,
    value: Any,
    rel: Rel,
    arg_type: type = int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Return `arg_value` if it is a finite `arg_type` in relation `rel` to `value`; raise TypeError or ValueError
    otherwise."""
    check_is_number(arg_value, arg_type, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        raise refusal(
            ValueError,
            prim_name,
            arg_name,
            f"{arg_type.__name__} and {Rel.get_strs(rel).format(value)}",
            got(arg_value),
        )
    return arg_value


def check_is_number(arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is a finite `arg_type` (a bool is not a number); raise TypeError or ValueError
    otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not isinstance(arg_value, arg_type) or isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, arg_type.__name__, got(arg_value))
    return arg_value


def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: Rel,
    value_type: type,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Return `arg_value` if it is a finite `value_type` or numpy number in relation `rel` to both limits; raise
    TypeError or ValueError otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not isinstance(arg_value, (np.ndarray, np.generic, *as_tuple(value_type))) or isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, names_of(as_tuple(value_type)), got(arg_value))
    if not Rel.get_fns(rel)(arg_value, lower_limit, upper_limit):
        raise refusal(
            ValueError, prim_name, arg_name, f"in {Rel.get_strs(rel).format(lower_limit, upper_limit)}", got(arg_value)
        )
    return arg_value


def _make_sign_check(arg_type, rel, what):
    def check_value(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        return check_number(arg_value, 0, rel, arg_type, arg_name, prim_name)

    check_value.__name__ = f"check_{what.replace('not ', 'non_')}_{arg_type.__name__}"
    check_value.__doc__ = (
        f"Return `arg_value` if it is a {what} {arg_type.__name__}; raise TypeError or ValueError otherwise."
    )
    return check_value


check_positive_int: Callable[..., Any] = _make_sign_check(int, Rel.GT, "positive")
check_negative_int: Callable[..., Any] = _make_sign_check(int, Rel.LT, "negative")
check_non_positive_int: Callable[..., Any] = _make_sign_check(int, Rel.LE, "not positive")
check_non_negative_int: Callable[..., Any] = _make_sign_check(int, Rel.GE, "not negative")
check_positive_float: Callable[..., Any] = _make_sign_check(float, Rel.GT, "positive")
check_negative_float: Callable[..., Any] = _make_sign_check(float, Rel.LT, "negative")
check_non_positive_float: Callable[..., Any] = _make_sign_check(float, Rel.LE, "not positive")
check_non_negative_float: Callable[..., Any] = _make_sign_check(float, Rel.GE, "not negative")


def check_int(arg_value: Any, value: Any, rel: Rel, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is an int in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value: Any, value: Any, rel: Rel, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is a float in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(arg_value: Any, value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is an int equal to `value`."""
    return check_number(arg_value, value, Rel.EQ, int, arg_name, prim_name)


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is an int."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return `arg_value` if it is a finite float."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_int_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: Rel,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Return `arg_value` if it is an int inside the interval."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: Rel,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """Return `arg_value` if it is a float inside the interval."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check(
    arg_name: str | None,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: Rel = Rel.EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """Return `arg_value`, an int or tuple of ints, if it is in relation `rel` to `value`; raise `excp_cls`
    otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        expected = Rel.get_strs(rel).format(f"{value_name} = {value}")
        raise refusal(excp_cls, prim_name, arg_name, expected, str(arg_value))
    return arg_value
