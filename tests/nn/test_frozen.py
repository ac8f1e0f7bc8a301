"""A frozen network: its weights are constants of the program, and nothing else is different."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of

X = Tensor(np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32))


def network():
    return nn.SequentialCell(nn.Dense(4, 3, weight_init="normal"), nn.BatchNorm1d(3), nn.Dropout(0.5)).set_train(False)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_it_gives_what_the_network_gives(mode):
    context.set_context(mode=mode)
    net = network()
    predict = msnb.frozen(net)
    for _ in range(2):
        np.testing.assert_allclose(predict(X).asnumpy(), net(X).asnumpy(), rtol=1e-6)
    assert [p.name for p in predict.get_parameters()] == [p.name for p in net.get_parameters()]


def test_the_weights_are_no_arguments_of_the_program():
    net = network()
    predict = msnb.frozen(net)
    predict(X)
    written, read, values = program_of(predict, X).example_arguments()
    assert (written, read, values.shape) == ([], [], (2, 4))
    assert "Default/network" in program_of(predict, X).compiled().as_text()


def test_a_changed_weight_is_followed_and_that_is_said(capsys):
    net = network()
    predict = msnb.frozen(net)
    before = predict(X).asnumpy()
    net[0].weight.set_data(net[0].weight * 2)
    after = predict(X).asnumpy()
    np.testing.assert_allclose(after, net(X).asnumpy(), rtol=1e-6)
    assert np.abs(after - before).max() > 1e-3
    assert "SequentialCell is frozen, and its weights have changed" in capsys.readouterr().err


def test_it_can_be_differentiated_and_be_part_of_another_graph():
    net = network()
    predict = msnb.frozen(net)
    np.testing.assert_allclose(
        ops.grad(lambda x: predict(x).sum())(X).asnumpy(), ops.grad(lambda x: net(x).sum())(X).asnumpy(), rtol=1e-6
    )
    context.set_context(mode=context.GRAPH_MODE)
    twice = nn.SequentialCell(predict, nn.ReLU())
    np.testing.assert_allclose(twice(X).asnumpy(), np.maximum(net(X).asnumpy(), 0), rtol=1e-6)


def test_what_is_no_cell_or_trains_is_refused():
    with pytest.raises(TypeError, match="should be a Cell"):
        msnb.frozen(lambda x: x)
    with pytest.raises(ValueError, match="SequentialCell is set to train"):
        msnb.frozen(network().set_train())
