"""A sequence that begins with nothing."""

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
