"""Errors of a graph name the line, the variable, the two types, and the code to write instead."""

import contextlib

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ops

F32 = np.float32
X = Tensor(F32([1.0, 2.0, 3.0]))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def _message(f, *args):
    with pytest.raises((TypeError, UnboundLocalError, ValueError)) as info:
        ms.ms_function(f)(*args)
    return str(info.value)


def test_branches_of_other_dtype_shape_or_kind_name_line_variable_and_both_types():
    def dtype(x):
        if x.sum() > 0:
            y = x
        else:
            y = x > 1
        return y

    def shape(x):
        return x if x.sum() > 0 else x[1:]

    def kind(x):
        y = None
        if x.sum() > 0:
            y = x
        return y

    for f, words in ((dtype, ("'y'", "Float32", "Bool")), (shape, ("(3,)", "(2,)")), (kind, ("'y'", "None"))):
        text = _message(f, X)
        assert all(w in text for w in (*words, "test_teaching_errors.py:")), text


def test_a_variable_born_in_one_branch_says_so_when_it_is_used():
    def f(x):
        if x.sum() > 0:
            z = x
        return z

    assert "'z' is assigned in only one branch" in _message(f, X)


def test_a_missing_return_is_named():
    def f(x):
        if x.sum() > 0:
            return x

    assert "Missing return statement in function 'f'" in _message(f, X)


def test_a_loop_that_changes_a_shape_is_named():
    def f(x, n):
        while n > 0:
            x = x[1:]
            n = n - 1
        return x

    text = _message(f, X, Tensor(1))
    assert "'x'" in text and "before the loop" in text


def test_a_tensor_as_bool_in_library_code_says_where_and_what_instead():
    def f(x):
        return x if sorted([x.sum() > 0, x.sum() > 1])[0] is None else x

    assert "select" in _message(f, X)


def test_a_generator_that_branches_on_a_tensor_is_named():
    def countdown(x):
        while x > 0:
            yield x
            x = x - 1

    text = _message(lambda x: sum(countdown(x)), Tensor(3.0))
    assert "generator 'countdown'" in text and "test_teaching_errors.py:" in text


def test_a_graph_function_that_is_a_generator_or_async_is_refused():
    def yields(x):
        yield x

    assert "yields is a generator" in _message(yields, X)


def test_a_comprehension_whose_length_depends_on_a_tensor_says_what_to_write():
    text = _message(lambda x: [a for a in (1, 2, 3) if x > a], Tensor(2.0))
    assert "comprehension" in text and "select" in text


def test_a_handler_around_a_raise_that_depends_on_a_tensor_is_refused_instead_of_ignored():
    def f(x):
        try:
            if x > 3:
                raise ValueError("large")
        except ValueError:
            x = x * 2
        return x

    text = _message(f, Tensor(5.0))
    assert "cannot catch it" in text and f"test_teaching_errors.py:{f.__code__.co_firstlineno + 3}" in text


def test_break_inside_with_and_try_finally_under_a_tensor_condition_work():
    def f(x):
        for _ in range(3):
            with contextlib.nullcontext():
                try:
                    if x > 2:
                        break
                    x = x + 1
                finally:
                    x = x + 10
        return x

    for start in (0.0, 3.0):
        assert float(ms.ms_function(f)(Tensor(start)).asnumpy()) == float(f(start))


def test_global_writes_and_missing_sources_are_refused():
    def writes(x):
        global _nothing
        _nothing = x
        return x

    with pytest.raises(SyntaxError, match="global"):
        ms.ms_function(writes)(X)
    space = {}
    exec("def nowhere(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", {"__name__": "user"}, space)
    with pytest.raises(OSError, match="source"):
        ms.ms_function(space["nowhere"])(X)


def test_a_traceback_points_at_the_users_line():
    def f(x):
        y = x + 1
        return ops.MatMul()(y, Tensor(np.ones((4, 4), F32)))

    with pytest.raises(ValueError) as info:
        ms.ms_function(f)(Tensor(np.ones((2, 3), F32)))
    lines = [e.lineno for e in info.traceback if e.path.name == "test_teaching_errors.py"]
    assert f.__code__.co_firstlineno + 1 == lines[-1]
