"""Tensors out of numbers, lists and shapes: values are numpy's, element types MindSpore's (int32 and float32)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from np_face.arrays import DRAWN, arrays, boxed, narrow, numbers, same

import msnb as ms
from msnb import Tensor, context
from msnb import numpy as mnp

few = settings(max_examples=DRAWN, deadline=None, derandomize=True)
TYPES = ("float32", "int32", "bool", "uint8", "float16")
shapes = st.sampled_from([3, (), (2, 3), [2, 1], 0, (0, 2)])
types = st.sampled_from([*TYPES, mnp.float64, int, float, bool])
NUMPY_TYPE = {int: "int32", float: "float32", bool: "bool", mnp.float64: "float64"}


@few
@given(shapes, types, st.sampled_from(["zeros", "ones", "empty"]))
def test_a_shape_is_filled_with_one_number(shape, dtype, name):
    result = getattr(mnp, name)(shape, dtype)
    same(result, np.ones(shape) if name == "ones" else np.zeros(shape), NUMPY_TYPE.get(dtype, dtype))
    assert getattr(mnp, name)(shape).dtype == ms.float32


@few
@given(arrays(dtypes=TYPES), st.none() | shapes, st.none() | st.sampled_from(TYPES))
def test_arrays_like_a_tensor_has_its_shape_and_type(x, shape, dtype):
    for name, extra in (("zeros_like", ()), ("ones_like", ()), ("full_like", (2,)), ("empty_like", ())):
        by_numpy = getattr(np, "zeros_like" if name == "empty_like" else name)
        same(getattr(mnp, name)(boxed(x), *extra, dtype, shape), by_numpy(x, *extra, dtype=dtype, shape=shape))
    same(mnp.zeros_like([[1, 2]]), np.zeros((1, 2)), "int32")
    same(mnp.ones_like(3.0), np.ones(()), "float32")


@few
@given(shapes, st.sampled_from([5, 2.5, True, -1]), st.none() | types)
def test_full_has_the_type_of_its_value(shape, value, dtype):
    want = np.full(shape, value, None if dtype is None else NUMPY_TYPE.get(dtype, dtype))
    same(mnp.full(shape, value, dtype), want, narrow(want) if dtype is None else want.dtype)


def test_full_takes_values_that_broadcast():
    same(mnp.full((2, 2), [1, 2]), np.full((2, 2), [1, 2]), "int32")
    same(mnp.full((2, 3), boxed(numbers((2, 1)))), np.broadcast_to(numbers((2, 1)), (2, 3)))
    same(mnp.full(2, boxed(numbers((2,))), "int8"), numbers((2,), "int8"))


whole, real = st.integers(-4, 9), st.sampled_from([-1.5, 0.25, 2.0, 4.75])


@few
@given(
    st.one_of(st.tuples(whole), st.tuples(whole, whole), st.tuples(whole | real, whole, st.sampled_from([1, -2, 0.5])))
)
def test_arange_counts_as_numpy_does(ends):
    want = np.arange(*ends)
    same(mnp.arange(*ends), want, narrow(want), 1e-6)


def test_arange_takes_its_arguments_by_name():
    same(mnp.arange(start=3, step=0.1), np.arange(3, step=0.1), "float32", 1e-6)
    same(mnp.arange(3, dtype="int8"), np.arange(3), "int8")
    same(mnp.arange(0, 5, 0.5, dtype=mnp.int32), np.arange(0, 5, 0.5).astype(int), "int32")


bounds = st.sampled_from([(2.0, 3.0), (0, 5), (2.0, [3, 4, 5]), ([1.0, 2.0], [[3.0], [4.0]])])


@few
@given(bounds, st.sampled_from([1, 2, 5]), st.booleans(), st.sampled_from([0, -1]), st.booleans())
def test_numbers_between_bounds_are_numpys(pair, num, endpoint, axis, as_tensors):
    given_ = [Tensor(np.array(b, np.float32)) for b in pair] if as_tensors else pair
    for name, within in (("linspace", 1e-6), ("logspace", 3e-6), ("geomspace", 3e-6)):
        if name == "geomspace" and 0 in pair:
            continue
        if name == "geomspace" and as_tensors and num == 1 and endpoint:
            continue  # a start alone
        want = getattr(np, name)(*pair, num, endpoint, axis=axis)
        same(getattr(mnp, name)(*given_, num, endpoint, axis=axis), want, "float32", within if as_tensors else 1e-7)
    samples, step = mnp.linspace(*given_, num, endpoint, True, axis=axis)
    want, gap = np.linspace(*pair, num, endpoint, True, axis=axis)
    same(samples, want, "float32", 1e-6)
    np.testing.assert_allclose(step.asnumpy() if isinstance(step, Tensor) else step, gap, rtol=1e-6)


def test_integers_between_bounds_are_rounded_down():
    for ends in ((0, -5), (Tensor(0.0), Tensor(-5.0))):
        same(mnp.linspace(*ends, 4, dtype=mnp.int32), np.linspace(0, -5, 4, dtype="int32"))


@few
@given(st.integers(0, 4), st.none() | st.integers(0, 4), st.integers(-3, 4), st.sampled_from(TYPES))
def test_matrices_of_ones_are_numpys(n, m, k, dtype):
    same(mnp.eye(n, m, k, dtype), np.eye(n, m, k, dtype))
    same(mnp.tri(n, m, k, dtype), np.tri(n, m, k, dtype))
    same(mnp.identity(n, dtype), np.identity(n, dtype))


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows_are_numpys(name):
    for count in (-1, 0, 1, 2, 7, 12):
        same(getattr(mnp, name)(count), getattr(np, name)(count), "float32", 1e-7)
    with pytest.raises(TypeError, match=f"'{name}', 'M' should be an int"):
        getattr(mnp, name)(2.5)


GRIDS = ["0:3", "0:2, 0:3", "0:3:2, -1:1", "-1:1:5j", "0:1:3j, 2:0:-1", "0.5:2"]


@pytest.mark.parametrize("text", GRIDS)
def test_grids_are_numpys(text):
    keys = eval(f"np.s_[{text}]")
    kinds = ["float32" if "j" in axis or "." in axis else "int32" for axis in text.split(", ")]
    same(mnp.mgrid[keys], np.mgrid[keys], max(kinds, key="float32".__eq__), 1e-6)
    if len(kinds) == 1:
        same(mnp.ogrid[keys], np.ogrid[keys], kinds[0], 1e-6)
    else:  # a list, and each axis has its own type, as in MindSpore 2.7.1
        assert type(mnp.ogrid[keys]) is list
        for axis, want, kind in zip(mnp.ogrid[keys], np.ogrid[keys], kinds, strict=True):
            same(axis, want, kind, 1e-6)
    with pytest.raises(TypeError, match="mgrid"):
        mnp.mgrid[Tensor(3)]


@few
@given(st.integers(0, 4), st.integers(-3, 3), st.none() | st.integers(0, 4))
def test_indices_of_triangles_and_diagonals_are_numpys(n, k, m):
    for name in ("tril_indices", "triu_indices"):
        same(getattr(mnp, name)(n, k, m), getattr(np, name)(n, k, m), "int32")
        matrix = np.zeros((n, n if m is None else m))
        same(getattr(mnp, f"{name}_from")(Tensor(matrix), k), getattr(np, f"{name}_from")(matrix, k), "int32")
    same(mnp.diag_indices(n, 3), np.diag_indices(n, 3), "int32")
    same(mnp.indices((n, 2)), list(np.indices((n, 2))), "int32")
    same(mnp.indices((n, 2), mnp.float32, True), np.indices((n, 2), "float32", True))


def test_ix_picks_the_block_that_numpy_picks():
    x = numbers((3, 4))
    first, second = mnp.ix_([0, 2], [1, 3])
    same(boxed(x)[first, second], x[np.ix_([0, 2], [1, 3])])
    with pytest.raises(ValueError, match="'args\\[1\\]' should be a vector"):
        mnp.ix_([0], [[1]])


LISTS = [1, 1.5, True, [1, 2], [1, 2.5], (True, False), [(1, 2), [3, 4]], [], [[1.0, 2], [3, 4]]]


@pytest.mark.parametrize("value", LISTS, ids=repr)
def test_lists_and_numbers_become_narrow_tensors(value):
    want = np.asarray(value)
    for name in ("array", "asarray", "copy"):
        same(getattr(mnp, name)(value), want, narrow(want))
    same(mnp.asfarray(value), want, "float32")
    same(mnp.asarray(value, "float16"), want, "float16")


def test_arrays_of_numpy_become_tensors_alone_and_in_lists():
    for dtype, expected in (("float64", "float32"), ("int64", "int32"), ("bool", "bool"), ("uint8", "uint8")):
        same(mnp.asarray(numbers((2, 3), dtype)), numbers((2, 3), dtype), expected)
    same(mnp.array([(np.ones(3), mnp.ones(3)), [[1, 1, 1], (1, 1, 1)]]), np.ones((2, 2, 3)), "float32")
    assert mnp.asarray(np.array([2**40])).dtype == ms.int64


def test_a_tensor_is_copied_by_array_and_not_by_asarray():
    x = boxed(numbers((2, 3)))
    assert mnp.asarray(x) is x and mnp.array(x, copy=False) is x
    for result in (mnp.array(x), mnp.copy(x)):
        assert result is not x and result.dtype == x.dtype
        result[0] = 7.0
        same(x, numbers((2, 3)))
    same(mnp.array(3, ndmin=2), np.array([[3]]), "int32")
    assert mnp.asfarray(x.astype(ms.float64), None).dtype == ms.float64
    assert mnp.asfarray(x, mnp.int32).dtype == ms.float32
    assert mnp.array_str(x) == str(x)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), ((2, 3),), ([4],)], ids=repr)
def test_random_numbers_have_the_shape_and_the_type_asked_for(shape):
    size = (1,) if not shape else tuple(shape[0]) if isinstance(shape[0], (tuple, list)) else shape
    for result in (mnp.rand(*shape), mnp.randn(*shape)):
        assert result.shape == size and result.dtype == ms.float32
    assert mnp.rand(2, dtype="float16").dtype == ms.float16
    assert mnp.randint(3, 5, size, mnp.int8).dtype == ms.int8


def test_random_numbers_lie_where_they_should_and_repeat_with_the_seed():
    ms.set_seed(3)
    first = [mnp.rand(400).asnumpy(), mnp.randn(400).asnumpy(), mnp.randint(-2, 3, 400).asnumpy()]
    assert first[0].min() >= 0 and first[0].max() < 1 and abs(first[0].mean() - 0.5) < 0.1
    assert abs(first[1].mean()) < 0.2 and abs(first[1].std() - 1) < 0.2
    assert set(first[2].tolist()) == {-2, -1, 0, 1, 2} and set(mnp.randint(2, shape=50).asnumpy().tolist()) == {0, 1}
    ms.set_seed(3)
    np.testing.assert_array_equal(mnp.rand(400).asnumpy(), first[0])


REFUSED = {
    "zeros((2.0,))": TypeError,
    "zeros((-1,))": ValueError,
    "zeros(2, 'x')": TypeError,
    "full(2, 'a')": TypeError,
    "eye(2.0)": TypeError,
    "tri(-1)": ValueError,
    "identity('3')": TypeError,
    "arange('a')": TypeError,
    "arange(0, 3, 0)": ValueError,
    "linspace(0, 1, num=2.5)": TypeError,
    "linspace(0, 1, -1)": ValueError,
    "linspace(0, 1, 2, axis=3)": ValueError,
    "logspace(0, 1, base='e')": TypeError,
    "geomspace(0, 1)": ValueError,
    "asarray({1, 2})": TypeError,
    "array([[1], [1, 2]])": ValueError,
    "array([1], 'complex')": TypeError,
    "array_str([1])": TypeError,
    "rand(2, dtype=mnp.int32)": ValueError,
    "randint(5, 3)": ValueError,
    "randint(2.5)": TypeError,
    "tril_indices('a')": TypeError,
    "triu_indices_from([1])": ValueError,
    "diag_indices(2.5)": TypeError,
    "indices(3)": TypeError,
    "expand_dims(mnp.ones((3, 3)), 1.2)": TypeError,
    "swapaxes(mnp.ones((3, 3)), 1, 10)": ValueError,
    "rollaxis(mnp.ones((3, 3)), 5)": ValueError,
    "reshape(mnp.ones(3), (2, -1))": ValueError,
    "squeeze(mnp.ones((2, 1)), 0)": ValueError,
    "transpose(mnp.ones((2, 1)), (0,))": ValueError,
    "moveaxis(mnp.ones((2, 1)), (0, 1), (0,))": ValueError,
    "broadcast_to(mnp.ones((2, 3)), (2, 2))": ValueError,
    "tile([1], 1.5)": TypeError,
    "repeat(mnp.ones((2, 2)), [1, 2, 3], 0)": ValueError,
    "rot90(mnp.ones((2, 2)), 1, (0, 0))": ValueError,
    "flip(mnp.ones(2), 3)": ValueError,
    "fliplr([1, 2])": ValueError,
    "roll(mnp.ones((2, 2)), (1, 2, 3), (0, 1))": ValueError,
    "concatenate(())": ValueError,
    "concatenate(3)": TypeError,
    "stack([[1], [1, 2]])": ValueError,
    "vstack(None)": TypeError,
    "split(mnp.ones(3), 2)": ValueError,
    "split(mnp.ones(3), 1.5)": TypeError,
    "dsplit(mnp.ones(3), 1)": ValueError,
    "meshgrid([1], indexing='zz')": TypeError,
    "diag(mnp.ones((1, 2, 3)))": ValueError,
    "tril(3)": ValueError,
    "vander([[1]])": ValueError,
    "pad([1], 1, 'x')": ValueError,
    "pad([1], -1)": ValueError,
    "pad([1], ((1, 2), (3, 4)))": ValueError,
    "pad([1], 1, value=3)": ValueError,
    "promote_types('x', 'int8')": TypeError,
    "result_type()": TypeError,
}


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "graph"])
def test_what_does_not_fit_is_refused_by_name(compiled):
    context.set_context(mode=context.PYNATIVE_MODE)
    for text, error in REFUSED.items():
        name = text.partition("(")[0]
        call = eval(f"lambda: mnp.{text}")
        with pytest.raises(error, match=f"(?i){name.replace('_', '_?')}") as caught:
            ms.jit(call)() if compiled else call()
        assert str(caught.value).endswith("."), text


def test_element_types_meet_as_in_mindspore():
    assert mnp.promote_types("int8", mnp.uint8) == ms.int16
    assert mnp.promote_types(mnp.int32, "float16") == ms.float16
    assert mnp.result_type(Tensor([1], ms.int8), 2.0, "float16") == ms.float32
    assert mnp.result_type([1, 2], True) == ms.int32
