"""`Cell.to_float` in PYNATIVE mode, as measured on MindSpore 2.7.1: operators cast their inputs, the Cell does not. In
r1.1 the Cell casts its inputs."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, nn, ops
from msnb.core.operator import api_generations

VALUES = np.array([[1.0009765, 2.3, -3.7], [0.1, 0.2, 0.3]], np.float32)
HALF = VALUES.astype(np.float16)


@pytest.fixture(params=[1, 2])
def generation(request):
    api_generations.share(request.param)
    yield request.param
    api_generations.share(1)


class Net(nn.Cell):
    """A Cell that runs `body`."""

    def __init__(self, body):
        super().__init__()
        self.body = body
        self.weight = Parameter(Tensor([1.0, 2.0, 3.3]), name="weight")
        self.constant = Tensor([1.5, 2.5, 3.3])
        self.dense = nn.Dense(3, 2)
        self.dropout = nn.Dropout()
        self.identity = nn.Identity()
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.body(self, x)


def run(body, dtype=ms.float16):
    return Net(body).to_float(dtype)(Tensor(VALUES))


@pytest.mark.parametrize(
    "body",
    [
        lambda net, x: x,
        lambda net, x: x.reshape(-1).reshape(2, 3),
        lambda net, x: x.T.T,
        lambda net, x: ops.expand_dims(x, 0).squeeze(0),
        lambda net, x: x[0:2],
        lambda net, x: ops.stack([x[0], x[1]]).astype(ms.float32),
        lambda net, x: x.broadcast_to((1, 2, 3))[0],
        lambda net, x: net.dropout(x),
        lambda net, x: net.identity(x),
        lambda net, x: ops.cast(x, ms.float32),
    ],
)
def test_a_cell_of_the_user_does_not_cast_what_it_hands_on(body, generation):
    if generation == 1:
        assert run(lambda net, x: x).dtype == ms.float16
        return
    out = run(body)
    assert out.dtype == ms.float32
    np.testing.assert_allclose(out.asnumpy(), VALUES, rtol=1e-3)


@pytest.mark.parametrize(
    "body, answer",
    [
        (lambda net, x: x + x, HALF + HALF),
        (lambda net, x: x * 2, HALF * 2),
        (lambda net, x: x + net.weight, HALF + np.float16([1, 2, 3.3])),
        (lambda net, x: x + net.constant, HALF + np.float16([1.5, 2.5, 3.3])),
        (lambda net, x: net.relu(x), np.maximum(HALF, 0)),
        (lambda net, x: ops.concat((x, x)), np.concatenate((HALF, HALF))),
        (lambda net, x: x[Tensor([1, 0])], HALF[[1, 0]]),
        (lambda net, x: ops.exp(x), np.exp(HALF)),
    ],
)
def test_operators_cast_in_both_generations(body, answer, generation):
    out = run(body)
    assert out.dtype == ms.float16
    np.testing.assert_allclose(out.asnumpy().astype(np.float32), answer.astype(np.float32), rtol=2e-3)


def test_tensors_made_in_construct_and_cast_ones_are_cast_again_in_mindspore_2(generation):
    made = run(lambda net, x: ops.add(Tensor([1.0]), Tensor([2.0])))
    cast = run(lambda net, x: ops.cast(x, ms.float32) + net.weight)
    both = (ms.float32, ms.float32) if generation == 1 else (ms.float16, ms.float16)
    assert (made.dtype, cast.dtype) == both


def test_construct_sees_the_type_of_the_input_in_mindspore_2(generation):
    seen = []
    run(lambda net, x: seen.append(x.dtype) or x)
    assert seen == [ms.float16 if generation == 1 else ms.float32]


def test_float64_inputs_and_integers(generation):
    out = Net(lambda net, x: (x, x * 2)).to_float(ms.float16)(Tensor(VALUES.astype(np.float64)))
    assert [o.dtype for o in out] == [ms.float16 if generation == 1 else ms.float64, ms.float16]
    assert Net(lambda net, x: x * 2).to_float(ms.float16)(Tensor([1, 2])).dtype == ms.int64


def test_gradients_have_the_type_of_the_inputs(generation):
    net = Net(lambda net, x: net.dense(x) * 2).to_float(ms.float16)
    value, (of_x, of_weights) = ms.value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params())(Tensor(VALUES))
    assert value.dtype == ms.float16 and of_x.dtype == ms.float32
    assert all(g.dtype == ms.float32 for g in of_weights)
    np.testing.assert_allclose(of_x.asnumpy()[0], 2 * net.dense.weight.asnumpy().sum(0), rtol=2e-2, atol=1e-4)


def test_a_cell_without_to_float_computes_in_the_type_of_its_caller_in_mindspore_2(generation):
    outer = Net(lambda net, x: (net.late(x), x * 3)).to_float(ms.float16)
    outer.late = Net(lambda net, x: x * 2)
    assert [o.dtype for o in outer(Tensor(VALUES))] == [ms.float16] * 2
    outer.late.to_float(ms.float32)
    assert [o.dtype for o in outer(Tensor(VALUES))] == [ms.float32, ms.float16]


def test_graph_mode_casts_the_inputs_in_both_generations(generation):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert [o.dtype for o in run(lambda net, x: (x, x + net.weight))] == [ms.float16] * 2
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_cells_of_the_user_in_a_sequence_see_the_input_as_it_is(generation):
    seen = []
    net = nn.SequentialCell(Net(lambda net, x: seen.append(x.dtype) or x), nn.ReLU()).to_float(ms.float16)
    assert net(Tensor(VALUES)).dtype == ms.float16
    assert seen == [ms.float16 if generation == 1 else ms.float32]
