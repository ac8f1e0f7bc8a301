"""Functions that choose, look up, order and compare elements, beside numpy on what is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from np_face.arrays import DRAWN, arrays, boxed, narrow, numbers, same

import msnb as ms
from msnb import Tensor
from msnb import numpy as mnp

few = settings(max_examples=DRAWN, deadline=None, derandomize=True)
REAL = ("float32", "int32", "float16", "int8")
rows = arrays((3,), (2, 3), dtypes=REAL)


@few
@given(arrays((3,), (2, 3), (1,), dtypes=("bool", "int32", "float32")), rows, rows)
def test_where_takes_from_one_or_the_other(condition, x, y):
    result = mnp.where(*boxed([condition, x, y]))
    same(result, np.where(condition, x, y), result.asnumpy().dtype)
    assert result.dtype == mnp.result_type(*boxed([x, y]))
    same(mnp.where(boxed(condition), 1, 2.5), np.where(condition, 1, 2.5), "float32")
    same(mnp.where(boxed(condition)), np.where(condition), "int64")
    same(mnp.argwhere(boxed(condition)), np.argwhere(condition), "int64")


@few
@given(rows, st.sampled_from([0, -1, 2.0]))
def test_the_first_choice_whose_condition_holds_is_selected(x, default):
    conditions, choices = [x < 1, x > 3, x == 2], [x, x * x, -x]
    same(mnp.select(boxed(conditions), boxed(choices), default), np.select(conditions, choices, default), x.dtype)
    a, b = numbers((2, 2, 3), "bool"), numbers((2, 3), "float32")
    same(mnp.select(boxed(a), boxed(b)), np.select(list(a), list(b)), "float32")


@few
@given(st.sampled_from([[0, 1, 1], [[0, 2, -1], [1, 1, 5]]]), st.sampled_from(["clip", "wrap"]), st.booleans())
def test_choices_are_taken_by_number(a, mode, as_tensor):
    choices = numbers((2, 3))
    given_ = boxed(choices) if as_tensor else choices.tolist()
    same(mnp.choose(a, given_, mode), np.choose(a, choices, mode=mode), "float32")


@few
@given(rows, st.sampled_from([0, [0, 2], [[1, -1], [4, -7]]]), st.sampled_from([None, 0, -1]), st.booleans())
def test_elements_are_taken_at_indices(x, indices, along, wrap):
    mode = "wrap" if wrap else "clip"
    same(mnp.take(boxed(x), indices, along, mode), np.take(x, indices, along, mode=mode))


@few
@given(arrays((2, 3), dtypes=REAL), st.sampled_from([0, 1, -1]))
def test_elements_are_taken_along_an_axis(x, along):
    order = np.argsort(x, along)
    same(mnp.take_along_axis(boxed(x), boxed(order), along), np.take_along_axis(x, order, along))
    row = np.array([[0, -1]]) if along != 0 else np.array([[1, 0, -2]])
    same(mnp.take_along_axis(boxed(x), boxed(row), along), np.take_along_axis(x, row, along))
    same(mnp.take_along_axis(boxed(x), [1, 5, 0], None), np.take_along_axis(x, np.array([1, 5, 0]), None))


def test_what_lies_outside_is_refused():
    x = mnp.ones((2, 3))
    for error, call in (
        (ValueError, lambda: mnp.take(x, [0], mode="raise")),
        (ValueError, lambda: mnp.take(x, [0], 5)),
        (TypeError, lambda: mnp.take(x, [0.5])),
        (ValueError, lambda: mnp.take_along_axis(x, Tensor([1]), 0)),
        (RuntimeError, lambda: mnp.take_along_axis(x, Tensor([[3]]), 1)),
        (ValueError, lambda: mnp.select([[True]], [[1], [2]])),
        (TypeError, lambda: mnp.choose([0.5], [[1]])),
        (ValueError, lambda: mnp.choose([0], 3)),
        (TypeError, lambda: mnp.where([True], 1)),
        (ValueError, lambda: mnp.searchsorted([[1]], 1)),
        (ValueError, lambda: mnp.searchsorted([1], 1, "middle")),
        (ValueError, lambda: mnp.unravel_index(3, (7,), "X")),
        (TypeError, lambda: mnp.unravel_index(1.5, (7,))),
        (TypeError, lambda: mnp.ravel_multi_index(([1.0],), (2,))),
        (ValueError, lambda: mnp.ravel_multi_index(([1],), (2, 3))),
        (TypeError, lambda: mnp.setdiff1d([1], [1], 2)),
        (TypeError, lambda: mnp.intersect1d([1], [1], return_indices=1)),
        (TypeError, lambda: mnp.argmax([1, 2], 0.5)),
        (ValueError, lambda: mnp.argmin([1, 2], 3)),
        (ValueError, lambda: mnp.size([1], 3)),
        (ValueError, lambda: mnp.apply_along_axis(lambda v: v, 5, x)),
        (ValueError, lambda: mnp.apply_over_axes(lambda a, axis: a.sum(), x, 0)),
        (ValueError, lambda: mnp.piecewise(x, [x > 1], [1, 2, 3])),
    ):
        with pytest.raises(error):
            call()


@few
@given(arrays((3,), (2, 3), (2, 1, 3), dtypes=("float32", "int32", "bool")), st.sampled_from([None, 0, -1]))
def test_extremes_are_where_numpy_has_them(x, along):
    same(mnp.argmax(boxed(x), along), np.argmax(x, along), "int64")
    same(mnp.argmin(boxed(x), along), np.argmin(x, along), "int32")
    assert mnp.size(boxed(x), along) == np.size(x, along)


@few
@given(arrays((), (3,), (2, 3), dtypes=REAL), st.sampled_from(["left", "right"]))
def test_values_are_searched_as_numpy_does(v, side):
    a = np.array([1, 3, 3, 5], "float32")
    same(mnp.searchsorted(boxed(a), boxed(v), side), np.searchsorted(a, v, side), "int32")
    order = [3, 0, 2, 1]
    a = np.array([3, 5, 5, 1], "float32")
    same(mnp.searchsorted(boxed(a), boxed(v), side, order), np.searchsorted(a, v, side, order), "int32")


@few
@given(arrays((3,), (2, 3), (0, 2), dtypes=("float32", "int32", "int64", "bool")), rows)
def test_sets_are_numpys(x, y):
    values, inverse = np.unique(x, return_inverse=True)
    same(mnp.unique(boxed(x)), values)
    result = mnp.unique(boxed(x), True)
    same(result[0], values)
    same(result[1], inverse.ravel(), "int64" if x.dtype == "int64" else "int32")
    for invert in (False, True):
        same(mnp.isin(boxed(x), boxed(y), invert), np.isin(x, y, invert=invert))
        same(mnp.in1d(boxed(x), boxed(y), invert), np.isin(x, y, invert=invert).ravel())
    same(mnp.setdiff1d(boxed(x), boxed(y)), np.setdiff1d(x, y))
    one, other = (np.unique(v) for v in (x, y))
    same(mnp.setdiff1d(boxed(one), boxed(other), True), np.setdiff1d(one, other, True))
    want = np.intersect1d(x, y, return_indices=True)
    got = mnp.intersect1d(boxed(x), boxed(y), return_indices=True)
    same(got[0], want[0], got[0].asnumpy().dtype)
    same(got[1:], want[1:], "int32")
    same(mnp.intersect1d([1, 2], [2, 3]), np.array([2]), "int32")


@few
@given(st.sampled_from([3, [22, 41, 37], [[0, -1]], [-42]]), st.sampled_from(["C", "F"]))
def test_indices_are_counted_through_and_along_the_dimensions(flat, order):
    inside = np.where(np.asarray(flat) < 0, np.asarray(flat) + 42, flat)
    same(mnp.unravel_index(flat, (7, 6), order), np.unravel_index(inside, (7, 6), order), "int32")
    positions = np.unravel_index(inside, (7, 6), order)
    same(mnp.ravel_multi_index(boxed(positions), (7, 6), order=order), inside, "float32")
    outside = ([3, -1], [9, 2])
    for mode in ("clip", "wrap"):
        want = np.ravel_multi_index(outside, (7, 6), mode, order)
        same(mnp.ravel_multi_index(outside, (7, 6), mode, order), want, "float32")
    same(mnp.unravel_index(99, (7, 6)), np.unravel_index(41, (7, 6)), "int32")  # numpy refuses, MindSpore clips


def test_functions_are_applied_as_numpy_applies_them():
    x = numbers((2, 3, 2))
    for along in (0, 1, -1):
        for by_numpy, by_us in (
            (lambda v: v[0] + v[-1], lambda v: v[0] + v[-1]),
            (lambda v: v[:2] * 2, lambda v: v[:2] * 2),
            (lambda v: np.outer(v, v), lambda v: v.expand_dims(1) * v),
        ):
            same(mnp.apply_along_axis(by_us, along, boxed(x)), np.apply_along_axis(by_numpy, along, x))
    for axes in (0, [0, 2], (1, -1)):
        same(mnp.apply_over_axes(lambda a, axis: a.sum(axis), boxed(x), axes), np.apply_over_axes(np.sum, x, axes))
    v = numbers((5,)) - 2
    for pieces in ([-1.0, 1.0], [lambda t: -t, lambda t: t * 2, 7.0]):
        want = np.piecewise(v, [v < 0, v > 1], pieces)
        same(mnp.piecewise(boxed(v), boxed([v < 0, v > 1]), pieces), want, "float32")
    same(mnp.piecewise(boxed(v), boxed(v < 0), [3, 4]), np.piecewise(v, v < 0, [3, 4]), "int32")


@few
@given(arrays((2, 3), (2, 3, 2), dtypes=("float32", "int32", "bool", "int8")), st.integers(-1, 2))
def test_the_trace_is_numpys(x, offset):
    dtype = {"int32": "int64", "int8": "int64"}.get(str(x.dtype), x.dtype)
    want = np.trace(x, offset)
    same(mnp.trace(boxed(x), offset), want != 0 if x.dtype == bool else want, dtype)
    same(mnp.trace(boxed(x), offset, 1, 0, "float32"), np.trace(x, offset, 1, 0), "float32")


def test_results_are_tensors_and_narrow_numbers_come_in():
    assert isinstance(mnp.size([1, 2]), int) and mnp.select([[True]], [[2.5]]).dtype == ms.float32
    assert narrow(mnp.take([1, 2], 0).asnumpy()) == "int32"
