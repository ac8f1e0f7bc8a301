"""Measure the step time of a LeNet-5 that reads a pipeline."""

import statistics
import time

from pipelines.programs import make_pipelines


def measure_training(folder, rounds, steps=625):
    """Return the milliseconds per step of LeNet-5 with batches in memory, a new pipeline, and later epochs of one."""
    import msnb as ms
    from msnb import nn

    ms.set_seed(1)
    ms.context.set_context(mode=ms.context.GRAPH_MODE)
    layers = []
    for channels, width in ((1, 6), (6, 16)):
        layers += [nn.Conv2d(channels, width, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2)]
    layers.append(nn.Flatten())
    for inputs, outputs in ((400, 120), (120, 84)):
        layers += [nn.Dense(inputs, outputs), nn.ReLU()]
    net = nn.SequentialCell([*layers, nn.Dense(84, 10)])
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    lenet = make_pipelines("msnb", folder)["MNIST, LeNet's"].pipeline

    def run(batches):
        begin = time.perf_counter()
        for _, batch in zip(range(steps), batches, strict=False):
            out = step(*batch)
        out.asnumpy()
        return (time.perf_counter() - begin) / steps * 1e3

    iterator = lenet()[0].create_tuple_iterator()
    batches_in_memory = [batch for _, batch in zip(range(steps), iterator, strict=False)]
    for _ in iterator:
        pass
    run(batches_in_memory)
    times = {"in memory": [], "new pipeline": [], "later epochs": []}
    for _ in range(rounds):
        times["in memory"].append(run(batches_in_memory))
        times["new pipeline"].append(run(lenet()[0].create_tuple_iterator()))
        times["later epochs"].append(run(iterator))
        for _ in iterator:
            pass
    return {name: statistics.median(values) for name, values in times.items()}
