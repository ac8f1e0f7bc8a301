"""An argument that is no Tensor raises a sentence of msnb, on every way into a graph."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn, ops

X = Tensor(np.ones((2, 3), np.float32))
PLACES = Tensor(np.array([[0, 0], [1, 2]]), msnb.int64)
WRONG = {
    "no data": lambda: Tensor(shape=[None, 3], dtype=msnb.float32),
    "objects": lambda: np.array([object(), None]),
    "texts": lambda: np.array(["a", "b"]),
    "numpy": lambda: np.ones((2, 3), np.float32),
    "number of numpy's": lambda: np.float32(2),
    "a day": lambda: np.datetime64("2020-01-01"),
    "JAX": lambda: X._array,
    "None": lambda: None,
    "a text": lambda: "text",
    "bytes": lambda: b"text",
    "sparse": lambda: msnb.COOTensor(PLACES, Tensor(np.ones(2, np.float32)), (2, 3)),
    "rows": lambda: msnb.RowTensor(Tensor([0], msnb.int32), X[:1], (2, 3)),
    "list": lambda: [X, None],
    "dict": lambda: {"a": X},
    "a Cell": lambda: nn.ReLU(),
    "a type": lambda: int,
    "70 bits": lambda: 2**70,
}


class Of(nn.Cell):
    """A Cell that a user writes around one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, inputs):
        return self.function(x, inputs)


class Sum(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 2)

    def construct(self, x):
        return self.layer(x).sum()


LAYER, NET = nn.Dense(3, 2), Sum()
WAYS = {
    "a layer": LAYER,
    "an activation": nn.ReLU(),
    "a loss": lambda given: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X, given),
    "an operator": lambda given: Of(lambda x, y: ops.Concat()((x, y)))(X, given),
    "a function": lambda given: Of(lambda x, y: ops.masked_select(y, x > 0))(X, given),
    "matmul": lambda given: Of(ops.matmul)(X, given),
    "a gradient": lambda given: ops.GradOperation()(NET)(given),
    "a step": nn.TrainOneStepCell(NET, nn.SGD(NET.trainable_params(), 0.1)),
}
OF_OTHERS = ("jax", "jnp", "abstract array", "traced", "tracer", "has no attribute", "not supported between")


@pytest.fixture
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


@pytest.mark.parametrize("way", WAYS)
def test_an_argument_that_is_no_tensor_has_a_sentence_of_ours(way, graph_mode):
    wrong = []
    for kind, make in WRONG.items():
        with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
            WAYS[way](make())
        said = "\n".join([str(raised.value), *getattr(raised.value, "__notes__", [])])
        if any(word in said.replace("a JAX array", "").lower() for word in OF_OTHERS):
            wrong.append((kind, said))
    assert not wrong
