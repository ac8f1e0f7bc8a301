"""A row of `training.py` in each framework: what one calls, and how it takes the weights of another.

Each function here makes a `Peer` of a `Row`. What it calls is done when it returns, and gives numpy: the loss of a
training step, or the output of a network in evaluation. Weights go by MindSpore's names and in its shapes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """What is measured: a network of `networks.py`, on random input of this shape."""

    network: str
    shape: tuple
    trained: bool = True
    mode: str = "GRAPH"
    frozen: bool = False  # msnb only: the others have no such thing
    device: str = "CPU"  # or "GPU"


class Peer(NamedTuple):
    """See the module."""

    call: Callable  # () -> array
    shapes: dict  # name of a Parameter or moving statistic -> shape
    load: Callable  # ({name: array}) -> None, for all of these names
    trained: int  # how many numbers are trained


def data(row):
    """(x, class numbers) as numpy has them."""
    random = np.random.default_rng(0)
    return random.random(row.shape, np.float32), random.integers(0, 10, row.shape[0]).astype(np.int32)


def of_msnb(row):
    """The Cell of `networks.py` in msnb, under its alias."""
    import msnb
    import msnb.alias

    msnb.alias.install()
    return _cell(row, msnb.frozen if row.frozen else lambda net: net)


def of_mindspore(row):
    """The Cell in MindSpore itself. Its PYNATIVE mode is synchronous: asynchronously it spins on few cores."""
    return _cell(row, lambda net: net, pynative_synchronize=True)


def _cell(row, prepared, **settings):
    """What both have in common; `prepared` makes a network for inference of one in evaluation."""
    import networks

    import mindspore as ms

    ms.set_context(mode=getattr(ms, f"{row.mode}_MODE"), device_target=row.device, **settings)
    inputs = [ms.Tensor(value) for value in data(row)]
    net = getattr(networks, row.network)()
    parameters = {parameter.name: parameter for parameter in net.get_parameters()}
    if row.trained:
        run = networks.training_step(net)
    else:
        run, inputs = prepared(net.set_train(False)), inputs[:1]

    def load(weights):
        for name, value in weights.items():
            parameters[name].set_data(ms.Tensor(value))

    shapes = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    trained = sum(parameter.size for parameter in net.trainable_params())
    return Peer(lambda: run(*inputs).asnumpy(), shapes, load, trained)


def of_torch(row):
    """The Module of `networks_torch.py` in PyTorch's eager mode."""
    import networks_torch
    import torch

    place = "cuda" if row.device == "GPU" else "cpu"
    x, y = (torch.from_numpy(value).to(place) for value in data(row))
    net = getattr(networks_torch, row.network)().to(place)
    weights = networks_torch.weights(net)
    if row.trained:
        step, y = networks_torch.training_step(net), y.long()
        call = lambda: step(x, y).cpu().numpy()
    else:
        predict = networks_torch.prediction(net)
        call = lambda: predict(x).cpu().numpy()

    def load(given):
        for name, value in given.items():
            weights[name].copy_(torch.from_numpy(value))

    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    return Peer(call, shapes, load, sum(parameter.numel() for parameter in net.parameters()))


def of_jax(row):
    """The functions of `networks_jax.py`, compiled."""
    import jax
    import networks_jax

    jax.config.update("jax_default_device", jax.devices(row.device.lower())[0])
    x, y = data(row)
    x, y = jax.device_put(x.transpose(0, 2, 3, 1) if x.ndim == 4 else x), jax.device_put(y)
    init, apply = getattr(networks_jax, row.network)
    weights, moving = init(networks_jax.random_keys(0))
    state = [weights, moving]
    if row.trained:
        state.append(jax.tree.map(jax.numpy.zeros_like, weights))
        step = networks_jax.training_step(apply)
    else:
        predict = networks_jax.prediction(apply)

    def call():
        if not row.trained:
            return np.asarray(predict(*state, x))
        state[:], loss = step(tuple(state), x, y)
        return np.asarray(loss)

    def load(given):
        for number in (0, 1):
            state[number] = networks_jax.loaded(state[number], given)

    shapes = networks_jax.shapes(weights) | networks_jax.shapes(moving)
    return Peer(call, shapes, load, sum(leaf.size for leaf in jax.tree.leaves(weights)))


PEERS = {"msnb": of_msnb, "MindSpore": of_mindspore, "PyTorch": of_torch, "JAX": of_jax}
