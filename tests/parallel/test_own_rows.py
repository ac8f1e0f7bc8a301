"""Networks of r1.1 that are written for the rows of all devices, of which each brings a batch."""

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


def spread(mode="semi_auto_parallel", **settings):
    context.set_auto_parallel_context(parallel_mode=mode, device_num=2, **settings)


class Scaled(nn.Cell):
    """A scale for each row of all devices, and the mean of what it makes of them."""

    def __init__(self, rows, cut=None):
        super().__init__()
        self.scale = Parameter(Tensor(np.linspace(1, 2, rows, dtype=np.float32)[:, None]), name="scale")
        self.mul, self.mean = P.Mul(), P.ReduceMean()
        if cut:
            self.mul.shard(cut)

    def construct(self, x):
        return self.mean(self.mul(x, self.scale) ** 2)


def trained(net):
    data = dataset.NumpySlicesDataset({"x": ROWS}, shuffle=False).batch(4)
    model = Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
    model.train(1, data, dataset_sink_mode=False, callbacks=[])
    return net.scale.asnumpy()


@pytest.mark.parametrize("mode", ["semi_auto_parallel", "auto_parallel"])
def test_each_device_is_given_the_batch_where_the_network_asks_for_the_rows_of_all(monkeypatch, capsys, mode):
    monkeypatch.setattr(log, "_said", set())
    spread(mode)
    found = trained(Scaled(8, ((2, 1), (2, 1))))
    assert capsys.readouterr().err.count("does not take the rows of one batch") == 1
    scale = np.linspace(1, 2, 8, dtype=np.float32)[:, None]
    for batch in (ROWS[:4], ROWS[4:]):
        both = np.concatenate([batch, batch])
        scale = scale - 0.1 * (2 * both**2 * scale).sum(1, keepdims=True) / both.size
    np.testing.assert_allclose(found, scale, rtol=1e-5)


def test_a_batch_that_fits_is_the_whole_one(monkeypatch, capsys):
    monkeypatch.setattr(log, "_said", set())
    alone = trained(Scaled(4))
    spread()
    np.testing.assert_allclose(trained(Scaled(4, ((2, 1), (2, 1)))), alone, rtol=1e-5)
    assert "rows of one batch" not in capsys.readouterr().err


def test_an_evaluation_and_a_build_take_it_likewise():
    spread()

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


def test_what_fits_neither_way_is_told_as_it_is():
    """Of the rows, or of what stands behind them."""
    spread()
    with pytest.raises(ValueError, match=r"\(4, 4\) and \(5, 1\)"):
        trained(Scaled(5))
    with pytest.raises(RuntimeError, match="cuts an axis of 4 into 3 parts"):
        trained(Scaled(8, ((1, 3), (1, 1))))


def test_with_a_full_batch_there_is_nothing_to_repeat():
    spread(full_batch=True)
    with pytest.raises(ValueError, match=r"\(4, 4\) and \(8, 1\)"):
        trained(Scaled(8))
