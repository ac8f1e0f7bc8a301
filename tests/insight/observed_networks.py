"""Trainings that every observer is tried on: small networks, one for each way in which a program is built.

`NETWORKS` maps a name to a function that makes a `Training`. Equal calls make equal trainings: what an observer changes
shows in the losses and the Parameters.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import msnb as ms
from msnb import Parameter, Tensor, context, dataset, nn, ops

ROWS, WIDTH, CLASSES = 6, 4, 3
STEPS = 3


def floats(*shape: int) -> Tensor:
    """Numbers around 0, the same for the same shape."""
    return Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def labels() -> Tensor:
    """One class for each row."""
    return Tensor(np.arange(ROWS, dtype=np.int32) % CLASSES)


def dense(inputs: int, outputs: int) -> nn.Dense:
    """Return a Dense whose first weights depend on its sizes alone."""
    return nn.Dense(inputs, outputs, weight_init=floats(outputs, inputs) * 0.5)


@dataclasses.dataclass
class Training:
    """A training of a few steps.

    Attributes:
        step (Cell or Callable): One step; None where the whole is one call of `run`.
        inputs (tuple): Its inputs.
        parameters (list): The Parameters that it moves.
        run_all (Callable): Runs the training; returns the losses. Default: `step`, called `STEPS` times.
    """

    step: Any
    inputs: tuple[Any, ...]
    parameters: list[Parameter]
    run_all: Callable[[], Any] | None = None

    def run(self) -> list[np.ndarray]:
        """Train; returns the losses of all steps and then the Parameters, as numpy arrays."""
        if self.run_all is not None:
            losses = list(self.run_all())
        else:
            losses = [result for _ in range(STEPS) for result in flat(self.step(*self.inputs))]
        return [result.asnumpy() for result in losses] + [p.asnumpy() for p in self.parameters]


def flat(value: Any) -> list[Tensor]:
    """Return the Tensors in what a step returns."""
    return [one for item in value for one in flat(item)] if isinstance(value, (tuple, list)) else [value]


class Summarised(nn.Cell):
    """Adds summary operators to a network that returns the value to be minimised."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.net = net
        self.scalar, self.histogram, self.tensor = ops.ScalarSummary(), ops.HistogramSummary(), ops.TensorSummary()

    def construct(self, *inputs: Any) -> Any:
        loss = self.net(*inputs)
        self.scalar("loss", loss)
        self.histogram("input", inputs[0])
        self.tensor("input as a Tensor", inputs[0])
        return loss


def trained(net: nn.Cell, inputs: tuple[Any, ...], optimizer: type = nn.Adam) -> Training:
    """Return a Training of a network that returns its loss."""
    net = Summarised(net)
    parameters = net.trainable_params()
    step = nn.TrainOneStepCell(net, optimizer(parameters, 0.01)).set_train()
    return Training(step, inputs, parameters)


def with_loss(net: nn.Cell) -> nn.Cell:
    """Return the network and its loss."""
    return nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))


def dropout() -> Training:
    net = nn.SequentialCell([dense(WIDTH, 8), nn.ReLU(), nn.Dropout(0.8), dense(8, CLASSES)])
    return trained(with_loss(net), (floats(ROWS, WIDTH), labels()))


class Recurrent(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, 5, batch_first=True)
        self.head = dense(5, CLASSES)
        for parameter in self.lstm.get_parameters():
            parameter.set_data(floats(*parameter.shape) * 0.3)
        self.start = Tensor(np.zeros((1, ROWS, 5), np.float32))

    def construct(self, x: Tensor) -> Tensor:
        out, _ = self.lstm(x, (self.start, self.start))
        return self.head(out[:, -1])


def lstm() -> Training:
    return trained(with_loss(Recurrent()), (floats(ROWS, 3, WIDTH), labels()))


class While(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.histogram = dense(WIDTH, WIDTH), ops.HistogramSummary()

    def construct(self, x: Tensor, rounds: Tensor) -> Tensor:
        i = ops.zeros_like(rounds)
        while i < rounds:
            x = ops.tanh(self.layer(x))
            self.histogram("round", x)
            i = i + 1
        return x.sum()


def while_loop() -> Training:
    return trained(While(), (floats(ROWS, WIDTH), Tensor(3, ms.int32)))


class Scanned(nn.Cell):
    """A loop of a number of rounds that is known, which is one `scan`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = dense(WIDTH, WIDTH)

    def construct(self, x: Tensor) -> Tensor:
        return ops.ForiLoop()(0, 3, lambda i, x: ops.tanh(self.layer(x)), x, False).sum()


def scan() -> Training:
    return trained(Scanned(), (floats(ROWS, WIDTH),))


class Recomputed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.CellList(
            [nn.SequentialCell([dense(WIDTH, 8), nn.Dropout(0.8), nn.Tanh(), dense(8, WIDTH)]) for _ in range(3)]
        )
        for block in self.blocks:
            block.recompute()

    def construct(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x.sum()


def recompute() -> Training:
    return trained(Recomputed(), (floats(ROWS, WIDTH),))


def mixed_precision() -> Training:
    net = nn.SequentialCell([dense(WIDTH, 8), nn.BatchNorm1d(8), nn.ReLU(), dense(8, CLASSES)])
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = ms.DynamicLossScaleManager(init_loss_scale=16)
    step = ms.train.amp.build_train_network(net, optimizer, loss, level="O2", loss_scale_manager=manager).set_train()
    return Training(step, (floats(ROWS, WIDTH), labels()), net.trainable_params())


class LookedUp(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.EmbeddingLookup(10, WIDTH, target="DEVICE", sparse=True)
        self.table.embedding_table.set_data(floats(10, WIDTH))
        self.head = dense(WIDTH, CLASSES)

    def construct(self, numbers: Tensor) -> Tensor:
        return self.head(self.table(numbers))


def sparse_gradients() -> Training:
    numbers = Tensor(np.array([1, 3, 3, 9, 0, 1], np.int32))
    return trained(with_loss(LookedUp()), (numbers, labels()), nn.LazyAdam)


class SeveralOutputs(nn.Cell):
    """A step that returns its loss between two other results, a whole number among them."""

    def __init__(self) -> None:
        super().__init__()
        self.net = dense(WIDTH, CLASSES)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.optimizer = nn.Adam(self.net.trainable_params(), 0.01)
        self.gradient = ops.GradOperation(get_by_list=True)
        self.whole = with_loss(self.net)
        self.argmax = ops.Argmax()

    def construct(self, x: Tensor, y: Tensor) -> tuple[Any, ...]:
        gradients = self.gradient(self.whole, self.optimizer.parameters)(x, y)
        logits = self.net(x)
        self.optimizer(gradients)
        return self.argmax(logits), (self.loss(logits, y), logits)


def several_outputs() -> Training:
    step = SeveralOutputs().set_train()
    return Training(step, (floats(ROWS, WIDTH), labels()), step.net.trainable_params())


class Losses(ms.train.callback.Callback):
    """Keeps the loss of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.losses = []

    def step_end(self, run_context: Any) -> None:
        self.losses.append(run_context.original_args().net_outputs)


def data_sink() -> Training:
    rows = floats(4 * ROWS, WIDTH).asnumpy(), np.arange(4 * ROWS, dtype=np.int32) % CLASSES
    batches = dataset.NumpySlicesDataset(rows, ["data", "label"], shuffle=False).batch(ROWS)
    net = nn.SequentialCell([dense(WIDTH, 8), nn.Dropout(0.8), nn.ReLU(), dense(8, CLASSES)])
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = ms.Model(net, loss, nn.Adam(net.trainable_params(), 0.01))
    losses = Losses()

    def run_all():
        model.train(2, batches, callbacks=losses, dataset_sink_mode=True, sink_size=2)
        return losses.losses

    return Training(None, (), net.trainable_params(), run_all)


def value_and_grad() -> Training:
    net = nn.SequentialCell([dense(WIDTH, 8), nn.Dropout(0.8), nn.ReLU(), dense(8, CLASSES)]).set_train()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    return Training(step, (floats(ROWS, WIDTH), labels()), net.trainable_params())


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.tanh = dense(8, 8), nn.Tanh()

    def construct(self, x: Tensor) -> Tensor:
        return x + self.tanh(self.layer(x))


class Blocks(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(4)])
        self.head = dense(8, 2)

    def construct(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return ops.square(self.head(x)).mean()


def pipeline_stages() -> Training:
    context.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", device_num=8, pipeline_stages=2, full_batch=True
    )
    net = Blocks()
    step = nn.TrainOneStepCell(nn.PipelineCell(net, 4), nn.Adam(net.trainable_params(), 0.01)).set_train()
    return Training(step, (floats(16, 8),), net.trainable_params())


NETWORKS = {
    "Dropout": dropout,
    "LSTM": lstm,
    "while": while_loop,
    "scan": scan,
    "recompute": recompute,
    "mixed precision": mixed_precision,
    "sparse gradients": sparse_gradients,
    "several outputs": several_outputs,
    "data sink": data_sink,
    "value_and_grad": value_and_grad,
}
