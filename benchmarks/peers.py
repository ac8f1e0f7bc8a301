"""Rows of `training.py` in each framework.

Each function makes a `Peer` of a `Row`. Its call waits for the result and returns numpy: the loss of a training step,
or the output of a network in evaluation. Weights have MindSpore's names and shapes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """A network of `networks.py`, random input of a shape, and settings."""

    network: str
    shape: tuple
    trained: bool = True
    mode: str = "GRAPH"
    frozen: bool = False  # of msnb only
    device: str = "CPU"  # or "GPU"


class Peer(NamedTuple):
    """A row in one framework."""

    call: Callable  # () -> array
    shapes: dict  # name of a Parameter or moving statistic -> shape
    load: Callable  # ({name: array}) -> None, for all of these names
    trained: int  # number of trained scalars


def make_data(row):
    """Return (x, class numbers) as numpy arrays."""
    random = np.random.default_rng(0)
    return random.random(row.shape, np.float32), random.integers(0, 10, row.shape[0]).astype(np.int32)


def make_msnb_peer(row):
    """Return the Cell of `networks.py` in msnb, under its alias."""
    import msnb
    import msnb.alias

    msnb.alias.install()
    return _make_cell_peer(row, msnb.frozen if row.frozen else lambda net: net)


def make_mindspore_peer(row):
    """Return the Cell in MindSpore itself. Its PYNATIVE mode is synchronous: asynchronously it spins on few cores."""
    return _make_cell_peer(row, lambda net: net, pynative_synchronize=True)


def _make_cell_peer(row, prepare, **settings):
    """Return a Cell of the imported `mindspore`. `prepared` converts a network in evaluation for inference."""
    import networks

    import mindspore as ms

    ms.set_context(mode=getattr(ms, f"{row.mode}_MODE"), device_target=row.device, **settings)
    inputs = [ms.Tensor(value) for value in make_data(row)]
    net = getattr(networks, row.network)()
    parameters = {parameter.name: parameter for parameter in net.get_parameters()}
    if row.trained:
        run = networks.training_step(net)
    else:
        run, inputs = prepare(net.set_train(False)), inputs[:1]

    def load(weights):
        for name, value in weights.items():
            parameters[name].set_data(ms.Tensor(value))

    shapes = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    trained = sum(parameter.size for parameter in net.trainable_params())
    return Peer(lambda: run(*inputs).asnumpy(), shapes, load, trained)


def make_torch_peer(row):
    """Return the Module of `networks_torch.py` in PyTorch's eager mode."""
    import networks_torch
    import torch

    device = "cuda" if row.device == "GPU" else "cpu"
    x, y = (torch.from_numpy(value).to(device) for value in make_data(row))
    net = getattr(networks_torch, row.network)().to(device)
    weights = networks_torch.weights(net)
    if row.trained:
        step, y = networks_torch.training_step(net), y.long()
        call = lambda: step(x, y).cpu().numpy()
    else:
        predict = networks_torch.prediction(net)
        call = lambda: predict(x).cpu().numpy()

    def load(arrays):
        for name, value in arrays.items():
            weights[name].copy_(torch.from_numpy(value))

    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    return Peer(call, shapes, load, sum(parameter.numel() for parameter in net.parameters()))


def make_jax_peer(row):
    """Return the compiled functions of `networks_jax.py`."""
    import jax
    import networks_jax

    jax.config.update("jax_default_device", jax.devices(row.device.lower())[0])
    x, y = make_data(row)
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

    def load(arrays):
        for number in (0, 1):
            state[number] = networks_jax.load_weights(state[number], arrays)

    shapes = networks_jax.shapes(weights) | networks_jax.shapes(moving)
    return Peer(call, shapes, load, sum(leaf.size for leaf in jax.tree.leaves(weights)))


PEERS = {"msnb": make_msnb_peer, "MindSpore": make_mindspore_peer, "PyTorch": make_torch_peer, "JAX": make_jax_peer}
