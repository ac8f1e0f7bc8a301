"""Attributes of r1.1's layers that derived code reads (`nn/_cell/legacy_attributes.py`)."""

import copy

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn
from msnb.core.operator.primitive import Primitive
from msnb.nn import layer as layers
from msnb.nn._cell.legacy_attributes import LazyAttribute
from msnb.nn.wrap.loss_scale import DynamicLossScaleUpdateCell

MADE = {
    "PReLU": lambda: nn.PReLU(),
    "LeakyReLU": lambda: nn.LeakyReLU(),
    "LogSigmoid": lambda: nn.LogSigmoid(),
    "Dense": lambda: nn.Dense(3, 2, has_bias=False),
    "Norm": lambda: nn.Norm(0),
    "ClipByNorm": lambda: nn.ClipByNorm(),
    "Tril": lambda: nn.Tril(),
    "Triu": lambda: nn.Triu(),
    "Conv2d": lambda: nn.Conv2d(3, 2, 1),
    "Conv1d": lambda: nn.Conv1d(3, 2, 1),
    "Conv2dTranspose": lambda: nn.Conv2dTranspose(3, 2, 1),
    "Conv1dTranspose": lambda: nn.Conv1dTranspose(3, 2, 1),
    "Embedding": lambda: nn.Embedding(5, 2),
    "EmbeddingLookup": lambda: nn.EmbeddingLookup(5, 2),
    "MultiFieldEmbeddingLookup": lambda: nn.MultiFieldEmbeddingLookup(5, 2, 3),
    "ReduceLogSumExp": lambda: nn.ReduceLogSumExp(0),
    "Moments": lambda: nn.Moments(axis=0),
    "MatMul": lambda: nn.MatMul(),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "MaxPool1d": lambda: nn.MaxPool1d(),
    "AvgPool1d": lambda: nn.AvgPool1d(),
    "ExponentialDecayLR": lambda: nn.ExponentialDecayLR(0.1, 0.9, 2),
    "NaturalExpDecayLR": lambda: nn.NaturalExpDecayLR(0.1, 0.9, 2),
    "InverseDecayLR": lambda: nn.InverseDecayLR(0.1, 0.9, 2),
    "CosineDecayLR": lambda: nn.CosineDecayLR(0.01, 0.1, 4),
    "PolynomialDecayLR": lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
    "WarmUpLR": lambda: nn.WarmUpLR(0.1, 4),
    "L1Loss": lambda: nn.L1Loss(),
    "CosineEmbeddingLoss": lambda: nn.CosineEmbeddingLoss(),
    "BCELoss": lambda: nn.BCELoss(),
    "DynamicLossScaleUpdateCell": lambda: DynamicLossScaleUpdateCell(1024, 2, 10),
}


def parts_of(cls):
    return {name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, LazyAttribute)}


def classes(root=nn.Cell):
    for cls in root.__subclasses__():
        yield cls
        yield from classes(cls)


def test_every_class_with_sub_cells_is_tried():
    lazy_classes = {cls.__name__ for cls in classes() if any(isinstance(v, LazyAttribute) for v in vars(cls).values())}
    assert {name for name in lazy_classes if not name.startswith("_")} <= set(MADE)


@pytest.mark.parametrize("name", sorted(MADE))
def test_the_sub_cells_of_a_cell_are_its_own(name):
    cell, other = MADE[name](), MADE[name]()
    names = parts_of(type(cell))
    assert names
    for part in names:
        value = getattr(cell, part)
        assert getattr(cell, part) is value
        assert isinstance(value, (Primitive, Tensor, bool, int, tuple))
        if isinstance(value, Primitive):
            assert getattr(other, part) is not value
            assert isinstance(getattr(copy.deepcopy(cell), part), type(value))
    assert [p.name for p in cell.get_parameters()] == [p.name for p in other.get_parameters()]


class OwnEmbedding(nn.Embedding):
    """The layer, computed by what r1.1 keeps for it."""

    def construct(self, ids):
        extended = self.expand(ids, -1)
        shape = self.get_shp(ids) + (self.embedding_size,)
        flat = self.reshape_flat(extended, self.shp_flat)
        if self.use_one_hot:
            rows = self.array_mul(
                self.one_hot(flat, self.vocab_size, self.on_value, self.off_value), self.embedding_table
            )
        else:
            rows = self.gather(self.embedding_table, flat, 0)
        return self.reshape(rows, shape)


class OwnDense(nn.Dense):
    def construct(self, x):
        product = self.batch_matmul(x, self.weight.expand_dims(0))
        return self.tensor_add(product, self.bias) if self.has_bias else product


class OwnConv(nn.Conv2d):
    def construct(self, x):
        return self.bias_add(self.conv2d(x, self.weight), self.extra)


class OwnNorm(nn.Norm):
    def construct(self, x):
        result = self.sqrt(self.reduce_sum(x * x, self.axis))
        return result if self.keep_dims else self.squeeze(result)


IDS = Tensor([[1, 0], [4, 2]], ms.int32)
ROWS = Tensor(np.random.RandomState(0).standard_normal((1, 4, 3)).astype(np.float32))


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    "own, layer, args, given",
    [
        (OwnEmbedding, nn.Embedding, (5, 3), IDS),
        (OwnEmbedding, nn.Embedding, (5, 3, True), IDS),
        (OwnDense, nn.Dense, (3, 2), ROWS),
        (OwnDense, nn.Dense, (3, 2, "normal", "ones", False), ROWS),
        (OwnNorm, nn.Norm, (1,), ROWS),
        (OwnNorm, nn.Norm, (1, True), ROWS),
    ],
)
def test_a_derived_layer_computes_the_same_by_its_sub_cells(mode, own, layer, args, given):
    context.set_context(mode=mode)
    mine, plain = own(*args), layer(*args)
    for ours, theirs in zip(mine.get_parameters(), plain.get_parameters(), strict=True):
        ours.set_data(Tensor(theirs.asnumpy()))
    np.testing.assert_allclose(mine(given).asnumpy(), plain(given).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_convolution_without_bias_has_what_adds_one(mode):
    context.set_context(mode=mode)
    net = OwnConv(2, 3, 1)
    plain = net.conv2d(Tensor(np.ones((1, 2, 2, 2), np.float32)), net.weight).asnumpy()
    net.extra = Parameter(Tensor([1.0, 2.0, 3.0]), name="extra")
    result = net(Tensor(np.ones((1, 2, 2, 2), np.float32))).asnumpy()
    np.testing.assert_allclose(
        result - plain, np.broadcast_to(np.array([1, 2, 3]).reshape(3, 1, 1), (1, 3, 2, 2)), rtol=1e-6
    )


def test_asking_for_a_part_makes_no_new_program():
    context.set_context(mode=context.GRAPH_MODE)
    net, x = nn.Dense(3, 2), Tensor(np.ones((4, 3), np.float32))
    net(x)
    before = len(net._programs.table)
    assert isinstance(net.shape_op, Primitive)
    net(x)
    assert len(net._programs.table) == before


def test_an_attribute_of_ones_own_comes_before_the_part():
    class Own(layers.Dense):
        def __init__(self):
            super().__init__(2, 2)
            self.shape_op = "mine"

    assert Own().shape_op == "mine"
