"""Golden results of a ResNet-18 whose values PyTorch's hooks change: run it with an interpreter that has torch (CPU).

    python tests/golden/make_resnet_interventions.py          writes tests/golden/resnet_interventions.npz

The tests do not need PyTorch. The network, its weights and inputs are those of `values/make_values.py`.
Stored are some elements of the output, of the gradient of the input, and of the gradient of each Parameter.
"""

import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER / "values"))

from make_values import NETWORKS, Recorder, array, resnet, some  # noqa: E402

CHANNEL = 5
RELU = 11  # in the order of execution: the first one of stage 2, block 1
SUM = 3  # of the residual sums: stage 1, block 1
CONV = 9


def steering(torch):
    """Return the vector that is added to a residual sum."""
    return torch.tensor(array("steering", (16,)), dtype=torch.float64)


def main():
    import torch

    mask = torch.ones(1, 32, 1, 1, dtype=torch.float64)
    mask[:, CHANNEL] = 0
    vector = steering(torch).reshape(1, -1, 1, 1)
    example = torch.zeros(8, 1, 1, 1, dtype=torch.float64)
    example[2] = 1
    changes = {
        "none": {},
        "zero": {("ReLU", RELU): lambda value: value * mask},
        "steer": {("Add", SUM): lambda value: value + 3.0 * vector},
        "scale": {("Conv2D", CONV): lambda value: value + 1.5 * value * example},
        "clamp": {("BatchNorm", 7): lambda value: value.clamp(-0.5, 0.5)},
    }

    class Changing(Recorder):
        def __init__(self, changed):
            super().__init__()
            self._changed = changed

        def __call__(self, op, tensor):
            number = self._counts.get(op, 0)
            tensor = super().__call__(op, tensor)
            change = self._changed.get((op, number))
            return tensor if change is None else change(tensor)

    _, shape, result = NETWORKS["resnet"]
    stored = {}
    for name, changed in changes.items():
        record = Changing(changed)
        x = torch.tensor(array("x", shape), dtype=torch.float64, requires_grad=True)
        output = resnet(record, x)
        ((output - torch.tensor(array("target", result))) ** 2).mean().backward()
        stored[f"{name} y"] = output.detach().numpy().reshape(-1)
        stored[f"{name} dx"] = some(x.grad.numpy())
        for key, parameter in record.parameters.items():
            stored[f"{name} d {key}"] = some(parameter.grad.numpy())
    np.savez_compressed(FOLDER / "resnet_interventions.npz", **{key: np.float32(each) for key, each in stored.items()})


if __name__ == "__main__":
    main()
