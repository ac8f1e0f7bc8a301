"""Re-export module of ``Validator`` and ``Rel``: argument checks, under the names that networks written for r1.1
import.

These checks run in constructors, never per call of an operator.
"""

# ruff: noqa: F401 - networks for r1.1 import any of them
from msnb.common.checks.dtypes import (
    check_scalar_or_tensor_types_same,
    check_subclass,
    check_tensor_dtype_valid,
    check_tensors_dtypes_same_and_valid,
    check_type_name,
    check_types_same_and_valid,
)
from msnb.common.checks.network import check_input_data, check_input_format, check_output_data
from msnb.common.checks.numbers import (
    check,
    check_equal_int,
    check_finite,
    check_float,
    check_float_range,
    check_int,
    check_int_range,
    check_is_float,
    check_is_int,
    check_is_number,
    check_negative_float,
    check_negative_int,
    check_non_negative_float,
    check_non_negative_int,
    check_non_positive_float,
    check_non_positive_int,
    check_number,
    check_number_range,
    check_positive_float,
    check_positive_int,
)
from msnb.common.checks.relations import (
    EQ,
    GE,
    GT,
    IN,
    INC_BOTH,
    INC_LEFT,
    INC_NEITHER,
    INC_RIGHT,
    LE,
    LT,
    NE,
    NOT_IN,
    Rel,
    rel_fns,
    rel_strs,
)
from msnb.common.checks.validator import Validator
from msnb.common.checks.values import (
    _check_3d_int_or_tuple,
    _expand_tuple,
    args_type_check,
    check_and_canonicalize_axes,
    check_bool,
    check_const_input,
    check_file_name_by_regular,
    check_isinstance,
    check_pad_value_by_mode,
    check_reduce_shape,
    check_str_by_regular,
    check_string,
    check_value_type,
    once,
    triple,
    twice,
)

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
