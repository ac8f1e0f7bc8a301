"""Measure the differentiable `while` beside equinox's bounded loop: gradient of n times tanh(w @ x), w 64x64, x 64.

python benchmarks/while_loop.py        (equinox is a row if it is installed)
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from dispatch import measure_in_turns

from msnb import Tensor, context, ops


def repeat_layer(x, w, n):
    """Return the sum of x after n times tanh(w @ x)."""
    i = 0
    while i < n:
        x = ops.Tanh()(ops.MatMul()(w, x))
        i = i + 1
    return x.sum()


def make_gradients(n):
    """Return {name: gradient call} for n rounds."""
    context.set_context(mode=context.GRAPH_MODE)
    rng = np.random.default_rng(0)
    w, x = (rng.normal(size=s).astype(np.float32) * 0.1 for s in ((64, 64), (64, 1)))
    tx, tw, tn = Tensor(x), Tensor(w), Tensor(np.int32(n))
    grad = ops.GradOperation(get_all=True)(repeat_layer)
    jx, jw, jn = jnp.asarray(x), jnp.asarray(w), jnp.int32(n)
    calls = {"msnb while": lambda: [g._array for g in grad(tx, tw, tn)]}
    try:
        import equinox.internal as eqxi

        def bounded(w, x, n):
            def body(state):
                i, x = state
                return i + 1, jnp.tanh(w @ x)

            return eqxi.while_loop(lambda s: s[0] < n, body, (jnp.int32(0), x), kind="bounded", max_steps=1024)[1].sum()

        compiled = jax.jit(jax.grad(bounded, argnums=(0, 1)))
        calls["equinox bounded 1024"] = lambda: compiled(jw, jx, jn)
    except ImportError:
        pass
    return calls


# Rows of `compare.py`.
TIMED = {f"gradient, n = {n}": lambda n=n: make_gradients(n)["msnb while"] for n in (10, 100, 1000)}


def main():
    """Print a table."""
    for n in (10, 100, 1000):
        calls = make_gradients(n)
        start = time.perf_counter()
        for fn in calls.values():
            jax.block_until_ready(fn())
        compile_seconds = time.perf_counter() - start
        result = measure_in_turns(calls, rounds=7, repeat=3)
        print(
            f"n = {n:5}: "
            + ", ".join(f"{k} {v * 1e3:.2f} ms" for k, v in result.items())
            + f" (first calls together {compile_seconds:.1f} s)"
        )


if __name__ == "__main__":
    main()
