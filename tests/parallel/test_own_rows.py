"""Networks of r1.1 that are written for the batch of all devices, while each device passes its own batch."""

import numpy as np
import pytest

from msnb import Model, Parameter, Tensor, context, dataset, log, nn
from msnb.ops import operations as P

ROWS = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.reset_auto_parallel_context()


def set_devices(mode="semi_auto_parallel", **settings):
    context.set_auto_parallel_context(parallel_mode=mode, device_num=2, **settings)


class Scaled(nn.Cell):
    """A scale for each example of all devices, and the mean of the result."""

    def __init__(self, rows, cut=None):
        super().__init__()
        self.scale = Parameter(Tensor(np.linspace(1, 2, rows, dtype=np.float32)[:, None]), name="scale")
        self.mul, self.mean = P.Mul(), P.ReduceMean()
        if cut:
            self.mul.shard(cut)

    def construct(self, x):
        return self.mean(self.mul(x, self.scale) ** 2)


def train(net):
    data = dataset.NumpySlicesDataset({"x": ROWS}, shuffle=False).batch(4)
    model = Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
    model.train(1, data, dataset_sink_mode=False, callbacks=[])
    return net.scale.asnumpy()


@pytest.mark.parametrize("mode", ["semi_auto_parallel", "auto_parallel"])
def test_batch_is_repeated_for_network_of_all_devices(monkeypatch, capsys, mode):
    monkeypatch.setattr(log, "_logged_once", set())
    set_devices(mode)
    results = train(Scaled(8, ((2, 1), (2, 1))))
    assert capsys.readouterr().err.count("does not take the rows of one batch") == 1
    scale = np.linspace(1, 2, 8, dtype=np.float32)[:, None]
    for batch in (ROWS[:4], ROWS[4:]):
        both = np.concatenate([batch, batch])
        scale = scale - 0.1 * (2 * both**2 * scale).sum(1, keepdims=True) / both.size
    np.testing.assert_allclose(results, scale, rtol=1e-5)


def test_fitting_batch_is_not_repeated(monkeypatch, capsys):
    monkeypatch.setattr(log, "_logged_once", set())
    alone = train(Scaled(4))
    set_devices()
    np.testing.assert_allclose(train(Scaled(4, ((2, 1), (2, 1)))), alone, rtol=1e-5)
    assert "rows of one batch" not in capsys.readouterr().err


def test_eval_and_build_repeat_batch():
    set_devices()

    class Counted(nn.Metric):
        def clear(self):
            self.rows = []

        def update(self, out):
            self.rows.append(out.shape)

        def eval(self):
            return self.rows

    class Rows(nn.Cell):
        def __init__(self):
            super().__init__()
            self.reshape = P.Reshape()

        def construct(self, x):
            return (self.reshape(x, (8, 2, 2)),)

    data = dataset.NumpySlicesDataset({"x": ROWS}, shuffle=False).batch(4)
    model = Model(nn.ReLU(), eval_network=Rows(), metrics={"rows": Counted()})
    assert model.eval(data, dataset_sink_mode=False) == {"rows": [(8, 2, 2)] * 2}
    model.build(valid_dataset=data)


def test_error_of_unfitting_batch_is_unchanged():
    """The batch axis or an axis after it does not fit."""
    set_devices()
    with pytest.raises(ValueError, match=r"\(4, 4\) and \(5, 1\)"):
        train(Scaled(5))
    with pytest.raises(RuntimeError, match="cuts an axis of 4 into 3 parts"):
        train(Scaled(8, ((1, 3), (1, 1))))


def test_full_batch_is_not_repeated():
    set_devices(full_batch=True)
    with pytest.raises(ValueError, match=r"\(4, 4\) and \(8, 1\)"):
        train(Scaled(8))
