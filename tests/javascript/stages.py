"""Train steps in all their stages, and of each node which operators of which Cells it is, or is made of."""

import base64

import numpy as np

from msnb import Tensor, nn
from msnb.core.program.program_cache import program_of
from msnb.ir.compare import compare
from msnb.ir.payload import difference, pack, stage
from msnb.ir.stages import Stages


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.relu = nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 3), nn.ReLU()

    def construct(self, x):
        return self.relu(self.conv2(self.relu(self.conv1(x))) + x)


class ResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Conv2d(1, 4, 3), nn.Dense(4, 10)
        self.layer1 = nn.SequentialCell(Residual(), Residual())
        self.layer2 = nn.SequentialCell(Residual(), Residual())

    def construct(self, x):
        return self.head(self.layer2(self.layer1(self.stem(x))).mean((2, 3)))


def facts(net, side):
    """Return the payload of a train step's stages, and per stage and node its [lane, "scope/operator"]."""
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    x, labels = Tensor(np.ones((2, 1, side, side), np.float32)), Tensor(np.zeros(2, np.int32))
    stages = Stages(program_of(step, x, labels), type(net).__name__)
    graphs = {name: stages[name] for name in stages.offered}
    several = list(graphs.values())
    pairs = [(a, b) for b in range(len(several)) for a in range(b)]
    return {
        "payload": base64.b64encode(
            pack(
                [stage(graph, name) for name, graph in graphs.items()],
                diffs=[difference(a, b, compare(several[a], several[b])) for a, b in pairs],
            )
        ).decode(),
        "made_of": {name: [_parts(node) for node in graph.all_nodes()] for name, graph in graphs.items()},
    }


def _parts(node):
    if node.kernel is not None:
        results = [(node.scope, node.op, node.direction == "backward")]
    else:  # a kernel is made of several; what an operator is made of stands in a scope that is called after it
        results = [origin[:3] for origin in node.origins] or [(node.scope, node.op, node.direction == "backward")]
    return [f"{backward} {path}" for scope, op, backward in results for path in (scope, f"{scope}/{op}")]


def steps():
    return {"lenet": facts(LeNet(), 28), "resnet": facts(ResNet(), 8)}
