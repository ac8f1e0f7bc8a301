"""Networks with a fault in one place: ResNet-18 and a Transformer, small, with the same Parameters as without it.

`FAULTS` lists (network, path of the Cell, kind of the fault). A faulty Cell has the class name of the correct one, as
if its `construct` had been edited.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb import Tensor, nn, ops
from msnb.common.initializer import Normal


# ---------------------------------------------------------------------- ResNet-18
class Block(nn.Cell):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, weight_init=Normal(0.2))
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, weight_init=Normal(0.2))
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, weight_init=Normal(0.5))
            self.down = nn.SequentialCell([conv, nn.BatchNorm2d(outputs)])

    def construct(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.down is not None:
            x = self.down(x)
        return self.relu(out + x)


class ResNet18(nn.Cell):
    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, weight_init=Normal(0.2))
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        blocks, inputs = [], width
        for stage, outputs in enumerate((width, 2 * width, 4 * width, 8 * width)):
            for number in range(2):
                blocks.append(Block(inputs, outputs, 2 if stage and not number else 1))
                inputs = outputs
        self.blocks = nn.SequentialCell(blocks)
        self.mean = ops.ReduceMean()
        self.head = nn.Dense(inputs, 10, weight_init=Normal(0.2))

    def construct(self, x: Tensor) -> Tensor:
        x = self.blocks(self.relu(self.bn1(self.conv1(x))))
        return self.head(self.mean(x, (2, 3)))


# ---------------------------------------------------------------------- Transformer
class Softmax(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.softmax = ops.Softmax(-1)

    def construct(self, x: Tensor) -> Tensor:
        return self.softmax(x)


class Attention(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Dense(width, width, weight_init=Normal(0.3)) for _ in range(4))
        self.softmax = Softmax()
        self.product, self.product_t = ops.BatchMatMul(), ops.BatchMatMul(transpose_b=True)

    def split(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return x.reshape((batch, length, self.heads, self.size)).transpose((0, 2, 1, 3))

    def construct(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = self.softmax(self.product_t(query, key) * (self.size**-0.5))
        mixed = self.product(weights, value).transpose((0, 2, 1, 3)).reshape((batch, length, width))
        return self.out(mixed)


class Layer(nn.Cell):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention = Attention(width, 2)
        self.fc1, self.fc2 = (nn.Dense(width, width, weight_init=Normal(0.3)) for _ in range(2))
        self.gelu = nn.GELU()

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(self.gelu(self.fc1(self.norm2(x))))


class Transformer(nn.Cell):
    def __init__(self, width: int = 8, layers: int = 4) -> None:
        super().__init__()
        self.layers = nn.CellList([Layer(width) for _ in range(layers)])
        self.norm = nn.LayerNorm((width,))

    def construct(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


# ---------------------------------------------------------------------- faults
def _named(name: str, base: type, construct: Callable[..., Any]) -> type:
    """Return a class of the name of another, with another `construct`."""
    return type(name, (base,), {"construct": construct, "__module__": __name__})


def _swapped_kernel(self: Any, x: Tensor) -> Tensor:
    return self.conv2d(x, self.weight.transpose((0, 1, 3, 2)))


def _transposed_weight(self: Any, x: Tensor) -> Tensor:
    shape = x.shape
    rows = ops.MatMul(transpose_b=True)(x.reshape((-1, shape[-1])), self.weight.transpose((1, 0)))
    return (rows + self.bias).reshape(shape)


def _low_precision(self: Any, x: Tensor) -> Tensor:
    return self.softmax(x.astype("float16")).astype("float32")


def _wrong_axis(self: Any, x: Tensor) -> Tensor:
    return ops.Softmax(-2)(x)


def _wrong_scale(self: Any, x: Tensor) -> Tensor:
    return ops.GeLU()(x * 1.001)


class Kind(NamedTuple):
    """A kind of fault: how it changes a Cell, and the operator that makes the difference."""

    apply: Callable[[nn.Cell], None]
    operator: str


def _construct(name: str, function: Callable[..., Any]) -> Callable[[nn.Cell], None]:
    def apply(cell: nn.Cell) -> None:
        cell.__class__ = _named(name, type(cell), function)

    return apply


def _batch_norm(self: Any, x: Tensor) -> Tensor:
    norm = ops.BatchNorm(epsilon=1e-3)
    return norm(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]


def _layer_norm(self: Any, x: Tensor) -> Tensor:
    return ops.LayerNorm(-1, -1, 1e-3)(x, self.gamma, self.beta)[0]


KINDS = {
    "wrong eps": Kind(_construct("BatchNorm2d", _batch_norm), "BatchNorm"),
    "swapped axes of the kernel": Kind(_construct("Conv2d", _swapped_kernel), "Conv2D"),
    "wrong epsilon": Kind(_construct("LayerNorm", _layer_norm), "LayerNorm"),
    "transposed weight": Kind(_construct("Dense", _transposed_weight), "MatMul"),
    "float16 softmax": Kind(_construct("Softmax", _low_precision), "Softmax"),
    "wrong axis": Kind(_construct("Softmax", _wrong_axis), "Softmax"),
    "wrong scale": Kind(_construct("GELU", _wrong_scale), "GeLU"),
}
NETWORKS: dict[str, Callable[[], nn.Cell]] = {"ResNet-18": ResNet18, "Transformer": Transformer}


def _list_faults() -> list[tuple[str, str, str]]:
    faults = []
    for name, cell in ResNet18().cells_and_names():
        if isinstance(cell, nn.BatchNorm2d):
            faults.append(("ResNet-18", name, "wrong eps"))
        elif isinstance(cell, nn.Conv2d) and cell.kernel_size == (3, 3):
            faults.append(("ResNet-18", name, "swapped axes of the kernel"))
    for name, cell in Transformer().cells_and_names():
        if isinstance(cell, nn.LayerNorm):
            faults.append(("Transformer", name, "wrong epsilon"))
        elif isinstance(cell, nn.Dense):
            faults.append(("Transformer", name, "transposed weight"))
        elif isinstance(cell, Softmax):
            faults.append(("Transformer", name, "wrong axis" if name.startswith("layers.1") else "float16 softmax"))
        elif isinstance(cell, nn.GELU):
            faults.append(("Transformer", name, "wrong scale"))
    return [*faults[:30], *[fault for fault in faults if fault[0] == "Transformer"][:30]]


FAULTS = _list_faults()


def network(name: str) -> nn.Cell:
    """Return a network whose moving averages are not 0 and 1, in evaluation mode."""
    net, rng = NETWORKS[name](), np.random.default_rng(1)
    for parameter in net.get_parameters():
        if "moving" in parameter.name or parameter.name.endswith(("gamma", "beta")):
            parameter.set_data(Tensor((0.5 + rng.random(parameter.shape)).astype(np.float32)))
    return net.set_train(False)


def inject(net: nn.Cell, path: str, kind: str) -> None:
    """Put a fault into the Cell at a path."""
    KINDS[kind].apply(dict(net.cells_and_names())[path])


def batch(name: str) -> Tensor:
    """Inputs of a network."""
    shape = (2, 3, 16, 16) if name == "ResNet-18" else (2, 6, 8)
    return Tensor(np.random.default_rng(2).standard_normal(shape).astype(np.float32))
