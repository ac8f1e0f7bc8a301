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


def test_of_values_that_may_not_have_been_computed_the_newest_that_was_stays():
    from msnb.train.summary import _pending_values

    def kept(*pairs):
        _pending_values.take()
        for number, ran in pairs:
            _pending_values.keep("scalar", "x", Tensor(float(number)), None if ran is None else np.bool_(ran))
        (value,) = _pending_values.take().values()
        return value if isinstance(value, Tensor) else value.array()

    assert kept((1, True), (2, True), (3, False)) == 2.0
    assert kept((1, None), (2, False)) == 1.0
    assert kept((1, True), (2, None)).asnumpy() == 2.0
    assert kept((1, False), (2, False)) is None
    assert kept(*((n, n % 10 == 3) for n in range(100))) == 93.0
    assert kept((1, True), *((n, False) for n in range(100))) == 1.0


def test_values_are_stored_from_the_import_on(fresh, tmp_path):
    done = fresh.run(
        "from msnb import Tensor, nn, ops\n"
        "from msnb.train.summary.summary_record import _get_summary_tensor_data\n"
        "class Net(nn.Cell):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.seen = ops.TensorSummary()\n"
        "    def construct(self, x):\n"
        "        self.seen('x', x)\n"
        "        return x\n"
        "Net()(Tensor([1.0]))\n"
        "print(sorted(_get_summary_tensor_data()))\n",
        tmp_path,
    )
    assert done.out.split("\n")[0] == "['x[:Tensor]']", done.err
