"""Measure GRAPH dispatch beside hand-written JAX: the same step as a flat, donated `jax.jit`; interleaved medians.

python benchmarks/dispatch.py
"""

import functools
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import msnb
from msnb import Parameter, Tensor, context, nn, ops


def measure_in_turns(calls, rounds=30, repeat=60):
    """Return the median seconds per call of each function, measured in turns."""
    times = {name: [] for name in calls}
    for fn in calls.values():
        for _ in range(5):
            jax.block_until_ready(fn())
    for _ in range(rounds):
        for name, fn in calls.items():
            start = time.perf_counter()
            for _ in range(repeat):
                out = fn()
            jax.block_until_ready(out)
            times[name].append((time.perf_counter() - start) / repeat)
    return {name: statistics.median(t) for name, t in times.items()}


class MLP(nn.Cell):
    """An MLP of widths 64, 32 and 10 with a mean squared loss."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(64, 32, weight_init="normal")
        self.out = nn.Dense(32, 10, weight_init="normal")
        self.relu = nn.ReLU()

    def construct(self, x, y):
        error = self.out(self.relu(self.hidden(x))) - y
        return ops.ReduceMean()(error * error)


class Classifier(nn.Cell):
    """An MLP of widths 64, 32 and 10 with the cross entropy of class numbers, which msnb checks in each step."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out, self.relu = nn.Dense(64, 32), nn.Dense(32, 10), nn.ReLU()
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x, y):
        return self.loss(self.out(self.relu(self.hidden(x))), y)


def make_mlp_step(has_label_check=False):
    """Return {side: call} of a training step of an MLP with momentum. JAX by hand checks no labels."""
    context.set_context(mode=context.GRAPH_MODE)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(32, 64)).astype(np.float32), rng.normal(size=(32, 10)).astype(np.float32)
    if has_label_check:
        y = rng.integers(0, 10, 32).astype(np.int32)
    net = Classifier() if has_label_check else MLP()
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    tx, ty = Tensor(x), Tensor(y)
    jx, jy = jnp.asarray(x), jnp.asarray(y)
    state = [jnp.array(p.asnumpy()) for p in net.trainable_params()]
    state += [jnp.zeros_like(p) for p in state]

    def step_by_hand(state, x, y):
        weights, moments = state[:4], state[4:]

        def loss(w):
            w1, b1, w2, b2 = w
            out = jnp.maximum(x @ w1.T + b1, 0) @ w2.T + b2
            if has_label_check:
                return -jnp.take_along_axis(jax.nn.log_softmax(out), y[:, None], 1).mean()
            return jnp.mean((out - y) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        moments = [0.9 * m + g for m, g in zip(moments, grads)]
        return [w - 0.01 * m for w, m in zip(weights, moments)] + moments, value

    compiled = jax.jit(step_by_hand, donate_argnums=0)
    box = [state]

    def run_jax():
        box[0], value = compiled(box[0], jx, jy)
        return value

    return {"hand-written jax.jit": run_jax, "msnb GRAPH": lambda: step(tx, ty)._array}


class ScalarParameters(nn.Cell):
    """Many scalar Parameters. Each step changes all of them a little."""

    def __init__(self, count):
        super().__init__()
        self.names = [f"p{i}" for i in range(count)]
        for name in self.names:
            setattr(self, name, Parameter(np.ones((), np.float32), name=name))

    def construct(self, x):
        for name in self.names:
            param = getattr(self, name)
            param.set_data(param * 0.999)
        return x + 1


def make_scalar_updates(count=640):
    """Return {side: call} of a step that updates `count` scalars."""
    context.set_context(mode=context.GRAPH_MODE)
    net, tx, jx = ScalarParameters(count), Tensor(np.float32(1)), jnp.float32(1)
    compiled = jax.jit(lambda state, x: ([p * jnp.float32(0.999) for p in state], x + 1), donate_argnums=0)
    box = [[jnp.ones((), jnp.float32) for _ in range(count)]]

    def run_jax():
        box[0], value = compiled(box[0], jx)
        return value

    return {"hand-written jax.jit": run_jax, "msnb GRAPH": lambda: net(tx)._array}


# Rows of `compare.py`.
TIMED = {
    "MLP step": lambda: make_mlp_step()["msnb GRAPH"],
    "checked MLP step": lambda: make_mlp_step(has_label_check=True)["msnb GRAPH"],
    "640 scalar leaves": lambda: make_scalar_updates()["msnb GRAPH"],
    "MLP step, JAX (control)": lambda: make_mlp_step()["hand-written jax.jit"],
}


def main():
    """Print a table."""
    print(f"msnb {msnb.__version__}, jax {jax.__version__}, {jax.devices()[0].platform}")
    for name, make_calls in (
        ("MLP 64-32-10 step", make_mlp_step),
        ("with checked labels", functools.partial(make_mlp_step, True)),
        ("640 scalar leaves", make_scalar_updates),
    ):
        result = measure_in_turns(make_calls())
        base = result["hand-written jax.jit"]
        for side, seconds in result.items():
            print(
                f"{name:20} {side:22} {seconds * 1e6:8.1f} us   {seconds / base:5.2f}x   "
                f"{(seconds - base) * 1e6:+6.1f} us"
            )


if __name__ == "__main__":
    main()
