"""Libraries that measure coverage take what summary operators saw."""

import numpy as np
import pytest

from msnb import Tensor, context, nn, ops


class Watched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tensor, self.scalar = ops.TensorSummary(), ops.ScalarSummary()

    def construct(self, x):
        self.tensor("twice", x * 2)
        self.scalar("sum", x.sum())
        return x


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_each_value_is_taken_once(mode):
    from msnb.train.summary.summary_record import _get_summary_tensor_data  # spares the others: importing it listens

    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        _get_summary_tensor_data()
        Watched()(Tensor(np.float32([1, 2]))).asnumpy()
        taken = _get_summary_tensor_data()
    finally:
        context.set_context(mode=before)
    assert {name: value.asnumpy().tolist() for name, value in taken.items()} == {
        "twice[:Tensor]": [2.0, 4.0],
        "sum[:Scalar]": 3.0,
    }
    assert _get_summary_tensor_data() == {}
