"""The networks of `networks.py` by hand in JAX: pure functions over dicts of arrays, one compiled function a step.

A network is a pair of functions. `init(keys)` returns (weights, moving): trained arrays, and the moving statistics of
batch normalisation. Both are nested dicts and lists whose paths are MindSpore's names. `apply(weights, moving, x,
training)` returns (logits, moving). Images are (batch, height, width, channels), which XLA likes best on a CPU; kernels
are (height, width, in, out), matrices (in, out).
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Network(NamedTuple):
    """A network as two functions; the docstring of this module describes them."""

    init: object
    apply: object


def training_step(apply):
    """Return a step of momentum with the cross entropy of class numbers: (state, x, y) to (state, loss)."""

    def loss(weights, moving, x, y):
        logits, moving = apply(weights, moving, x, True)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean(), moving

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        weights, moving, velocity = state
        (value, moving), gradients = jax.value_and_grad(loss, has_aux=True)(weights, moving, x, y)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
        weights = jax.tree.map(lambda w, v: w - 0.01 * v, weights, velocity)
        return (weights, moving, velocity), value

    return step


def prediction(apply):
    """Return the compiled network in evaluation: (weights, moving, x) to logits."""
    return jax.jit(lambda weights, moving, x: apply(weights, moving, x, False)[0])


def random_keys(seed):
    """Yield random keys without end."""
    key = jax.random.key(seed)
    while True:
        key, next_one = jax.random.split(key)
        yield next_one


def name_of_leaf(path):
    """Return MindSpore's name of the leaf at a path."""
    return jax.tree_util.keystr(path, simple=True, separator=".")


def shapes(tree):
    """Return {MindSpore's name: shape in MindSpore} of weights or moving statistics."""
    axes = {1: (0,), 2: (1, 0), 4: (3, 2, 0, 1)}
    leaves = jax.tree.leaves_with_path(tree)
    return {name_of_leaf(path): tuple(leaf.shape[axis] for axis in axes[leaf.ndim]) for path, leaf in leaves}


def load_weights(tree, values):
    """Return `tree` with MindSpore's `values`, {name: numpy array}, whose matrices and kernels are transposed."""

    def convert(path, leaf):
        value = values[name_of_leaf(path)]
        if name_of_leaf(path) == "fc1.weight":  # LeNet's reads an image of 16 channels, which are the last axis here
            value = value.reshape(-1, 16, 5, 5).transpose(0, 2, 3, 1).reshape(value.shape)
        return jnp.array(value.transpose(2, 3, 1, 0) if value.ndim == 4 else value.T)

    return jax.tree.map_with_path(convert, tree)


def dense_init(keys, inputs, outputs):
    weight = jax.random.normal(next(keys), (inputs, outputs)) * inputs**-0.5
    return {"weight": weight, "bias": jnp.zeros(outputs)}


def dense(weights, x):
    return x @ weights["weight"] + weights["bias"]


def conv_init(keys, inputs, outputs, size):
    weight = jax.random.normal(next(keys), (size, size, inputs, outputs)) * (2 / (size * size * inputs)) ** 0.5
    return {"weight": weight}


def conv(weights, x, stride=1, padding="SAME"):
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, weights["weight"], (stride, stride), padding, dimension_numbers=layout)


def max_pool(x, size, stride, padding="VALID"):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), padding)


def norm_init(width):
    return {"gamma": jnp.ones(width), "beta": jnp.zeros(width)}


def normalise(weights, x, mean, variance, epsilon):
    return (x - mean) * lax.rsqrt(variance + epsilon) * weights["gamma"] + weights["beta"]


def layer_norm(weights, x):
    return normalise(weights, x, x.mean(-1, keepdims=True), x.var(-1, keepdims=True), 1e-7)


def moving_init(width):
    return {"moving_mean": jnp.zeros(width), "moving_variance": jnp.ones(width)}


def batch_norm(weights, moving, x, training):
    """Return (normalised images, moving statistics). The moving variance is that of a sample, with n - 1."""
    if not training:
        return normalise(weights, x, moving["moving_mean"], moving["moving_variance"], 1e-5), moving
    mean, variance, count = x.mean((0, 1, 2)), x.var((0, 1, 2)), x.size // x.shape[-1]
    statistics = {"moving_mean": mean, "moving_variance": variance * (count / (count - 1))}
    moving = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * lax.stop_gradient(new), moving, statistics)
    return normalise(weights, x, mean, variance, 1e-5), moving


def mlp_init(keys):
    return {"hidden": dense_init(keys, 64, 32), "out": dense_init(keys, 32, 10)}, {}


def mlp(weights, moving, x, training):
    """An MLP of widths 64, 32 and 10."""
    return dense(weights["out"], jax.nn.relu(dense(weights["hidden"], x))), moving


def block_init(keys, width):
    layers = {name: dense_init(keys, width, width) for name in ("query", "key", "value", "out")}
    layers |= {"first": norm_init(width), "second": norm_init(width)}
    return layers | {"wide": dense_init(keys, width, 4 * width), "narrow": dense_init(keys, 4 * width, width)}


def block(weights, x, heads):
    """A block of a Transformer encoder: attention, then two dense layers, each beside a shortcut and normalised."""
    query, key, value = (dense(weights[n], x).reshape(*x.shape[:2], heads, -1) for n in ("query", "key", "value"))
    scores = jnp.einsum("bqhs,bkhs->bhqk", query, key) * query.shape[-1] ** -0.5
    mixed = jnp.einsum("bhqk,bkhs->bqhs", jax.nn.softmax(scores), value).reshape(x.shape)
    x = layer_norm(weights["first"], x + dense(weights["out"], mixed))
    return layer_norm(weights["second"], x + dense(weights["narrow"], jax.nn.relu(dense(weights["wide"], x))))


def encoder_init(keys):
    return {"blocks": [block_init(keys, 256) for _ in range(4)], "head": dense_init(keys, 256, 10)}, {}


def encoder(weights, moving, x, training):
    """Four blocks of width 256, and ten classes from the mean over the tokens."""
    for layer in weights["blocks"]:
        x = block(layer, x, 4)
    return dense(weights["head"], x.mean(1)), moving


def lenet_init(keys):
    weights = {"conv1": conv_init(keys, 1, 6, 5), "conv2": conv_init(keys, 6, 16, 5)}
    weights |= {"fc1": dense_init(keys, 400, 120), "fc2": dense_init(keys, 120, 84), "fc3": dense_init(keys, 84, 10)}
    return weights, {}


def lenet(weights, moving, x, training):
    """LeNet-5 for 32x32 images of one channel."""
    for layer in ("conv1", "conv2"):
        x = max_pool(jax.nn.relu(conv(weights[layer], x, padding="VALID")), 2, 2)
    x = x.reshape(len(x), -1)
    for layer in ("fc1", "fc2"):
        x = jax.nn.relu(dense(weights[layer], x))
    return dense(weights["fc3"], x), moving


STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
BLOCKS = [(middle, stride if number == 0 else 1) for middle, count, stride in STAGES for number in range(count)]


def bottleneck_init(keys, inputs, middle, stride):
    outputs = 4 * middle
    sizes = {"1": (inputs, middle, 1), "2": (middle, middle, 3), "3": (middle, outputs, 1)}
    weights = {f"conv{n}": conv_init(keys, *size) for n, size in sizes.items()}
    weights |= {f"bn{n}": norm_init(size[1]) for n, size in sizes.items()}
    moving = {f"bn{n}": moving_init(size[1]) for n, size in sizes.items()}
    if inputs != outputs or stride != 1:
        weights["down"] = [conv_init(keys, inputs, outputs, 1), norm_init(outputs)]
        moving["down"] = [{}, moving_init(outputs)]
    return weights, moving


def bottleneck(weights, moving, x, stride, training):
    """A block of three convolutions beside a shortcut: (images, moving statistics)."""
    y, moved = x, {}
    for n, step in (("1", 1), ("2", stride), ("3", 1)):
        y = conv(weights[f"conv{n}"], y, step)
        y, moved[f"bn{n}"] = batch_norm(weights[f"bn{n}"], moving[f"bn{n}"], y, training)
        if n != "3":
            y = jax.nn.relu(y)
    if "down" in weights:
        x, last = batch_norm(weights["down"][1], moving["down"][1], conv(weights["down"][0], x, stride), training)
        moved["down"] = [{}, last]
    return jax.nn.relu(y + x), moved


def resnet50_init(keys):
    inputs = [64] + [4 * middle for middle, _ in BLOCKS[:-1]]
    blocks = [bottleneck_init(keys, count, *sizes) for count, sizes in zip(inputs, BLOCKS)]
    weights = {"conv": conv_init(keys, 3, 64, 7), "bn": norm_init(64), "head": dense_init(keys, 2048, 10)}
    moving = {"bn": moving_init(64), "blocks": [moving for _, moving in blocks]}
    return weights | {"blocks": [weights for weights, _ in blocks]}, moving


def resnet50(weights, moving, x, training):
    """ResNet-50 for ten classes."""
    x, first = batch_norm(weights["bn"], moving["bn"], conv(weights["conv"], x, 2), training)
    x, moved = max_pool(jax.nn.relu(x), 3, 2, "SAME"), []
    for layer, statistics, (_, stride) in zip(weights["blocks"], moving["blocks"], BLOCKS):
        x, new = bottleneck(layer, statistics, x, stride, training)
        moved.append(new)
    return dense(weights["head"], x.mean((1, 2))), {"bn": first, "blocks": moved}


MLP, Encoder = Network(mlp_init, mlp), Network(encoder_init, encoder)
LeNet, ResNet50 = Network(lenet_init, lenet), Network(resnet50_init, resnet50)
