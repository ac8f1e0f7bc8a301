"""Gradients of tables that are looked up by row: RowTensors, in both modes."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, ParameterTuple, RowTensor, Tensor, context, nn, ops
from msnb.core.eager.tape import dense
from msnb.ops import composite as C
from msnb.ops import operations as P
from msnb.ops._grad.grad_base import bprop_getters

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
TABLE = np.arange(12, dtype=np.float32).reshape(6, 2) / 4
NUMBERS = np.array([[1, 3], [3, 4]], np.int32)


def of_numbers(*values):
    return Tensor(np.array(values, np.int32))


class Net(nn.Cell):
    """Sums weighted rows; subclasses say what else reads the table."""

    def __init__(self, look_up=None):
        super().__init__()
        self.table = Parameter(Tensor(TABLE), name="table")
        self.look_up = look_up or P.SparseGatherV2()
        self.weights = Tensor(np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2))

    def construct(self, numbers):
        return (self.look_up(self.table, numbers, 0) * self.weights).sum()


class Twice(Net):
    def construct(self, numbers):
        return super().construct(numbers) + self.look_up(self.table, numbers + 1, 0).sum()


class ReadElsewhere(Net):
    def construct(self, numbers):
        return super().construct(numbers) + (self.table * self.table).sum()


class AskedForItsShape(Net):
    def construct(self, numbers):
        return super().construct(numbers) * float(self.table.shape[0] // 6) + float(self.table.ndim - 2)


class InALoop(Net):
    def construct(self, numbers):
        total, step = ops.zeros((), ms.float32), numbers[0, 0] * 0
        while step < 2:
            total, step = total + self.look_up(self.table, numbers, 0).sum(), step + 1
        return total


class InABranch(Net):
    def construct(self, numbers):
        if numbers[0, 0] > 0:
            result = self.look_up(self.table, numbers, 0).sum()
        else:
            result = self.look_up(self.table, numbers + 1, 0).sum()
        return result


def gradient(net, *args, of=None):
    weights = ParameterTuple(net.trainable_params() if of is None else of)
    return C.GradOperation(get_by_list=True)(net, weights)(*args)


def check_against_gather(net, numbers):
    """The gradient of the table, and the dense one that ops.Gather has."""
    other = type(net)(P.Gather())
    result, (expected,) = gradient(net, numbers)[0], gradient(other, numbers)
    assert isinstance(expected, Tensor)
    np.testing.assert_allclose(dense(result).asnumpy(), expected.asnumpy(), rtol=1e-6)
    return result


@BOTH_MODES
@pytest.mark.parametrize("look_up", [P.SparseGatherV2, P.EmbeddingLookup])
def test_a_table_that_is_looked_up_gets_the_rows_and_their_numbers(mode, look_up):
    context.set_context(mode=mode)
    (result,) = gradient(Net(look_up()), Tensor(NUMBERS))
    assert isinstance(result, RowTensor)
    assert result.indices.asnumpy().tolist() == [1, 3, 3, 4]
    assert result.values.asnumpy().tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert result.dense_shape == (6, 2)
    assert result.values.dtype == ms.float32


@BOTH_MODES
@pytest.mark.parametrize("net", [Net, Twice, AskedForItsShape])
def test_rows_add_up_to_the_dense_gradient(mode, net):
    context.set_context(mode=mode)
    assert isinstance(check_against_gather(net(), Tensor(NUMBERS)), RowTensor)


@BOTH_MODES
def test_what_something_else_reads_has_a_dense_gradient(mode):
    context.set_context(mode=mode)
    assert isinstance(check_against_gather(ReadElsewhere(), Tensor(NUMBERS)), Tensor)


@BOTH_MODES
@pytest.mark.parametrize("net", [InALoop, InABranch])
def test_within_loops_and_branches_the_numbers_are_the_same(mode, net):
    context.set_context(mode=mode)
    check_against_gather(net(), Tensor(NUMBERS))


def test_a_dense_gradient_of_a_table_is_reported(monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", said.append)
    context.set_context(mode=context.GRAPH_MODE)
    assert isinstance(gradient(Parts(), of_numbers(2))[0], RowTensor)
    assert not said
    gradient(InALoop(), Tensor(NUMBERS))
    assert said[0].startswith("The gradient of 'table' is dense")


@BOTH_MODES
def test_along_another_axis_the_gradient_is_dense(mode):
    context.set_context(mode=mode)
    table = Parameter(Tensor(TABLE), name="table")
    look_up = P.SparseGatherV2()
    (result,) = gradient(lambda numbers: look_up(table, numbers, 1).sum(), of_numbers(0), of=[table])
    assert result.asnumpy().tolist() == [[1, 0]] * 6


@BOTH_MODES
def test_numbers_outside_of_the_table_name_no_row(mode):
    context.set_context(mode=mode)
    table = Parameter(Tensor(TABLE), name="table")
    look_up = P.EmbeddingLookup()
    (result,) = gradient(lambda numbers: look_up(table, numbers, 4).sum(), of_numbers(1, 5, 12), of=[table])
    assert result.indices.asnumpy().tolist() == [-3, 1, 8]
    assert dense(result).asnumpy().tolist() == [[0, 0], [1, 1], *[[0, 0]] * 4]


class Part(nn.Cell):
    def __init__(self):
        super().__init__()
        self.look_up = nn.EmbeddingLookup(6, 2, param_init=Tensor(TABLE))
        self.dense = nn.Dense(2, 2)

    def construct(self, numbers):
        return self.dense(self.look_up(numbers))


class Parts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.parts = nn.CellList([Part() for _ in range(6)])

    def construct(self, numbers):
        total = ops.zeros((), ms.float32)
        for part in self.parts:
            total = total + part(numbers).sum()
        return total


@BOTH_MODES
def test_equal_cells_have_rows_each(mode):
    context.set_context(mode=mode)
    net = Parts()
    tables = [p for p in net.trainable_params() if "table" in p.name]
    result = gradient(net, of_numbers(2, 5), of=tables)
    assert [g.indices.asnumpy().tolist() for g in result] == [[2, 5]] * 6


@BOTH_MODES
def test_lower_precision_is_that_of_the_rows(mode):
    context.set_context(mode=mode)
    net = nn.EmbeddingLookup(6, 2, param_init=Tensor(TABLE)).to_float(ms.float16)
    assert net(of_numbers(1)).dtype == ms.float16
    (result,) = gradient(net, of_numbers(1))
    assert isinstance(result, RowTensor)
    assert result.values.dtype == ms.float32


@BOTH_MODES
def test_the_gradient_of_a_gradient_goes_through_the_rows(mode):
    context.set_context(mode=mode)
    table = Parameter(Tensor(TABLE), name="table")
    look_up, numbers = P.SparseGatherV2(), of_numbers(1, 3)
    first = C.GradOperation(get_by_list=True)(lambda x: (look_up(table, numbers, 0) ** 3 * x).sum(), [table])

    def of_first(x):
        (rows,) = first(x)
        return (rows.values * rows.values).sum()

    (result,) = gradient(of_first, Tensor(2.0), of=[table])
    expected = np.zeros_like(TABLE)
    expected[[1, 3]] = 36 * 2**2 * TABLE[[1, 3]] ** 3
    np.testing.assert_allclose(dense(result).asnumpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(ops.grad(of_first)(Tensor(2.0)).asnumpy(), (36 * TABLE[[1, 3]] ** 4).sum(), rtol=1e-5)


class RowsOf(ops.PrimitiveWithInfer):
    """A look-up whose gradient its author writes as rows."""

    @ops.prim_attr_register
    def __init__(self):
        self.init_prim_io_names(inputs=["table", "numbers"], outputs=["y"])

    def kernel(self, table, numbers):
        return table[numbers]


@bprop_getters.register(RowsOf)
def _rows_of(_):
    return lambda table, numbers, out, dout: (RowTensor(numbers, dout, table.shape), numbers)


class RowsOfCell(nn.Cell):
    def construct(self, table, numbers):
        return ops.gather(table, numbers, 0)

    def bprop(self, table, numbers, out, dout):
        return RowTensor(numbers, dout, table.shape), numbers


@BOTH_MODES
@pytest.mark.parametrize("look_up", [RowsOf, RowsOfCell])
def test_gradients_that_users_write_may_be_rows(mode, look_up):
    context.set_context(mode=mode)
    table, numbers = Tensor(TABLE), of_numbers(4, 1, 4)
    result = ops.GradOperation()(look_up())(table, numbers)
    assert result.asnumpy()[:, 0].tolist() == [0, 1, 0, 0, 2, 0]


# ---------------------------------------------------------------------- what is done with them
SPARSE = {
    "LazyAdam": lambda params: nn.LazyAdam(params, learning_rate=0.1, loss_scale=2.0),
    "Adam": lambda params: nn.Adam(params, learning_rate=0.1),
    "FTRL": lambda params: nn.FTRL(params, learning_rate=0.1, l1=0.01, l2=0.02, loss_scale=2.0),
    "ProximalAdagrad": lambda params: nn.ProximalAdagrad(params, learning_rate=0.1, l1=0.01, l2=0.02),
}
OTHERS = {
    "Momentum": lambda params: nn.Momentum(params, 0.1, 0.9),
    "Lamb": lambda params: nn.Lamb(params, 0.1),
    "LARS": lambda params: nn.LARS(nn.Momentum(params, 0.1, 0.9)),
}


def train(net, make, steps=3):
    step = nn.TrainOneStepCell(net, make(net.trainable_params()), sens=2.0)
    for _ in range(steps):
        step(Tensor(NUMBERS))
    return net.table.asnumpy()


@BOTH_MODES
@pytest.mark.parametrize("name", SPARSE)
def test_optimizers_for_sparse_gradients_leave_other_rows_alone(mode, name):
    context.set_context(mode=mode)
    after, by_gather = train(Net(), SPARSE[name]), train(Net(P.Gather()), SPARSE[name])
    np.testing.assert_allclose(after[[1, 3, 4]], by_gather[[1, 3, 4]], rtol=1e-5)
    np.testing.assert_array_equal(after[[0, 2, 5]], TABLE[[0, 2, 5]])


@BOTH_MODES
@pytest.mark.parametrize("name", OTHERS)
def test_other_optimizers_take_the_dense_gradient(mode, name):
    context.set_context(mode=mode)
    np.testing.assert_allclose(train(Net(), OTHERS[name]), train(Net(P.Gather()), OTHERS[name]), rtol=1e-5)


def lazy_adam(var, state, g, step):
    m, v = 0.9 * state["m"] + 0.1 * g, 0.999 * state["v"] + 0.001 * g * g
    rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return var - rate * (0.9 * m + 0.1 * g) / (np.sqrt(v) + 1e-8), {"m": m, "v": v}


def ftrl(var, state, g, step):
    more = state["a"] + g * g
    z = state["z"] + g - (np.sqrt(more) - np.sqrt(state["a"])) / 0.1 * var
    moved = (np.sign(z) * 0.01 - z) / (np.sqrt(more) / 0.1 + 2 * 0.02)
    return np.where(np.abs(z) > 0.01, moved, 0), {"a": more, "z": z}


def proximal_adagrad(var, state, g, step):
    more = state["a"] + g * g
    rate = 0.1 / np.sqrt(more)
    moved = var - rate * g
    return np.sign(moved) * np.maximum(np.abs(moved) - rate * 0.01, 0) / (1 + rate * 0.02), {"a": more}


FORMULAS = {  # the optimizer, its formula for one row, the first state
    "LazyAdam": (
        lambda params: nn.LazyAdam(params, 0.1, use_nesterov=True, weight_decay=0.05, loss_scale=2.0),
        lazy_adam,
        {"m": 0.0, "v": 0.0},
    ),
    "FTRL": (
        lambda params: nn.FTRL(params, learning_rate=0.1, l1=0.01, l2=0.02, weight_decay=0.05, loss_scale=2.0),
        ftrl,
        {"a": 0.1, "z": 0.0},
    ),
    "ProximalAdagrad": (
        lambda params: nn.ProximalAdagrad(
            params, learning_rate=0.1, l1=0.01, l2=0.02, weight_decay=0.05, loss_scale=2.0
        ),
        proximal_adagrad,
        {"a": 0.1},
    ),
}


@BOTH_MODES
@pytest.mark.parametrize("name", FORMULAS)
def test_several_steps_of_ever_other_rows_follow_the_formula(mode, name):
    context.set_context(mode=mode)
    make, formula, first = FORMULAS[name]
    net = Net()
    step = nn.TrainOneStepCell(net, make(net.trainable_params()), sens=2.0)
    table, state = TABLE.astype(np.float64), {k: np.full(TABLE.shape, v) for k, v in first.items()}
    slopes = np.arange(1.0, 9.0).reshape(4, 2)
    for number, numbers in enumerate(([[1, 3], [3, 4]], [[0, 0], [1, 5]], [[3, 3], [3, 3]], [[5, 1], [2, 0]]), 1):
        step(Tensor(np.array(numbers, np.int32)))
        mentioned = np.ravel(numbers)
        for row in set(mentioned):
            # the penalty is part of each slice, as in MindSpore: it counts as often as its row is named
            g = (slopes[mentioned == row] + 0.05 * table[row]).sum(0)
            table[row], new = formula(table[row], {k: v[row] for k, v in state.items()}, g, number)
            for key, value in new.items():
                state[key][row] = value
        np.testing.assert_allclose(net.table.asnumpy(), table, rtol=2e-5, atol=1e-6)


@BOTH_MODES
def test_a_dynamic_loss_scale_takes_rows(mode):
    context.set_context(mode=mode)
    net = Net()
    manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=4.0, scale_factor=2, scale_window=10)
    step = nn.TrainOneStepWithLossScaleCell(net, nn.LazyAdam(net.trainable_params(), 0.1), manager)
    _, overflow, _ = step(Tensor(NUMBERS))
    assert not bool(overflow.asnumpy())
    np.testing.assert_allclose(net.table.asnumpy()[1], TABLE[1] - 0.1, rtol=1e-5)


@BOTH_MODES
def test_training_functions_that_users_write_clip_and_unscale_rows(mode):
    context.set_context(mode=mode)
    net = Net()
    _, grads = ms.value_and_grad(net, None, net.trainable_params())(Tensor(NUMBERS))
    dense_gradient = dense(grads[0]).asnumpy()
    assert bool(ms.amp.all_finite(grads).asnumpy())
    np.testing.assert_allclose(dense(ms.amp.StaticLossScaler(4.0).unscale(grads)[0]).asnumpy(), dense_gradient / 4)
    (clipped,) = ops.clip_by_global_norm(grads, 2.0)
    assert isinstance(clipped, RowTensor)
    np.testing.assert_allclose(dense(clipped).asnumpy(), dense_gradient * 2 / np.linalg.norm(dense_gradient), rtol=1e-6)


# ---------------------------------------------------------------------- the class
def test_a_graph_takes_and_gives_sparse_tensors_and_is_compiled_once():
    traces = []

    class Doubled(nn.Cell):
        def construct(self, rows):
            traces.append(rows)
            return RowTensor(rows.indices, rows.values * 2, rows.dense_shape)

    context.set_context(mode=context.GRAPH_MODE)
    net = Doubled()
    for number in (1.0, 3.0):
        out = net(RowTensor(of_numbers(2), Tensor([[number, 0.0]]), (6, 2)))
        assert out.values.asnumpy().tolist() == [[2 * number, 0.0]]
        assert (out.indices.asnumpy().tolist(), out.dense_shape) == ([2], (6, 2))
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("kind", "indices", "values", "dense_shape"),
    [
        (RowTensor, np.zeros(2, np.float32), np.zeros((2, 4)), (3, 4)),
        (RowTensor, np.zeros((2, 1), np.int32), np.zeros((2, 4)), (3, 4)),
        (RowTensor, np.zeros(3, np.int32), np.zeros((2, 4)), (3, 4)),
        (RowTensor, np.zeros(2, np.int32), np.zeros((2, 4, 5)), (3, 4)),
        (RowTensor, np.zeros(2, np.int32), np.zeros((2, 4)), (3, 4, 5)),
        (RowTensor, np.zeros(2, np.int32), np.zeros((2, 4)), (3, 5)),
        (RowTensor, np.zeros(2, np.int32), np.zeros((2, 4)), (-3, 4)),
        (ms.SparseTensor, np.zeros((2, 3), np.int32), np.zeros(2), (3, 4)),
        (ms.SparseTensor, np.zeros(2, np.int32), np.zeros(2), (3,)),
        (ms.SparseTensor, np.zeros((2, 2), np.int32), np.zeros((2, 2)), (3, 4)),
    ],
)
def test_row_tensors_that_do_not_fit_are_refused(kind, indices, values, dense_shape):
    with pytest.raises(TypeError, match=kind.__name__):
        kind(Tensor(indices), Tensor(values), dense_shape)


def test_an_operator_says_what_to_do_with_rows():
    rows = RowTensor(of_numbers(2), Tensor([[1.0, 0.0]]), (6, 2))
    with pytest.raises(TypeError, match=r"\.values"):
        ops.ReLU()(rows)


@pytest.mark.parametrize("kind", [ms.RowTensor, ms.SparseTensor])
def test_a_loop_of_the_graph_changes_the_values_of_a_sparse_tensor(kind):
    class Doubled(nn.Cell):
        def construct(self, sparse):
            return kind(sparse.indices, sparse.values * 2, sparse.dense_shape)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.doubled = Doubled()

        def construct(self, rounds, indices, values):
            sparse = kind(indices, values, (5, 2))
            while rounds > 0:
                sparse = self.doubled(sparse)
                rounds = rounds - 1
            return sparse.values, sparse.dense_shape

    ms.context.set_context(mode=ms.context.GRAPH_MODE)
    rows = kind is ms.RowTensor
    indices = Tensor([0, 2] if rows else [[0, 1], [2, 0]], ms.int32)
    values = Tensor(np.ones((2, 2) if rows else 2, np.float32))
    result, shape = Net()(Tensor(3, ms.int32), indices, values)
    assert (result.asnumpy() == 8).all() and tuple(shape) == (5, 2)
