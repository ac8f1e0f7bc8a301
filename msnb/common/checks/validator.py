"""`Validator`: the checks of numbers, values and types, as methods of a class that programs for r1.1 use."""

from msnb.common.checks import dtypes, numbers, values
from msnb.common.checks.numbers import (
    check_finite,
    check_int,
    check_is_float,
    check_number_range,
    check_positive_float,
)
from msnb.common.checks.relations import Rel
from msnb.common.checks.words import got
from msnb.common.kinds import refusal


def _check_number(arg_name, arg_value, value, rel, prim_name):
    check_finite(arg_value, arg_name, prim_name)
    if not Rel.get_fns(rel)(arg_value, value):
        raise refusal(ValueError, prim_name, arg_name, Rel.get_strs(rel).format(value), got(arg_value))
    return arg_value


class Validator:
    """The checks of this package, as methods under r1.1's names."""

    check_number = staticmethod(_check_number)

    # Methods of older releases, which some networks for r1.1 call. Their first argument is the argument's name.

    @staticmethod
    def check_integer(arg_name, arg_value, value, rel, prim_name=None):
        """Call :func:`check_int`."""
        return check_int(arg_value, value, rel, arg_name, prim_name)

    @staticmethod
    def check_number_range(arg_name, arg_value, lower_limit, upper_limit, rel, prim_name=None):
        """Call `numbers.check_number_range` for an int or a float."""
        return check_number_range(arg_value, lower_limit, upper_limit, rel, (int, float), arg_name, prim_name)

    @staticmethod
    def check_float_positive(arg_name, arg_value, prim_name=None):
        """Call :func:`check_positive_float`."""
        return check_positive_float(arg_value, arg_name, prim_name)

    @staticmethod
    def check_float_legal_value(arg_name, arg_value, prim_name=None):
        """Call :func:`check_is_float`."""
        return check_is_float(arg_value, arg_name, prim_name)


for _room in (numbers, values, dtypes):
    for _name, _check in vars(_room).items():
        if (_name == "check" or _name.startswith("check_")) and not hasattr(Validator, _name):
            setattr(Validator, _name, staticmethod(_check))
