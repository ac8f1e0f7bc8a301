"""Recomputation for a gradient changes no number."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ops import operations as P

X = Tensor(np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


class Block(nn.Cell):
    """Parameters that learn and that do not, and chance."""

    def __init__(self):
        super().__init__()
        self.dense, self.norm, self.dropout = nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dropout(p=0.3)

    def construct(self, x):
        return self.dropout(ops.tanh(self.norm(self.dense(ops.sin(x)))))


class Blocks(nn.Cell):
    """Equal blocks, one after the other, and one of them in a loop of the graph."""

    def __init__(self, again):
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(5)])
        for number in again:
            self.blocks[number].recompute()

    def construct(self, x, rounds):
        for block in self.blocks:
            x = block(x)
        done = Tensor(0, ms.int32)
        while done < rounds:
            x = self.blocks[0](x)
            done = done + 1
        return x.sum()


def learnt(again):
    """Return (gradients and moving averages, graph) of `Blocks` after one seed."""
    ms.set_seed(3)
    net = Blocks(again).set_train()
    step = ops.GradOperation(get_all=True, get_by_list=True)(net, ms.ParameterTuple(net.trainable_params()))
    (of_x, _), of_weights = step(X, Tensor(2, ms.int32))
    averages = [p for p in net.untrainable_params() if "moving" in p.name]
    return [v.asnumpy() for v in (of_x, *of_weights, *averages)], str(program_of(net, X, Tensor(2, ms.int32)).jaxpr)


def test_gradients_masks_and_moving_averages_are_the_same_whatever_is_computed_again():
    plain, text = learnt(())
    assert "remat" not in text
    for again in ((0,), (1, 3), range(5)):
        result, text = learnt(again)
        assert "remat" in text
        for a, b in zip(result, plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


class Product(nn.Cell):
    """Something that the gradient of what follows needs, behind a product."""

    def __init__(self, of_product, of_cell):
        super().__init__()
        self.product = P.MatMul()
        if of_product is not None:
            self.product.recompute(of_product)
        if of_cell:
            self.recompute()

    def construct(self, x, w):
        return ops.sin(self.product(x, w)).sum()


def test_an_operator_is_saved_or_computed_again_by_its_own_word():
    w = Tensor(np.eye(4, dtype=np.float32))
    products, values = {}, []
    for of_product in (None, True, False):
        for of_cell in (False, True):
            step = ops.GradOperation()(Product(of_product, of_cell))
            products[of_product, of_cell] = str(program_of(step, X, w).jaxpr).count("= dot_general")
            values.append(step(X, w).asnumpy())
    for value in values:
        np.testing.assert_allclose(value, values[0], rtol=1e-6)
    least = products[None, False]
    assert products[None, True] == products[True, True] == least + 1
    assert products[False, False] == products[False, True] == least


def test_a_cell_takes_back_that_it_is_computed_again():
    net = Product(None, True)
    w = Tensor(np.eye(4, dtype=np.float32))
    assert "remat" in str(program_of(net, X, w).jaxpr)
    net.recompute(False)
    assert "remat" not in str(program_of(net, X, w).jaxpr)


@pytest.mark.parametrize("what", [P.ReLU(), nn.ReLU()])
def test_whether_it_is_computed_again_is_a_bool(what):
    with pytest.raises(TypeError, match="'mode' should be bool"):
        what.recompute(1)
