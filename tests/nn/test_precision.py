"""`Cell.to_float` casts inputs, Parameters and Tensor attributes of a Cell, as r1.1 and 2.7.1 do."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
OUTSIDE = Tensor(np.ones((2, 2), np.float32))


def ones(dtype: Any = np.float32):
    return Tensor(np.ones((2, 2), dtype))


class Holds(nn.Cell):
    """A Tensor under each roof; `construct` gives one result for each."""

    def __init__(self):
        super().__init__()
        self.table, self.double, self.whole = ones(), ones(np.float64), ones(np.int32)
        self.weight = Parameter(ones(), name="weight")
        self.register_buffer("buffer", ones())
        self.pair, self.several = (ones(), ones()), [ones(), ones()]
        self.relu, self.concat, self.gather, self.elu = ops.ReLU(), ops.Concat(), ops.Gather(), ops.Elu()

    def of(self, table):
        return self.relu(table)

    def construct(self, x, by_name: Any = None, given: Any = None):
        half = (
            self.relu(self.table),
            self.relu(self.double),
            self.relu(self.buffer),
            self.table + self.table,
            self.table.sum(),
            self.table[0],
            self.concat((x, self.table, self.weight)),
            self.gather(self.table, self.whole, 0),
            self.elu(self.table),
            self.of(self.table),
            self.relu(by_name),
            given["key"],
        )
        return half, (self.relu(self.pair[0]), self.concat(self.several)), self.relu(self.whole)


def types_of(net):
    half, inside, whole = net(ones(), by_name=ones(), given={"key": ones()})
    return {t.dtype for t in half}, {t.dtype for t in inside}, whole.dtype


@BOTH_MODES
def test_tensors_that_a_cell_holds_are_cast_and_those_inside_a_tuple_or_list_are_not(mode):
    context.set_context(mode=mode)
    net = Holds().to_float(ms.float16)
    for same in (net, copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert types_of(same) == ({ms.float16}, {ms.float32}, ms.int32)
    assert net.table.dtype == ms.float32


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table, self.relu = ones(), ops.ReLU()

    def construct(self, x):
        return self.relu(x)


class Outer(nn.Cell):
    """Hands a Tensor to a Cell of full precision, and names one of its."""

    def __init__(self):
        super().__init__()
        self.inner, self.table, self.relu = Inner(), ones(), ops.ReLU()

    def construct(self, x):
        return self.inner(self.table), self.relu(self.inner.table)


@BOTH_MODES
def test_the_cell_that_computes_says_in_which_precision(mode):
    context.set_context(mode=mode)
    net = Outer().to_float(ms.float16)
    net.inner.to_float(ms.float32)
    assert [t.dtype for t in net(ones())] == [ms.float32, ms.float16]


class Mixed(nn.Cell):
    """A float32 layer between two Cells of a lower precision, as mixed precision leaves LayerNorm."""

    def __init__(self):
        super().__init__()
        self.norm, self.dense, self.inner = nn.LayerNorm((2,)), nn.Dense(2, 3), Inner()

    def construct(self, x):
        x = self.norm(x)
        return x, self.dense(x), self.inner(ops.cast(x, ms.float64)), self.inner(ops.cast(x, ms.int32))


@BOTH_MODES
@pytest.mark.parametrize("low", [ms.float16, ms.bfloat16], ids=str)
def test_a_cell_casts_inputs_that_another_precision_computed(low, mode):
    context.set_context(mode=mode)
    net = Mixed().to_float(low)
    net.norm.to_float(ms.float32)
    assert [t.dtype for t in net(ones())] == [ms.float32, low, low, ms.int32]


class Names(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table, self.relu = ones(), ops.ReLU()

    def construct(self, x, default=OUTSIDE):
        return self.relu(OUTSIDE), self.relu(default), self.table


def test_a_graph_casts_what_is_named_outside_of_a_function_and_what_a_cell_returns_of_its_own():
    context.set_context(mode=context.GRAPH_MODE)
    assert {t.dtype for t in Names().to_float(ms.float16)(ones())} == {ms.float16}
    assert {t.dtype for t in Names()(ones())} == {ms.float32}


@BOTH_MODES
def test_gradients_pass_the_cast(mode):
    context.set_context(mode=mode)

    class Product(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table, self.weight = Tensor(3.0), Parameter(Tensor(2.0), name="weight")

        def construct(self, x):
            return self.table * self.weight * x

    net = Product().to_float(ms.float16)
    gradient = ops.GradOperation(get_all=True, get_by_list=True)(net, ms.ParameterTuple([net.weight]))
    (of_x,), (of_weight,) = gradient(Tensor(5.0))
    assert (float(of_x), float(of_weight)) == (6.0, 15.0)
    assert of_weight.dtype == ms.float32


class Reading(nn.Cell):
    """A Cell that does one thing with its Parameter."""

    def __init__(self, read):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones((4, 4)), ms.float32), name="weight")
        self.read = read

    def construct(self, x):
        return self.read(self.weight)


READINGS = {
    "a row": lambda w: w[0],
    "rows": lambda w: w[1:3],
    "rows of a list": lambda w: w[[0, 2]],
    "a place": lambda w: w[0, 1:],
    "rows of a Tensor": lambda w: w[Tensor([0, 1])],
    "a new axis": lambda w: w[None],
    "turned": lambda w: w.transpose(1, 0),
    "reshaped": lambda w: w.reshape((2, 8)),
    "split": lambda w: ops.split(w, 2)[0],
}


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("reading", READINGS)
def test_what_is_read_of_a_parameter_has_the_precision_of_the_cell(reading, mode):
    context.set_context(mode=mode)
    x = Tensor(np.ones(1), ms.float32)
    assert Reading(READINGS[reading])(x).dtype == ms.float32
    assert Reading(READINGS[reading]).to_float(ms.float16)(x).dtype == ms.float16
    context.set_context(mode=1)
