"""Indexing and assignment beside numpy, in both modes."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops

A = np.arange(60).reshape(3, 4, 5).astype(np.float32)
T = np.array([2, 0])
MASK, ROWS = A > 20, np.array([True, False, True])
S = slice
INDICES = [
    0,
    -1,
    S(None),
    S(1, None),
    S(None, None, -1),
    S(3, 0, -2),
    S(5, 2),
    Ellipsis,
    None,
    True,
    (),
    (0, 1),
    (0, 1, 2),
    (S(None), 1),
    (Ellipsis, -1),
    (None, Ellipsis, None),
    (1, S(None, None, 2)),
    (0, None, S(1, 3), -1),
    (S(None, None, -2), Ellipsis, S(4, None, -3)),
    T,
    (T, T),
    (T, S(None), T),
    (S(None), T),
    (0, S(None), T),
    (T, 1),
    (S(None), T, S(1, 3)),
    (T, None, T),
    T.reshape(2, 1),
    (S(1, None, -1), T),
    (np.array(1), S(None)),
    (np.array(1), np.array([[0, 1], [1, 2]])),
    ([0, 2], [1, 1]),
    [0, 1],
    [0, -1],
    MASK,
    ROWS,
    (ROWS, 1),
    (S(None), S(None), [True, False, True, False, True]),
    (S(0, 2), [1, 2], S(None)),
]


def as_tensors(index):
    if isinstance(index, tuple):
        return tuple(map(as_tensors, index))
    return Tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_an_index_picks_what_numpy_picks(index):
    got = Tensor(A)[as_tensors(index)].asnumpy()
    np.testing.assert_array_equal(got, A[index])
    assert got.dtype == A.dtype


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_an_assignment_changes_what_numpy_changes(index, whole):
    value = -np.arange(A[index].size).reshape(A[index].shape).astype(np.float32) if whole else 7.0
    want, x = A.copy(), Tensor(A)
    want[index] = value
    x[as_tensors(index)] = Tensor(value) if whole else value
    np.testing.assert_array_equal(x.asnumpy(), want)


@pytest.mark.parametrize("index", [i for i in INDICES if i is not None], ids=str)
def test_an_index_means_the_same_in_a_graph(index):
    constant = as_tensors(index)

    class Pick(nn.Cell):
        def construct(self, x):
            return x[constant]

    context.set_context(mode=context.GRAPH_MODE)
    np.testing.assert_array_equal(Pick()(Tensor(A)).asnumpy(), A[index])


def test_an_assignment_in_a_graph_leaves_the_argument_alone():
    class Put(nn.Cell):
        def construct(self, x, v):
            x[1, :, 2:4] = v
            x[x > 50] = 0
            return x

    context.set_context(mode=context.GRAPH_MODE)
    x = Tensor(A)
    got = Put()(x, Tensor(5.0)).asnumpy()
    want = A.copy()
    want[1, :, 2:4] = 5
    want[want > 50] = 0
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(x.asnumpy(), A)


@pytest.mark.parametrize(
    "index, error",
    [
        (3, IndexError),
        (-4, IndexError),
        ((0, 4), IndexError),
        ((0, 0, 0, 0), IndexError),
        ("a", IndexError),
        (1.5, IndexError),
        (False, IndexError),
        ((..., ...), IndexError),
        (Tensor([1.0]), IndexError),
        (Tensor(np.ones((2, 4)) > 0), IndexError),
        (S(None, None, 0), ValueError),
    ],
)
def test_a_bad_index_is_refused_with_a_clear_error(index, error):
    with pytest.raises(error):
        Tensor(A)[index]


def test_iteration_ends_where_the_tensor_ends():
    assert [float(v) for v in Tensor([1.0, 2.0])] == [1.0, 2.0]


def test_a_value_that_does_not_fit_is_refused_and_the_tensor_stays_as_it_was():
    x = Tensor(A)
    with pytest.raises(ValueError):
        x[0] = Tensor(np.ones(3, np.float32))
    with pytest.raises(TypeError):
        x[0] = "a"
    with pytest.raises(ValueError):
        x[Tensor(MASK)] = Tensor(np.ones(3, np.float32))
    np.testing.assert_array_equal(x.asnumpy(), A)


def test_a_mask_assigns_one_value_each_one_after_another():
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    x[Tensor([True, False, True, False])] = Tensor([10.0, 30.0])
    assert x.asnumpy().tolist() == [10.0, 2.0, 30.0, 4.0]
    x[x > 3] = x * 2
    assert x.asnumpy().tolist() == [20.0, 2.0, 60.0, 8.0]


def test_augmented_assignment_changes_a_part():
    x = Tensor(A)
    x[1] += 1
    x[:, 0] *= 2
    want = A.copy()
    want[1] += 1
    want[:, 0] *= 2
    np.testing.assert_array_equal(x.asnumpy(), want)


def test_a_part_of_a_parameter_is_assigned_in_place():
    w = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="w")
    w[0, 1] = 3
    assert w.asnumpy().tolist() == [[0, 3], [0, 0]]


def test_a_value_takes_the_element_type_of_the_tensor():
    x = Tensor([1, 2, 3], ms.int32)
    x[0] = 7.9
    x[1] = Tensor(5.5)
    assert x.dtype == ms.int32
    assert x.asnumpy().tolist() == [7, 5, 3]


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_gradients_flow_through_indexing_and_assignment(mode):
    context.set_context(mode=mode)

    def fn(x, v):
        y = x * 1
        y[1] = v
        return (y[Tensor([0, 1, 1])] * Tensor([1.0, 10.0, 100.0])).sum() + x[2] * 3

    grads = ops.GradOperation(get_all=True)(fn)(Tensor([1.0, 2.0, 3.0]), Tensor(4.0))
    assert grads[0].asnumpy().tolist() == [1.0, 0.0, 3.0]
    assert float(grads[1]) == 110.0


def test_every_integer_index_runs_one_kernel():
    from msnb.core.operator.operator_types import REGISTRY

    x = Tensor(np.arange(8.0, dtype=np.float32).reshape(4, 2))
    x[0], x[1, 0]
    before = len(REGISTRY["_TensorGetItem"].kernels)
    for i in range(4):
        x[i], x[i, 1], x[i - 4]
    assert len(REGISTRY["_TensorGetItem"].kernels) == before
