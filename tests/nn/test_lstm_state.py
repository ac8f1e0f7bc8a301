"""A sequence that begins with nothing, and one that ends before others."""

import numpy as np
import pytest

from msnb import Tensor, context, nn


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("batch_first", [False, True])
def test_without_a_state_an_lstm_begins_with_zeros(mode, batch_first):
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        net = nn.LSTM(3, 4, 2, batch_first=batch_first, bidirectional=True)
        x = Tensor(np.random.RandomState(0).randn(5, 2, 3).astype(np.float32))
        zeros = Tensor(np.zeros((4, 5 if batch_first else 2, 4), np.float32))
        (given, (h, c)), (without, (last_h, last_c)) = net(x, (zeros, zeros)), net(x)
        for one, other in ((given, without), (h, last_h), (c, last_c)):
            np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    finally:
        context.set_context(mode=before)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_of_sequences_of_several_lengths_each_gives_what_it_gives_alone(mode):
    context.set_context(mode=mode)
    net = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    x, lengths = np.random.RandomState(0).randn(3, 5, 3).astype(np.float32), [2, 5, 3]
    results, (h, c) = net(Tensor(x), seq_length=Tensor(lengths))
    for i, length in enumerate(lengths):
        alone, (own_h, own_c) = net(Tensor(x[i : i + 1, :length]))
        np.testing.assert_allclose(results.asnumpy()[i, :length], alone.asnumpy()[0], rtol=1e-5, atol=1e-6)
        assert not results.asnumpy()[i, length:].any()
        for last, own in ((h, own_h), (c, own_c)):
            np.testing.assert_allclose(last.asnumpy()[:, i], own.asnumpy()[:, 0], rtol=1e-5, atol=1e-6)
