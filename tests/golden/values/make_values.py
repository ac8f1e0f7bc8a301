"""Golden values inside networks, by PyTorch's hooks: run it with an interpreter that has torch (CPU).

    python tests/golden/values/make_values.py          writes tests/golden/values/*.npz

Each network computes the mean square of its output minus a target. Stored are some elements of the output of each
operator and of its gradient, by the name of msnb's operator and its number in the order of execution ("ReLU/3"), the
gradient of each Parameter, and the loss, all computed in float64. Weights and inputs are functions of their names and
shapes.
"""

import math
import zlib
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
ELEMENTS = 40  # of each value
ROUNDS = 4  # of the recurrent network


def array(name, shape, scale=1.0):
    """Return the input or weight of a name."""
    random = np.random.RandomState(zlib.crc32(f"{name}{tuple(shape)}".encode()))
    if name.endswith(("gamma", "variance")):
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    return (scale * random.uniform(-1, 1, shape)).astype(np.float32)


def weight(name, shape):
    """Return a Parameter: in a range that keeps values of deep networks near one."""
    fan_in = math.prod(shape[1:]) if len(shape) > 1 else 4
    return array(name, shape, math.sqrt(3 / fan_in))


def some(values):
    """Return evenly spaced elements of an array."""
    flat = np.asarray(values).reshape(-1)
    return flat[:: -(-flat.size // ELEMENTS)]


class Recorder:
    """Records outputs of operators and their gradients."""

    def __init__(self):
        self.outputs, self.parameters, self._counts = {}, {}, {}

    def __call__(self, op, tensor):
        number = self._counts.get(op, 0)
        self._counts[op] = number + 1
        entry = self.outputs[f"{op}/{number}"] = [tensor, None]
        tensor.register_hook(lambda gradient: entry.__setitem__(1, gradient))
        return tensor

    def parameter(self, name, *shape):
        import torch

        self.parameters[name] = torch.tensor(weight(name, shape), dtype=torch.float64, requires_grad=True)
        return self.parameters[name]

    def dense(self, name, x, units, bias=True):
        y = self("MatMul", x.reshape(-1, x.shape[-1]) @ self.parameter(f"{name}.weight", units, x.shape[-1]).T)
        if bias:
            y = self("BiasAdd", y + self.parameter(f"{name}.bias", units))
        return y.reshape(*x.shape[:-1], units)

    def conv(self, name, x, channels, kernel, stride=1, padding=0):
        import torch.nn.functional as F

        kernel = self.parameter(f"{name}.weight", channels, x.shape[1], kernel, kernel)
        return self("Conv2D", F.conv2d(x, kernel, stride=stride, padding=padding))

    def norm(self, name, x):
        import torch.nn.functional as F

        scale, shift = self.parameter(f"{name}.gamma", x.shape[1]), self.parameter(f"{name}.beta", x.shape[1])
        return self("BatchNorm", F.batch_norm(x, None, None, scale, shift, training=True, eps=1e-5))

    def layer_norm(self, name, x):
        import torch.nn.functional as F

        shape = x.shape[-1:]
        scale, shift = self.parameter(f"{name}.gamma", *shape), self.parameter(f"{name}.beta", *shape)
        return self("LayerNorm", F.layer_norm(x, shape, scale, shift, eps=1e-7))


def lenet(record, x):
    import torch.nn.functional as F

    x = record("MaxPool", F.max_pool2d(record("ReLU", record.conv("conv1", x, 6, 5).relu()), 2))
    x = record("MaxPool", F.max_pool2d(record("ReLU", record.conv("conv2", x, 16, 5).relu()), 2))
    x = record("ReLU", record.dense("fc1", x.reshape(len(x), -1), 120).relu())
    x = record("ReLU", record.dense("fc2", x, 84).relu())
    return record.dense("fc3", x, 10)


def resnet(record, x, width=8):
    import torch.nn.functional as F

    x = record("ReLU", record.norm("norm", record.conv("conv", x, width, 7, 2, 3)).relu())
    x = record("MaxPool", F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 3, 2))  # "same" padding
    for stage in range(4):
        for block in range(2):
            name, channels = f"stages.{stage}.{block}", width << stage
            stride = 2 if stage and not block else 1
            y = record(
                "ReLU", record.norm(f"{name}.norm1", record.conv(f"{name}.conv1", x, channels, 3, stride, 1)).relu()
            )
            y = record.norm(f"{name}.norm2", record.conv(f"{name}.conv2", y, channels, 3, 1, 1))
            if stride == 2:
                x = record.norm(f"{name}.down.1", record.conv(f"{name}.down.0", x, channels, 1, 2))
            x = record("ReLU", record("Add", y + x).relu())
    return record.dense("head", record("ReduceMean", x.mean((2, 3))), 10)


def transformer(record, x, heads=2):
    import torch.nn.functional as F

    batch, length, size = x.shape
    for number in range(2):
        name = f"blocks.{number}"
        y = record.layer_norm(f"{name}.norm1", x)
        q, k, v = (
            record.dense(f"{name}.{part}", y, size).reshape(batch, length, heads, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        scores = record("BatchMatMul", q @ k.transpose(2, 3))
        attention = record("Softmax", (scores * (heads / size) ** 0.5).softmax(-1))
        mixed = record("BatchMatMul", attention @ v).transpose(1, 2).reshape(batch, length, size)
        x = record("Add", x + record.dense(f"{name}.out", mixed, size))
        hidden = record(
            "GeLU",
            F.gelu(record.dense(f"{name}.up", record.layer_norm(f"{name}.norm2", x), 4 * size), approximate="tanh"),
        )
        x = record("Add", x + record.dense(f"{name}.down", hidden, size))
    return x


def recurrent(record, x, size=5):
    """Return a GRU that a loop runs for `ROUNDS` rounds on the same input."""
    import torch

    h = torch.zeros(len(x), size, dtype=x.dtype)
    weights = {}
    for name in "rzn":
        weights[name] = [
            record.parameter(f"{name}{side}.weight", size, n) for side, n in (("x", x.shape[1]), ("h", size))
        ]
    for _ in range(ROUNDS):
        r = record("Sigmoid", (x @ weights["r"][0].T + h @ weights["r"][1].T).sigmoid())
        z = record("Sigmoid", (x @ weights["z"][0].T + h @ weights["z"][1].T).sigmoid())
        n = record("Tanh", (x @ weights["n"][0].T + r * (h @ weights["n"][1].T)).tanh())
        h = record("Add", z * h + (1 - z) * n)
    return h


NETWORKS = {  # name: (function, shape of the input, shape of the output)
    "lenet": (lenet, (4, 1, 32, 32), (4, 10)),
    "resnet": (resnet, (8, 3, 32, 32), (8, 10)),
    "transformer": (transformer, (2, 5, 8), (2, 5, 8)),
    "recurrent": (recurrent, (3, 4), (3, 5)),
}


def main():
    import torch

    for name, (network, shape, result) in NETWORKS.items():
        record = Recorder()
        output = network(record, torch.tensor(array("x", shape), dtype=torch.float64))
        loss = ((output - torch.tensor(array("target", result))) ** 2).mean()
        loss.backward()
        stored = {"loss": loss.detach().numpy()}
        for key, (value, gradient) in record.outputs.items():
            stored[f"value {key}"] = some(value.detach().numpy())
            stored[f"gradient {key}"] = some(gradient.numpy())
        for key, parameter in record.parameters.items():
            stored[f"weight {key}"] = some(parameter.grad.numpy())
        np.savez_compressed(FOLDER / f"{name}.npz", **{key: np.float32(array) for key, array in stored.items()})
        print(name, stored["loss"], len(stored))


if __name__ == "__main__":
    main()
