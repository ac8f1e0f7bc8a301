"""Checks of arguments, under the names that networks written for r1.1 import: ``Validator`` and ``Rel``.

Everything here runs when something is constructed, never per call of an operator.
"""

import inspect
import math
import re
from collections.abc import Iterable
from enum import Enum
from functools import wraps

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import uncalled
from msnb.common.kinds import refusal

__all__ = [
    "Rel",
    "Validator",
    "args_type_check",
    "check_input_data",
    "check_output_data",
    "check_input_format",
    "once",
    "twice",
    "triple",
]


class Rel(Enum):
    """Relations that a value can be checked for: comparisons, intervals (which ends belong to it), membership."""

    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12

    @staticmethod
    def get_strs(rel):
        """Format of the relation in words, with a ``{}`` for each limit."""
        return _RELATIONS[rel][0] if rel in _RELATIONS else ""

    @staticmethod
    def get_fns(rel):
        """Function that tells whether the relation holds: ``fn(value, limit)`` or ``fn(value, lower, upper)``."""
        return _RELATIONS[rel][1] if rel in _RELATIONS else lambda *_: False


_RELATIONS = {
    Rel.EQ: ("== {}", lambda x, y: x == y),
    Rel.NE: ("!= {}", lambda x, y: x != y),
    Rel.LT: ("< {}", lambda x, y: x < y),
    Rel.LE: ("<= {}", lambda x, y: x <= y),
    Rel.GT: ("> {}", lambda x, y: x > y),
    Rel.GE: (">= {}", lambda x, y: x >= y),
    Rel.INC_NEITHER: ("({}, {})", lambda x, low, high: low < x < high),
    Rel.INC_LEFT: ("[{}, {})", lambda x, low, high: low <= x < high),
    Rel.INC_RIGHT: ("({}, {}]", lambda x, low, high: low < x <= high),
    Rel.INC_BOTH: ("[{}, {}]", lambda x, low, high: low <= x <= high),
    Rel.IN: ("in {}", lambda x, y: x in y),
    Rel.NOT_IN: ("not in {}", lambda x, y: x not in y),
}
rel_strs = {rel: text for rel, (text, _) in _RELATIONS.items()}
rel_fns = {rel: holds for rel, (_, holds) in _RELATIONS.items()}
EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH
IN, NOT_IN = Rel.IN, Rel.NOT_IN


def _got(value):
    return uncalled(value) or f"{value!r} ({type(value).__name__})"


def _names(types):
    return " or ".join(getattr(t, "__name__", str(t)) for t in types)


def _as_tuple(types):
    return tuple(types) if isinstance(types, Iterable) else (types,)


# --- numbers ----------------------------------------------------------------------------------------------------------


def check_finite(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, unless it is a NaN or infinite number, which is a ValueError. What is no number passes."""
    if isinstance(arg_value, (float, np.floating)) and not math.isfinite(arg_value):
        raise refusal(ValueError, prim_name, arg_name, "a finite number", _got(arg_value))
    return arg_value


def check_number(arg_value, value, rel, arg_type=int, arg_name=None, prim_name=None):
    """`arg_value`, when it is a finite `arg_type` in relation `rel` to `value`; TypeError or ValueError otherwise."""
    check_is_number(arg_value, arg_type, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        raise refusal(
            ValueError,
            prim_name,
            arg_name,
            f"{arg_type.__name__} and {Rel.get_strs(rel).format(value)}",
            _got(arg_value),
        )
    return arg_value


def check_is_number(arg_value, arg_type, arg_name=None, prim_name=None):
    """`arg_value`, when it is a finite `arg_type` (a bool is no number); TypeError or ValueError otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not isinstance(arg_value, arg_type) or isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, arg_type.__name__, _got(arg_value))
    return arg_value


def check_number_range(arg_value, lower_limit, upper_limit, rel, value_type, arg_name=None, prim_name=None):
    """`arg_value`, a finite `value_type` or numpy number inside the interval; TypeError or ValueError otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not isinstance(arg_value, (np.ndarray, np.generic, *_as_tuple(value_type))) or isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, _names(_as_tuple(value_type)), _got(arg_value))
    if not Rel.get_fns(rel)(arg_value, lower_limit, upper_limit):
        raise refusal(
            ValueError, prim_name, arg_name, f"in {Rel.get_strs(rel).format(lower_limit, upper_limit)}", _got(arg_value)
        )
    return arg_value


def _comparing(arg_type, rel, what):
    def check_value(arg_value, arg_name=None, prim_name=None):
        return check_number(arg_value, 0, rel, arg_type, arg_name, prim_name)

    check_value.__name__ = f"check_{what.replace('not ', 'non_')}_{arg_type.__name__}"
    check_value.__doc__ = f"`arg_value`, when it is a {what} {arg_type.__name__}; TypeError or ValueError otherwise."
    return check_value


check_positive_int = _comparing(int, Rel.GT, "positive")
check_negative_int = _comparing(int, Rel.LT, "negative")
check_non_positive_int = _comparing(int, Rel.LE, "not positive")
check_non_negative_int = _comparing(int, Rel.GE, "not negative")
check_positive_float = _comparing(float, Rel.GT, "positive")
check_negative_float = _comparing(float, Rel.LT, "negative")
check_non_positive_float = _comparing(float, Rel.LE, "not positive")
check_non_negative_float = _comparing(float, Rel.GE, "not negative")


def check_int(arg_value, value, rel, arg_name=None, prim_name=None):
    """`arg_value`, when it is an int in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value, value, rel, arg_name=None, prim_name=None):
    """`arg_value`, when it is a float in relation `rel` to `value`."""
    return check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(arg_value, value, arg_name=None, prim_name=None):
    """`arg_value`, when it is an int equal to `value`."""
    return check_number(arg_value, value, Rel.EQ, int, arg_name, prim_name)


def check_is_int(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, when it is an int."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, when it is a finite float."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_int_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """`arg_value`, when it is an int inside the interval."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """`arg_value`, when it is a float inside the interval."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check(arg_name, arg_value, value_name, value, rel=Rel.EQ, prim_name=None, excp_cls=ValueError):
    """`arg_value`, an int or tuple of ints, when it is in relation `rel` to `value`; raises `excp_cls` otherwise."""
    check_finite(arg_value, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        expected = Rel.get_strs(rel).format(f"{value_name} = {value}")
        raise refusal(excp_cls, prim_name, arg_name, expected, str(arg_value))
    return arg_value


def _check_named_number(arg_name, arg_value, value, rel, prim_name):
    check_finite(arg_value, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        raise refusal(ValueError, prim_name, arg_name, Rel.get_strs(rel).format(value), _got(arg_value))
    return arg_value


# --- other Python values ----------------------------------------------------------------------------------------------


def check_bool(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, when it is a bool; TypeError otherwise."""
    if not isinstance(arg_value, bool):
        raise refusal(TypeError, prim_name, arg_name, "bool", _got(arg_value))
    return arg_value


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    """`arg_value`, when it is one of the strings `valid_values`; ValueError otherwise."""
    if not (isinstance(arg_value, str) and arg_value in valid_values):
        raise refusal(ValueError, prim_name, arg_name, f"one of {', '.join(map(repr, valid_values))}", _got(arg_value))
    return arg_value


def _check_pattern(target, pattern, flag, prim_name):
    if re.match(pattern, target, flag) is None:
        raise refusal(ValueError, prim_name, None, f"what matches the regular expression {pattern!r}", repr(target))
    return True


def check_str_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """True, when `target` matches `reg` (letters, digits, ``_`` and ``.`` when None); ValueError otherwise."""
    return _check_pattern(target, r"^\w+[0-9a-zA-Z\_\.]*$" if reg is None else reg, flag, prim_name)


def check_file_name_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """True, when `target` matches `reg` (characters of portable paths when None); ValueError otherwise."""
    return _check_pattern(target, r"^[0-9a-zA-Z\_\-\.\:\/\\]+$" if reg is None else reg, flag, prim_name)


def check_isinstance(arg_name, arg_value, classes):
    """`arg_value`, when it is an instance of `classes`; ValueError otherwise."""
    if not isinstance(arg_value, classes):
        raise refusal(ValueError, None, arg_name, f"an instance of {_names(_as_tuple(classes))}", _got(arg_value))
    return arg_value


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    """`arg_value`, when it is an instance of `valid_types` (a bool only where bool is listed); TypeError otherwise.

    NaN is a ValueError.
    """
    valid_types = _as_tuple(valid_types)
    if not isinstance(arg_value, valid_types) or (isinstance(arg_value, bool) and bool not in valid_types):
        raise refusal(TypeError, prim_name, arg_name, _names(valid_types), _got(arg_value))
    if isinstance(arg_value, float) and math.isnan(arg_value):  # it would pass every `if value < 0` that follows
        raise refusal(ValueError, prim_name, arg_name, _names(valid_types), "NaN")
    return arg_value


def check_pad_value_by_mode(pad_mode, padding, prim_name):
    """`padding`, when `pad_mode` is "pad" or nothing is to be padded; ValueError otherwise."""
    if pad_mode != "pad" and padding != 0:
        raise refusal(
            ValueError, prim_name, "padding", "0 unless pad_mode is 'pad'", f"{padding!r} with pad_mode '{pad_mode}'"
        )
    return padding


def check_const_input(arg_name, arg_value, prim_name):
    """`arg_value`, when its value is known at compile time; ValueError when it is None."""
    if arg_value is None:
        raise refusal(ValueError, prim_name, arg_name, "a constant", "a value that is not known yet")
    return arg_value


def check_reduce_shape(ori_shape, shape, axis, prim_name):
    """Check that `shape` is `ori_shape` without the axes `axis`; ValueError otherwise."""
    axes = _as_tuple(axis)
    expected = [size for i, size in enumerate(ori_shape) if i not in axes]
    if list(shape) != expected:
        raise ValueError(
            f"For '{prim_name}', {tuple(ori_shape)} reduced over axis {axis} has shape {tuple(expected)}, "
            f"but got {tuple(shape)}."
        )


# --- MindSpore types --------------------------------------------------------------------------------------------------


def check_subclass(arg_name, type_, template_types, prim_name, addition_error_info=None):
    """Check that the type `type_` is, or belongs to the family of, one of `template_types`; TypeError otherwise."""
    templates = _as_tuple(template_types)
    if not any(type_ is t or (isinstance(t, mstype.Type) and mstype.issubclass_(type_, t)) for t in templates):
        family = f"of type {' or '.join(map(str, templates))}"
        more = f". {addition_error_info}" if addition_error_info else ""
        raise refusal(TypeError, prim_name, arg_name, family, f"{type_}{more}")


def check_type_name(arg_name, arg_type, valid_types, prim_name):
    """Element type of `arg_type`, when it is one of `valid_types`; TypeError otherwise."""
    valid_types = _as_tuple(valid_types)
    arg_type = _element(arg_type)
    if arg_type not in valid_types:
        raise refusal(TypeError, prim_name, arg_name, _names(valid_types), f"{_names((arg_type,))}")
    return arg_type


def _element(type_):
    return type_.element_type() if isinstance(type_, mstype.TensorType) else type_


def check_types_same_and_valid(args, valid_values, prim_name):
    """Check that the types in the dict `args` (name to type) are valid and all the same; TypeError otherwise."""
    for name, type_ in args.items():
        check_subclass(name, type_, valid_values, prim_name)
    _check_same(args, prim_name)


def _check_same(args, prim_name):
    (first, expected), *rest = args.items()
    for name, type_ in rest:
        if type_ != expected:
            raise TypeError(
                f"For '{prim_name}', '{name}' should have the same type as '{first}', {expected}, but got {type_}."
            )


def check_tensors_dtypes_same_and_valid(args, valid_dtypes, prim_name):
    """Check that the Tensor types in the dict `args` have valid element types, all the same; TypeError otherwise."""
    check_types_same_and_valid(args, [mstype.tensor_type(t) for t in _as_tuple(valid_dtypes)], prim_name)


def check_tensor_dtype_valid(arg_name, arg_type, valid_dtypes, prim_name):
    """Check that the Tensor type `arg_type` has a valid element type; TypeError otherwise."""
    check_subclass(arg_name, arg_type, [mstype.tensor_type(t) for t in _as_tuple(valid_dtypes)], prim_name)


def check_scalar_or_tensor_types_same(args, valid_values, prim_name, allow_mix=False):
    """Check that element types are valid and the same (Tensors beside scalars: `allow_mix`); TypeError otherwise."""
    for name, type_ in args.items():
        if _element(type_) not in valid_values:
            raise refusal(TypeError, prim_name, name, " or ".join(map(str, valid_values)), str(type_))
    _check_same({name: _element(type_) for name, type_ in args.items()} if allow_mix else args, prim_name)


class Validator:
    """r1.1's name for the checks of this module."""

    check_number = staticmethod(_check_named_number)

    # As older releases had them, which some networks for r1.1 still call: the argument's name comes first.

    @staticmethod
    def check_integer(arg_name, arg_value, value, rel, prim_name=None):
        """:func:`check_int` with the name first."""
        return check_int(arg_value, value, rel, arg_name, prim_name)

    @staticmethod
    def check_number_range(arg_name, arg_value, lower_limit, upper_limit, rel, prim_name=None):
        """:func:`check_float_range` with the name first, for int and float."""
        return check_number_range(arg_value, lower_limit, upper_limit, rel, (int, float), arg_name, prim_name)

    @staticmethod
    def check_float_positive(arg_name, arg_value, prim_name=None):
        """:func:`check_positive_float` with the name first."""
        return check_positive_float(arg_value, arg_name, prim_name)

    @staticmethod
    def check_float_legal_value(arg_name, arg_value, prim_name=None):
        """:func:`check_is_float` with the name first."""
        return check_is_float(arg_value, arg_name, prim_name)


for _check in [f for name, f in globals().items() if name == "check" or name.startswith("check_")]:
    if not hasattr(Validator, _check.__name__):
        setattr(Validator, _check.__name__, staticmethod(_check))


# --- data of a network ------------------------------------------------------------------------------------------------


def check_input_format(input_param):
    """`input_param`, when it is "NCHW"; ValueError otherwise."""
    if input_param != "NCHW":
        raise refusal(ValueError, None, "input_format", "'NCHW'", repr(input_param))
    return input_param


def check_input_data(*data, data_class):
    """Check that all of `data`, down lists, tuples and dicts, is a `data_class` and not empty; ValueError otherwise."""
    classes = data_class if isinstance(data_class, (tuple, list)) else (data_class,)
    for item in data:
        if isinstance(item, (list, tuple)):
            check_input_data(*item, data_class=data_class)
        elif isinstance(item, dict):
            check_input_data(*item.values(), data_class=data_class)
        elif not any(item is None if c is None else isinstance(item, c) for c in classes):
            raise ValueError(
                f"Inputs of the model should be {_names(classes)}, alone or in a tuple, list or dict, "
                f"but got {type(item).__name__}."
            )
        elif getattr(item, "size", None) == 0:
            raise ValueError("Inputs of the model should not be empty, but got one without elements.")


def check_output_data(data):
    """Check that a network returned something; RuntimeError when `data` is None."""
    if data is None:
        raise RuntimeError("The network returned None; does its construct end with a return statement?")


def _expander(n):
    def expand(value):
        if isinstance(value, int) and not isinstance(value, bool):
            return (value,) * n
        if (
            not isinstance(value, tuple)
            or len(value) != n
            or any(not isinstance(v, int) or isinstance(v, bool) for v in value)
        ):
            raise refusal(TypeError, None, None, f"an int or a tuple of {n} int", _got(value))
        return value

    expand.__doc__ = f"A tuple of {n} int from an int or such a tuple; TypeError otherwise."
    return expand


once, twice, triple = _expander(1), _expander(2), _expander(3)


def _check_3d_int_or_tuple(arg_name, arg_value, prim_name, allow_five=False, ret_five=False, greater_zero=True):
    """Sizes of the three spatial axes from an int, or 3 (or N, C and 3) of them; with `ret_five` N and C come first."""
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
            _got(arg_value),
        )
    return ((1, 1) + values if len(values) == 3 else values) if ret_five else values[-3:]


def args_type_check(*type_args, **type_kwargs):
    """Decorator: the named arguments should be None or have the given types; TypeError otherwise."""

    def decorate(func):
        signature = inspect.signature(func)
        expected = signature.bind_partial(*type_args, **type_kwargs).arguments
        expected.update(expected.pop("kwargs", {}))

        @wraps(func)
        def checked(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            for name, value in {**given, **given.get("kwargs", {})}.items():
                if name in expected and value is not None and not isinstance(value, expected[name]):
                    raise refusal(TypeError, func.__name__, name, _names(_as_tuple(expected[name])), _got(value))
            return func(*args, **kwargs)

        return checked

    return decorate
