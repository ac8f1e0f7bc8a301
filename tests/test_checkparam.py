"""Checks of arguments: which error class, and what the message says."""

import numpy as np
import pytest

from msnb._checkparam import (
    Rel,
    Validator,
    _check_3d_int_or_tuple,
    _expand_tuple,
    args_type_check,
    check_input_data,
    check_output_data,
    once,
    twice,
)
from msnb.common import dtype as mstype

V = Validator


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: V.check_positive_int(0, "in_channels", "Dense"), ValueError),
        (lambda: V.check_positive_int(3.0, "in_channels", "Dense"), TypeError),
        (lambda: V.check_positive_int(True, "in_channels", "Dense"), TypeError),
        (lambda: V.check_non_negative_int(-1), ValueError),
        (lambda: V.check_is_int("3", "n"), TypeError),
        (lambda: V.check_int(5, 3, Rel.LE, "n"), ValueError),
        (lambda: V.check_equal_int(5, 3, "n"), ValueError),
        (lambda: V.check_positive_float(float("nan"), "lr"), ValueError),
        (lambda: V.check_positive_float(1, "lr"), TypeError),
        (lambda: V.check_float_range(1.5, 0.0, 1.0, Rel.INC_BOTH, "momentum", "Momentum"), ValueError),
        (lambda: V.check_float_range("a", 0.0, 1.0, Rel.INC_BOTH), TypeError),
        (lambda: V.check_int_range(4, 0, 4, Rel.INC_LEFT, "axis"), ValueError),
        (lambda: V.check_bool(1, "has_bias"), TypeError),
        (lambda: V.check_string("full", ["same", "valid"], "pad_mode"), ValueError),
        (lambda: V.check_value_type("x", True, [int], "Op"), TypeError),
        (lambda: V.check_value_type("x", 3, (str, float), "Op"), TypeError),
        (lambda: V.check_isinstance("x", 3, str), ValueError),
        (lambda: V.check("a shape", (2, 3), "b shape", (3, 2), Rel.EQ, "Add"), ValueError),
        (lambda: V.check("a", 1, "b", 2, Rel.EQ, "Add", TypeError), TypeError),
        (lambda: V.check_number("x", 3, 4, Rel.GT, "Op"), ValueError),
        (lambda: V.check_pad_value_by_mode("same", 1, "Conv2D"), ValueError),
        (lambda: V.check_subclass("x", mstype.int32, mstype.float_, "Op"), TypeError),
        (lambda: V.check_tensor_dtype_valid("x", mstype.tensor_type(mstype.bool_), [mstype.int32], "Op"), TypeError),
        (lambda: V.check_type_name("x", mstype.int8, [mstype.int32], "Op"), TypeError),
        (lambda: V.check_const_input("x", None, "Op"), ValueError),
        (lambda: V.check_reduce_shape((2, 3), (2,), 0, "Op"), ValueError),
        (lambda: V.check_str_by_regular("a b"), ValueError),
        (lambda: V.check_file_name_by_regular("a?b"), ValueError),
    ],
)
def test_a_wrong_value_raises_the_error_of_r1_1(call, error):
    with pytest.raises(error):
        call()


def test_a_right_value_comes_back():
    assert V.check_positive_int(3, "n") == 3
    assert V.check_float_range(0.5, 0.0, 1.0, Rel.INC_NEITHER) == 0.5
    assert V.check_value_type("x", True, [bool, int]) is True
    assert V.check_value_type("x", "s", str) == "s"
    assert V.check_string("same", ("same", "valid")) == "same"
    assert V.check_type_name("x", mstype.tensor_type(mstype.int32), [mstype.int32], "Op") == mstype.int32
    assert V.check("x", 3, "y", 2, Rel.GT) == 3
    V.check_tensors_dtypes_same_and_valid({"x": mstype.tensor_type(mstype.int32)}, mstype.int_type, "Op")
    V.check_reduce_shape((2, 3, 4), (3,), (0, 2), "Op")


def test_the_message_names_operator_argument_expectation_and_value():
    with pytest.raises(ValueError, match=r"For 'Dense', 'in_channels' should be int and > 0, but got 0 \(int\)"):
        V.check_positive_int(0, "in_channels", "Dense")


def test_the_checks_of_older_releases_take_the_name_first():
    assert V.check_float_positive("lr", 0.1, "Adam") == V.check_float_legal_value("lr", 0.1) == 0.1
    assert V.check_integer("steps", 3, 0, Rel.GT, "decay") == 3
    assert V.check_number_range("scale", 2, 1.0, float("inf"), Rel.INC_LEFT) == 2
    with pytest.raises(ValueError, match="'lr'"):
        V.check_float_positive("lr", -0.1, "Adam")
    with pytest.raises(TypeError, match="int or float"):
        V.check_number_range("scale", "2", 1.0, 3.0, Rel.INC_LEFT)


def test_types_that_should_agree_are_named_when_they_do_not():
    types = {"x": mstype.tensor_type(mstype.int32), "y": mstype.tensor_type(mstype.float32)}
    with pytest.raises(TypeError, match="'y' should have the same type as 'x'"):
        V.check_tensors_dtypes_same_and_valid(types, mstype.number_type, "Add")
    mixed = {"x": mstype.tensor_type(mstype.int32), "y": mstype.int32}
    V.check_scalar_or_tensor_types_same(mixed, mstype.number_type, "Add", allow_mix=True)
    with pytest.raises(TypeError):
        V.check_scalar_or_tensor_types_same(mixed, mstype.number_type, "Add")


@pytest.mark.parametrize(
    ("rel", "inside", "outside"),
    [
        (Rel.INC_NEITHER, [0.5], [0, 1]),
        (Rel.INC_LEFT, [0], [1]),
        (Rel.INC_RIGHT, [1], [0]),
        (Rel.INC_BOTH, [0, 1], [2]),
    ],
)
def test_intervals_have_the_ends_their_names_say(rel, inside, outside):
    holds = Rel.get_fns(rel)
    assert all(holds(x, 0, 1) for x in inside) and not any(holds(x, 0, 1) for x in outside)


def test_int_or_tuple_becomes_a_tuple():
    assert twice(3) == (3, 3) and twice((1, 2)) == (1, 2) and once(5) == (5,)
    for wrong in ("a", (1,), (1.0, 2), True):
        with pytest.raises(TypeError):
            twice(wrong)
    assert _check_3d_int_or_tuple("k", 2, "Conv3D", ret_five=True) == (1, 1, 2, 2, 2)
    assert _check_3d_int_or_tuple("k", (1, 1, 2, 3, 4), "Conv3D", allow_five=True) == (2, 3, 4)
    with pytest.raises(ValueError):
        _check_3d_int_or_tuple("k", (1, 2), "Conv3D")


def test_data_of_a_network_is_looked_through():
    array = np.ones(3)
    check_input_data(array, [array, (array,)], {"a": array}, data_class=np.ndarray)
    check_input_data(array, None, data_class=(np.ndarray, None))
    with pytest.raises(ValueError, match="int"):
        check_input_data([array, 3], data_class=np.ndarray)
    with pytest.raises(ValueError, match="empty"):
        check_input_data(np.ones(0), data_class=np.ndarray)
    check_output_data(array)
    with pytest.raises(RuntimeError):
        check_output_data(None)


def test_a_number_is_expanded_to_a_tuple():
    assert _expand_tuple(2)(3) == (3, 3) and _expand_tuple(3)((1, 2, 3)) == (1, 2, 3)
    for wrong in (1.5, True, (1,), (1, 2.0)):
        with pytest.raises(TypeError):
            _expand_tuple(2)(wrong)


def test_the_decorator_checks_keyword_arguments_too():
    @args_type_check(a=int, b=str)
    def function(a, **kwargs):
        return a, kwargs

    assert function(1, b="x") == (1, {"b": "x"})
    assert function(None) == (None, {})
    with pytest.raises(TypeError, match="'b' should be str"):
        function(1, b=2)
