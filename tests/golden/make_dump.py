"""Write `mindspore_dump.zip`: two iterations of a training step, as MindSpore 2.7.1 dumps them on a CPU.

python tests/golden/make_dump.py      (needs mindspore==2.7.1)
"""

import json
import os
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp())
COMMON = {
    "dump_mode": 0,
    "path": str(FOLDER / "dump"),
    "net_name": "Net",
    "iteration": "0-1",
    "saved_data": "tensor",
    "input_output": 0,
    "kernels": [],
    "support_device": [0],
}
(FOLDER / "config.json").write_text(
    json.dumps({"common_dump_settings": COMMON, "e2e_dump_settings": {"enable": True, "trans_flag": True}})
)
os.environ["MINDSPORE_DUMP_CONFIG"] = str(FOLDER / "config.json")  # read when MindSpore is imported

import numpy as np  # noqa: E402

import mindspore as ms  # noqa: E402
from mindspore import nn  # noqa: E402


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.flat, self.fc = nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(128, 3)

    def construct(self, x):
        return self.fc(self.flat(self.relu(self.conv(x))))


def main():
    """Train two steps and pack their dump. Graphs and settings are left out: they name paths of the machine."""
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    ms.set_seed(1)
    net, rng = Net(), np.random.default_rng(0)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()
    for _ in range(2):
        step(ms.Tensor(rng.normal(size=(2, 1, 8, 8)).astype(np.float32)), ms.Tensor(np.zeros((2, 3), np.float32)))
    target = Path(__file__).with_name("mindspore_dump.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted((FOLDER / "dump").rglob("*")):
            if path.is_file() and path.suffix in (".npy", ".csv"):
                file.write(path, path.relative_to(FOLDER / "dump"))


if __name__ == "__main__":
    main()
