"""Training of the session's network with the answers."""

import copy

import numpy as np

from msnb import nn
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


def train_network(
    net: Cell,
    inputs: np.ndarray,
    targets: np.ndarray,
    is_multilabel: bool,
    epochs: int,
    learning_rate: float,
    batch_size: int,
) -> None:
    """Train a copy of a network, then copy its Parameters to the network.

    Args:
        net (Cell): the network; its output is (items, classes).
        inputs (numpy.ndarray): inputs of all items.
        targets (numpy.ndarray): (items, classes) of 0 and 1.
        is_multilabel (bool): True for one sigmoid per class, False for a softmax.
        epochs (int): number of epochs.
        learning_rate (float): learning rate of Adam.
        batch_size (int): examples per step; the last examples of an epoch are filled up with its first ones.

    Raises:
        ValueError: If the network has another number of outputs.
    """
    trained = copy.deepcopy(net)
    trained.set_train(False)
    shape = trained(Tensor(inputs[:1])).shape
    if shape != (1, targets.shape[1]):
        raise ValueError(
            f"For 'train_net', the network should return one number per class, (items, {targets.shape[1]}), but "
            f"returns the shape {shape} for one item."
        )
    loss = nn.BCEWithLogitsLoss() if is_multilabel else nn.SoftmaxCrossEntropyWithLogits(reduction="mean")
    optimizer = nn.Adam(trained.trainable_params(), learning_rate)
    step = nn.TrainOneStepCell(nn.WithLossCell(trained, loss), optimizer).set_train()
    targets = targets.astype(np.float32)
    size, rng = min(batch_size, len(inputs)), np.random.default_rng(0)
    for _ in range(epochs):
        order = rng.permutation(len(inputs))
        order = np.concatenate([order, order[: -len(order) % size]])
        for first in range(0, len(order), size):
            rows = order[first : first + size]
            step(Tensor(inputs[rows]), Tensor(targets[rows]))
    values = {parameter.name: parameter for parameter in trained.get_parameters()}
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(values[parameter.name].asnumpy()))
