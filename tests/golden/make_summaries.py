"""Event files that MindSpore itself writes, for tests of what reads them.

    PYTHON tests/golden/make_summaries.py [FOLDER]

PYTHON has MindSpore 2.7 and a protobuf before 4 (`pip install --target`, in PYTHONPATH): with newer ones it cannot
write the graph of a dataset. The files get names without the time and the host: `collector_MS` and so on.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import SummaryCollector, SummaryRecord, Tensor, nn, ops
from mindspore.train import Model

HERE = Path(__file__).parent / "summaries"


class Net(nn.Cell):
    """A layer whose results the four operators see."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(8, 3, weight_init="ones")
        self.flat = nn.Flatten()
        self.scalar, self.image = ops.ScalarSummary(), ops.ImageSummary()
        self.tensor, self.histogram = ops.TensorSummary(), ops.HistogramSummary()

    def construct(self, x):
        self.image("seen", x)
        y = self.fc(self.flat(x))
        self.tensor("out", y)
        self.histogram("out", y)
        self.scalar("mean", y.mean())
        return y


def collector(folder):
    """Two epochs of two steps, and an evaluation."""
    random = np.random.RandomState(0)
    columns = random.rand(8, 1, 2, 4).astype(np.float32), random.randint(0, 3, (8,)).astype(np.int32)
    data = ds.NumpySlicesDataset(columns, shuffle=False).batch(4)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"acc": nn.Accuracy()})
    settings = {"batch": 4, "rate": 0.1, "name": "first"}
    data_told = {"collect_landscape": None}
    collected = SummaryCollector(
        folder, collect_freq=2, num_process=1, collect_specified_data=data_told, custom_lineage_data=settings
    )
    model.train(2, data, callbacks=[collected], dataset_sink_mode=False)
    model.eval(data, callbacks=[collected], dataset_sink_mode=False)


def record(folder):
    """Record values by hand, NaN and infinities among them."""
    odd = np.array([1, 2, 4, np.nan, np.inf, -np.inf, -3], np.float32)
    with SummaryRecord(folder, num_process=1) as record_:
        for step in (1, 2):
            record_.add_value("scalar", "loss", Tensor(0.5 / step, ms.float32))
            record_.add_value("scalar", "whole", Tensor([step * 7], ms.int32))
            record_.add_value("tensor", "half", Tensor([[1.5, -step]], ms.float16))
            record_.add_value("histogram", "odd", Tensor(odd))
            record_.add_value("histogram", "same", Tensor(np.full((2, 3), 3, np.int32)))
            record_.add_value("histogram", "many", Tensor(np.arange(1000, dtype=np.float32) ** 2))
            record_.add_value("image", "grey", Tensor(np.arange(3 * 6).reshape(3, 1, 2, 3).astype(np.uint8) * 14))
            record_.add_value("image", "signed", Tensor(np.linspace(-2, 3, 12, dtype=np.float32).reshape(1, 3, 2, 2)))
            record_.record(step)


def main(folder):
    """Write all of them to `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    for make in (collector, record):
        with tempfile.TemporaryDirectory() as temporary:
            make(temporary)
            for path in sorted(Path(temporary).glob("events*")):
                kind = path.name.rsplit("_", 1)[1]
                target = folder / f"{make.__name__}_{kind}"
                shutil.copyfile(path, target if not target.exists() else folder / f"{make.__name__}_eval_{kind}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
