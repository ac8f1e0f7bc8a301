"""numpy's scalars and arrays, lists and tuples beside a Tensor: on either side of every operator it answers as a Tensor
does, with its gradient."""

import operator

import numpy as np
import pytest
from sweeps import swept

import msnb as ms
from msnb import Tensor, context, nn, ops

VALUES = [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
ARITHMETIC = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    operator.matmul,
]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor]
SCALARS = [
    *(np.float16(1.5), np.float32(1.5), np.float64(0.1), np.int8(2), np.int32(2), np.int64(2)),
    *(np.uint8(2), np.bool_(True), np.float32(0.5)),
]
ARRAYS = [
    np.array(2.0, np.float32),
    np.array(2),
    np.array([1.5, 2.0, 0.5], np.float32),
    np.array([1.5, 2.0, 0.5]),
    np.array([1, 2, 3]),
    np.array([[2.0], [1.0]], np.float32),
    np.ones((2, 3), np.float16),
]
LISTS = [[1.0, 2.0, 3.0], (1, 2, 3), [[1, 2, 3], [4, 5, 6]]]


def id_of(case):
    op, other = case
    return f"{op.__name__}-{type(other).__name__}-{getattr(other, 'dtype', '')}-{np.shape(other)}"


def yield_both_sides(op, x, other):
    """Yield `op` with `other` on the right of x and on its left, and what it has to be equal to: the same of
    Tensors."""
    alone = Tensor(other) if np.ndim(other) else other.item()
    for mine, plain in (
        (lambda t: op(t, other), lambda t: op(t, alone)),
        (lambda t: op(other, t), lambda t: op(alone, t)),
    ):
        try:
            expected = plain(x)
        except Exception as error:
            with pytest.raises(type(error)):
                mine(x)
        else:
            yield mine, plain, expected


def check_equal(mine, plain, x, expected):
    got = mine(x)
    assert type(got) is Tensor and got.dtype == expected.dtype
    np.testing.assert_array_equal(got.asnumpy(), expected.asnumpy())
    if x.dtype == ms.float32 and expected.is_floating_point():
        grad = ops.GradOperation()
        np.testing.assert_array_equal(grad(mine)(x).asnumpy(), grad(plain)(x).asnumpy())


def kind_of(case):
    """Return an operator with a scalar or an array of some kind of number; its width and its shape are the Tensor's
    matter."""
    op, other = case
    return op, type(other) is np.ndarray, other.dtype.kind


@pytest.mark.parametrize(
    "case",
    swept([(op, other) for op in ARITHMETIC + COMPARISONS for other in SCALARS + ARRAYS], kind_of),
    ids=id_of,
)
def test_numpy_on_either_side_counts_as_the_number_or_tensor_that_it_is(case):
    op, other = case
    for dtype in (ms.float32, ms.int32):
        x = Tensor(VALUES, dtype)
        for mine, plain, expected in yield_both_sides(op, x, other):
            check_equal(mine, plain, x, expected)


def operators_with(operators, others):
    """Cases of each operator with each of the others, which take turns at being the first one, that is not slow."""
    turns = range(len(others))
    cases = [(op, others[(i + turn) % len(others)]) for turn in turns for i, op in enumerate(operators)]
    return swept(cases, lambda case: case[0])


@pytest.mark.parametrize(
    "case",
    operators_with(BITS, [np.int32(3), np.bool_(True), np.array([1, 2, 3]), np.array([True, False, True])]),
    ids=id_of,
)
def test_numpys_integers_take_part_in_bits(case):
    op, other = case
    x = Tensor([5, 6, 7], ms.int32) if other.dtype != bool else Tensor([True, True, False])
    for mine, plain, expected in yield_both_sides(op, x, other):
        check_equal(mine, plain, x, expected)


@pytest.mark.parametrize("case", operators_with(ARITHMETIC[:-1], LISTS), ids=id_of)
def test_lists_and_tuples_count_as_tensors_in_arithmetic(case):
    op, other = case
    x = Tensor(VALUES, ms.float32)
    for mine, plain, expected in yield_both_sides(op, x, other):
        check_equal(mine, plain, x, expected)


@pytest.mark.parametrize(
    "case",
    operators_with(ARITHMETIC[:4] + COMPARISONS[2:], [np.float32(1.5), np.array([1.5, 2.0, 0.5], np.float32)]),
    ids=id_of,
)
def test_in_a_graph_numpy_is_a_constant(case):
    op, other = case

    class Net(nn.Cell):
        def construct(self, x):
            return op(x, other), op(other, x)

    x = Tensor(VALUES, ms.float32)
    context.set_context(mode=context.GRAPH_MODE)
    result = Net()(x)
    context.set_context(mode=context.PYNATIVE_MODE)
    for got, expected in zip(result, Net()(x), strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "other", [[1.0, 2.0, 3.0], (1, 2), None, "text", object(), [], np.str_("a")], ids=lambda v: type(v).__name__
)
def test_what_mindspore_calls_different_is_different(other):
    x = Tensor([1.0, 2.0, 3.0])
    assert (x == other) is False and (x != other) is True


@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda op: op.__name__)
@pytest.mark.parametrize("other", [None, object(), np.array(["a"]), np.datetime64("2020"), np.timedelta64(3, "ns")])
def test_what_is_no_number_is_a_type_error_on_either_side(op, other):
    x = Tensor([1.0, 2.0, 3.0])
    for call in (lambda: op(x, other), lambda: op(other, x)):
        with pytest.raises(TypeError):
            call()


def test_shifts_and_divmod_are_of_no_tensor():
    x = Tensor([4, 8], ms.int32)
    for call in (lambda: x << np.int32(1), lambda: np.array([1, 2]) >> x, lambda: divmod(np.array([9, 9]), x)):
        with pytest.raises(TypeError):
            call()


def test_numpys_other_functions_take_the_values():
    x = Tensor([1.0, 4.0])
    for function in (np.sqrt, np.exp, np.isnan, np.abs):
        got = function(x)
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, function(x.asnumpy()))
    assert type(np.add.reduce(x)) is np.float32 and np.maximum(x, 2.0).tolist() == [2.0, 4.0]


def test_an_array_that_a_tensor_is_added_to_stays_an_array():
    total = np.zeros(2)
    alias = total
    total += Tensor([1.0, 2.0])
    assert total is alias and total.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="cannot write into a Tensor"):
        np.add(1.0, 2.0, out=Tensor([0.0]))


def test_a_sum_that_begins_as_numpys_zero_keeps_the_gradient():
    def total(x):
        result = np.float32(0)
        for i in range(3):
            result += x[i] * np.float64(2)
        return result

    assert ops.GradOperation()(total)(Tensor([1.0, 2.0, 3.0])).asnumpy().tolist() == [2.0, 2.0, 2.0]


def test_in_looks_for_numpys_numbers():
    x = Tensor([1.0, 2.0])
    assert np.float32(1) in x and np.int64(3) not in x
