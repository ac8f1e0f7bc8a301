"""Methods of Tensor by the names that MindSpore 2.5 and later have for their arguments beside the older ones."""

import numpy as np
import pytest

import msnb as ms
import msnb.mint
from msnb import Tensor, ops
from msnb.core.operator import api_generations

A = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]], np.float32)
X = Tensor(A)
CUBE = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
ROWS = Tensor([1, 0])
PLACES = Tensor([[0, 1], [1, 0]])
BOTH = [
    (lambda x: x.all(dim=1), lambda x: x.all(1)),
    (lambda x: x.any(dim=0, keepdim=True), lambda x: x.any(0, True)),
    (lambda x: x.argsort(dim=0, descending=True, stable=True), lambda x: x.argsort(0, True)),
    (lambda x: x.sort(dim=0)[0], lambda x: x.sort(0)[0]),
    (lambda x: x.chunk(3, dim=1)[2], lambda x: x.chunk(3, 1)[2]),
    (lambda x: x.split(split_size=[1, 2], dim=1)[1], lambda x: x.split([1, 2], 1)[1]),
    (lambda x: x.count_nonzero(dim=1), lambda x: x.count_nonzero(1)),
    (lambda x: x.nansum(dim=1, keepdim=True), lambda x: x.nansum(1, True)),
    (lambda x: x.prod(dim=1, keepdim=True), lambda x: x.prod(1, True)),
    (lambda x: x.median(dim=1, keepdim=True)[0], lambda x: x.median(1, True)[0]),
    (lambda x: x.narrow(dim=1, start=0, length=2), lambda x: x.narrow(1, 0, 2)),
    (lambda x: x.add(x, alpha=2), lambda x: x + 2 * x),
    (lambda x: x.sub(x, alpha=2), lambda x: x - 2 * x),
    (lambda x: x.subtract(y=1), lambda x: x - 1),
    (lambda x: x.div(2, rounding_mode="floor"), lambda x: x // 2),
    (lambda x: x.divide(other=2), lambda x: x / 2),
    (lambda x: x.remainder(divisor=2), lambda x: x % 2),
    (lambda x: x[0].expand_as(other=x), lambda x: x[0].expand_as(x)),
    (lambda x: x.gather(dim=1, index=PLACES), lambda x: x.gather_elements(1, PLACES)),
    (lambda x: x.gather(ROWS, axis=0), lambda x: x[ROWS]),
    (lambda x: x.index_select(dim=0, index=ROWS), lambda x: x[ROWS]),
    (lambda x: x.take(index=ROWS), lambda x: x.take(ROWS)),
    (lambda x: x.isclose(x2=x), lambda x: x == x),
    (lambda x: x.matmul(tensor2=x.T), lambda x: x @ x.T),
    (lambda x: x.permute(dims=(1, 0)), lambda x: x.T),
    (lambda x: x.flip(dims=(0,)), lambda x: x.flip(0)),
    (lambda x: x.repeat_interleave(2, dim=1), lambda x: x.repeat(2, 1)),
    (lambda x: x.repeat_interleave([1, 2], dim=0, output_size=3), lambda x: x.repeat([1, 2], 0)),
    (lambda x: x.scatter_add(indices=ROWS.reshape(2, 1), updates=x), lambda x: x + x.flip(0)),
    (lambda x: x.select(dim=1, index=2), lambda x: x[:, 2]),
    (lambda x: x.select(0, 1), lambda x: x[1]),
    (lambda x: x.select(x > 2, 0.0), lambda x: x.where(x > 2, other=0.0)),
    (lambda x: x.tile(2, 1), lambda x: x.tile((2, 1))),
    (lambda x: x.tile(reps=(2, 1)), lambda x: x.tile(dims=(2, 1))),
    (lambda x: x.unsqueeze(axis=0), lambda x: x.unsqueeze(0)),
    (lambda x: x.to(ms.float16, non_blocking=True, copy=True), lambda x: x.astype(ms.float16)),
    (lambda x: x.to(ROWS), lambda x: x.astype(ms.int64)),
    (lambda x: x.to(other=ROWS), lambda x: x.astype(ms.int64)),
    (lambda x: x.to("CPU", ms.float16), lambda x: x.astype(ms.float16)),
    (lambda x: x.to(device="CPU:0"), lambda x: x),
    (lambda x: x.to("float16"), lambda x: x.astype(ms.float16)),
    (lambda x: x.to("CPU", dtype=ms.float16), lambda x: x.astype(ms.float16)),
    (lambda x: x.to("CPU", ms.float16, True, True), lambda x: x.astype(ms.float16)),
    (lambda x: x.to(dtype=ms.int64, device="CPU"), lambda x: x.astype(ms.int64)),
    (lambda x: x.to(ROWS, False, True), lambda x: x.astype(ms.int64)),
]


@pytest.fixture
def second():
    """Methods of Tensor as MindSpore 2 has them."""
    api_generations.share(2)
    yield
    api_generations.share(1)


@pytest.mark.parametrize(("by_dim", "older"), BOTH)
def test_a_method_takes_an_argument_by_either_name(by_dim, older):
    got, want = by_dim(X), older(X)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.to("CPU", ms.float16, dtype=ms.float16), "'dtype' should be passed once"),
        (lambda x: x.to("CPU", device="CPU"), "'device' should be passed once"),
        (lambda x: x.to(ms.float16, True, True, True), "at most 3 positional"),
        (lambda x: x.to(ms.float16, 1), "'non_blocking'"),
        (lambda x: x.to("nowhere"), "'nowhere'"),
    ],
)
def test_to_refuses_an_argument_that_it_does_not_have(call, words):
    with pytest.raises(TypeError, match=words):
        call(X)


TWICE = np.array([[2, 1, 9], [2, 3, 0], [2, 1, 9]])


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", [ms.int64, ms.float32, ms.bfloat16])
def test_unique_returns_distinct_elements_or_slices_in_ascending_order(second, dim, dtype):
    x = Tensor(TWICE, dtype)
    want = np.unique(TWICE, return_inverse=True, return_counts=True, axis=dim)
    got = x.unique(return_inverse=True, return_counts=True, dim=dim)
    again = ms.mint.unique(x, True, True, True, dim)
    for one, other, expected in zip(got, again, want, strict=True):
        np.testing.assert_array_equal(one.astype(ms.int64).asnumpy().ravel(), expected.ravel())
        np.testing.assert_array_equal(other.asnumpy(), one.asnumpy())
    assert got[0].dtype == dtype and got[1].dtype == got[2].dtype == ms.int64
    assert got[1].shape == ((3, 3) if dim is None else (3,))
    np.testing.assert_array_equal(x.unique(dim=dim).asnumpy(), got[0].asnumpy())
    counted = x.unique(return_counts=True, dim=dim)
    assert len(counted) == 2 and (counted[1].asnumpy() == got[2].asnumpy()).all()


def test_unique_of_an_empty_tensor_and_by_the_older_meaning():
    assert ms.mint.unique(ops.zeros((0, 3)), dim=0).shape == (0, 3)
    assert ms.mint.unique(ops.zeros((0,))).shape == (0,)
    assert ops.UniqueConsecutive(dim=0)(ops.zeros((0, 3)))[0].shape == (0, 3)
    values, index = Tensor([3, 1, 3]).unique()
    assert values.asnumpy().tolist() == [3, 1] and index.asnumpy().tolist() == [0, 1, 0]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_two_ints_exchange_dimensions_in_mindspore_2(second, mode):
    ms.set_context(mode=mode)
    assert CUBE.transpose(1, 2).shape == (2, 4, 3)
    assert CUBE.transpose(dim0=0, dim1=-1).shape == (4, 3, 2)
    assert CUBE.transpose(0, 2, 1).shape == CUBE.transpose((0, 2, 1)).shape == (2, 4, 3)
    np.testing.assert_array_equal(X.transpose(0, 1).asnumpy(), A.T)
    np.testing.assert_array_equal(X.transpose((0, 1)).asnumpy(), A)
    assert CUBE.transpose().shape == (4, 3, 2)


def test_two_ints_are_an_order_in_r1_1():
    np.testing.assert_array_equal(X.transpose(dim0=0, dim1=1).asnumpy(), A.T)
    np.testing.assert_array_equal(X.transpose(0, 1).asnumpy(), A)


def test_squeeze_leaves_a_longer_axis_in_mindspore_2_and_refuses_it_in_r1_1(second):
    longer = X.expand_dims(0)
    assert longer.squeeze((0, 1)).shape == (2, 3)
    assert longer.squeeze(1).shape == (1, 2, 3)
    assert longer.squeeze().shape == longer.squeeze(None).shape == (2, 3)
    with pytest.raises(ValueError, match="out of range|should be in"):
        longer.squeeze(3)
    api_generations.share(1)
    with pytest.raises(ValueError, match="should have length 1"):
        longer.squeeze(1)


def test_numbers_count_as_truth_where_they_are_not_0():
    zeros = Tensor([0.0, 2.0])
    np.testing.assert_array_equal(zeros.logical_not().asnumpy(), [True, False])
    np.testing.assert_array_equal(zeros.logical_and(Tensor([1, 1])).asnumpy(), [False, True])


def test_an_argument_that_is_given_by_both_names_is_refused():
    with pytest.raises(TypeError, match="given twice"):
        X.all(dim=1, axis=1)


def test_a_length_that_does_not_come_out_is_refused():
    with pytest.raises(ValueError, match="'output_size' should be 4"):
        X.repeat_interleave(2, dim=0, output_size=3)


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equal_extremes_has_the_gradient_in_mindspore_2(second, name):
    equal = Tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    gradient = ms.ops.GradOperation()
    first = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert gradient(lambda x: getattr(x, name)(axis=1))(equal).asnumpy().tolist() == first
    assert gradient(lambda x: getattr(x, name)(axis=1, keepdims=True))(equal).asnumpy().tolist() == first
    assert getattr(equal, name)(axis=1, initial=1.5).asnumpy().tolist() == ([1.5, 2.0] if name == "max" else [1.0, 1.5])


def test_tiling_0_times_gives_an_empty_tensor_in_mindspore_2(second):
    shapes = [X.tile((0, 1)).shape, X.tile((2, 0, 1)).shape, X.tile((0,)).shape, ms.mint.tile(X, (0, 1)).shape]
    assert shapes == [(0, 3), (2, 0, 3), (2, 0), (0, 3)]
    with pytest.raises(ValueError, match="negative"):
        X.tile((-1, 1))
