"""vmap with nested axes, with numbers as results, and of a CellList; jvp of integers. Values are MindSpore 2.7.1's."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops

X = np.array([[1, 2], [3, 4]], np.float32)


class Scale(nn.Cell):
    def __init__(self, value):
        super().__init__()
        self.w = ms.Parameter(Tensor([value]), name="w")

    def construct(self, x, y):
        return x * self.w + y, y


class Remember(nn.Cell):
    def __init__(self):
        super().__init__()
        self.last = ms.Parameter(Tensor([0.0, 0.0]), name="last")

    def construct(self, x):
        ops.assign(self.last, x)
        return self.last + 1


@pytest.fixture
def ensemble():
    return nn.CellList([Scale(1.0), Scale(2.0)])


@pytest.mark.parametrize("in_axes", [(0, (0, None)), (0, [0, None]), [0, [0, None]]])
def test_the_values_of_an_input_have_axes_of_their_own(in_axes):
    out = ops.vmap(lambda x, y: x + y[0] * y[1], in_axes)(Tensor(X), (Tensor(X), Tensor(2.0)))
    assert out.asnumpy().tolist() == (3 * X).tolist()


@pytest.mark.parametrize("out_axes", [(0, (0, 1)), [0, [0, 1]]])
def test_nested_outputs_have_axes_of_their_own(out_axes):
    first, (second, third) = ops.vmap(lambda x: (x, (x, x)), 0, out_axes)(Tensor(X))
    assert first.asnumpy().tolist() == second.asnumpy().tolist() == X.tolist()
    assert third.asnumpy().tolist() == X.T.tolist()


def test_a_number_is_repeated_along_an_axis_and_stays_one_without():
    (one, two), rows = ops.vmap(lambda x: ((1, 2), x), 0, ((0, None), 0))(Tensor(X))
    assert one.asnumpy().tolist() == [1, 1] and two.asnumpy().tolist() == 2
    assert rows.asnumpy().tolist() == X.tolist()


@pytest.mark.parametrize("in_axes, out_axes", [((0, (0, 0)), 0), (0, (0, 0))])
def test_a_tuple_of_axes_belongs_to_a_tuple(in_axes, out_axes):
    with pytest.raises(ValueError, match=r"tuple \(0, 0\) in '(in|out)_axes' should belong to a tuple"):
        ops.vmap(lambda x, y: x + y, in_axes, out_axes)(Tensor(X), Tensor(X))


@pytest.mark.parametrize(
    "in_axes, out_axes, first, second",
    [
        ((0, None), 0, [[11, 22], [16, 28]], [[10, 20], [10, 20]]),
        ((1, 0), (1, 0), [[11, 24], [13, 28]], [10, 20]),
        (0, 0, [[11, 12], [26, 28]], [10, 20]),
    ],
)
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_each_cell_of_an_ensemble_gets_its_entry(ensemble, in_axes, out_axes, first, second, mode):
    ms.set_context(mode=mode)
    out = ops.vmap(ensemble, in_axes, out_axes)(Tensor(X), Tensor([10.0, 20.0]))
    assert [t.asnumpy().tolist() for t in out] == [first, second]


def test_an_ensemble_is_differentiated(ensemble):
    def total(x):
        return ops.vmap(ensemble, 0)(x, x)[0].sum()

    of_x, of_weights = ms.grad(total, 0, ensemble.trainable_params())(Tensor(X))
    assert of_x.asnumpy().tolist() == [[2, 2], [3, 3]]
    assert [float(g.asnumpy()[0]) for g in of_weights] == [3, 7]


def test_the_cells_of_an_ensemble_write_their_own_parameters():
    cells = nn.CellList([Remember(), Remember()])
    assert ops.vmap(cells, 0)(Tensor(X)).asnumpy().tolist() == (X + 1).tolist()
    assert [cell.last.asnumpy().tolist() for cell in cells] == X.tolist()


def test_an_ensemble_needs_one_entry_for_each_cell(ensemble):
    with pytest.raises(ValueError, match="one entry for each Cell"):
        ops.vmap(ensemble, 0)(Tensor(np.ones((3, 2), np.float32)), Tensor(np.ones((3, 2), np.float32)))


def test_jvp_of_integers_is_an_integer():
    x = Tensor([1, 2], ms.int32)
    value, change = ms.jvp(lambda x, y: x * y, (x, x), (x, x))
    assert value.dtype == change.dtype == ms.int32
    assert value.asnumpy().tolist() == [1, 4] and change.asnumpy().tolist() == [2, 8]
    mixed = ms.jvp(lambda x, y: x * y, (x, Tensor([1.0, 2.0])), (x, Tensor([1.0, 1.0])))
    assert [t.asnumpy().tolist() for t in mixed] == [[1, 4], [2, 6]]


def test_jvp_keeps_an_index_an_integer():
    i = Tensor([1], ms.int32)
    value, change = ms.jvp(lambda w, i: ops.gather(w, i, 0) * 2, (Tensor(X), i), (Tensor(X), i))
    assert value.asnumpy().tolist() == change.asnumpy().tolist() == [[6, 8]]


def test_vmap_of_jvp_takes_integers():
    x = Tensor(np.ones((2, 3)), ms.int32)
    value, change = ops.vmap(lambda x, y: ops.jvp(lambda a, b: a * b, x, y))((x, x * 2), (x, x * 2))
    assert value.asnumpy().tolist() == [[2] * 3] * 2 and change.asnumpy().tolist() == [[4] * 3] * 2
