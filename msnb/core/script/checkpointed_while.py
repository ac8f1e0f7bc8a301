"""A `while` whose trip count is not known, differentiable in reverse mode to any order with bounded memory.

The forward pass keeps at most K carries: one every `stride` rounds, and when the buffer is full every second one is
dropped and the stride doubles. The backward pass walks the rounds in reverse, in blocks of K: the carries of a block
are computed once more, from the kept one before it, into a second buffer. Up to K * K rounds that costs at most one and
a half forward passes. All inner loops are this same operation, so their derivatives exist as well. Nothing here knows
Tensors.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.state.trace_state import thread
from msnb.core.support.type_promotion import is_inexact

SLOTS = 64


def differentiable_while(test: Any, body: Any, init: tuple[Any, ...]) -> Any:
    """Final carry of ``while test(carry): carry = body(carry)``.

    Args:
        test (ClosedJaxpr): Takes the carry, returns one bool.
        body (ClosedJaxpr): Takes the carry, returns the next one.
        init (tuple): Arrays of the first carry.
    """
    if thread.forward_mode:
        return lax.while_loop(
            lambda c: eval_jaxpr(test.jaxpr, test.consts, *c)[0],
            lambda c: tuple(eval_jaxpr(body.jaxpr, body.consts, *c)),
            init,
        )
    return _loop(_Pure(test), _Pure(body), tuple(test.consts), tuple(body.consts), init)


class _Pure:
    """A jaxpr without its constants: a function of (constants, carry)."""

    def __init__(self, closed, jaxpr=None):
        self.jaxpr = closed.jaxpr if jaxpr is None else jaxpr

    def __call__(self, consts, carry):
        return tuple(eval_jaxpr(self.jaxpr, consts, *carry))

    def quiet(self):
        """The same without prints: what is recomputed is not said again."""
        return _Pure(None, remove_debug_callbacks(self.jaxpr))


def _loop(test, body, test_consts, body_consts, init):
    @jax.custom_vjp
    def run(test_consts, body_consts, init):
        return lax.while_loop(lambda c: test(test_consts, c)[0], lambda c: body(body_consts, c), init)

    def forward(test_consts, body_consts, init):
        buffer = tuple(jnp.zeros((SLOTS, *x.shape), x.dtype) for x in init)

        def going(state):
            return test(test_consts, state[0])[0]

        def step(state):
            carry, rounds, stride, buffer = state
            # A `cond` would copy the whole buffer in every round; a loop of at most one round, and a write that
            # puts back what was there, touch it only where it changes.
            full = rounds == SLOTS * stride
            _, buffer = _while(
                lambda s: s[0], lambda s: (jnp.zeros((), bool), tuple(map(_thinned, s[1]))), (full, buffer)
            )
            stride = jnp.where(full, stride * 2, stride)
            slot, keep = rounds // stride, rounds % stride == 0
            buffer = tuple(x.at[slot].set(jnp.where(keep, v, x[slot])) for x, v in zip(buffer, carry))
            return body(body_consts, carry), rounds + 1, stride, buffer

        state = _while(going, step, (init, jnp.int32(0), jnp.int32(1), buffer))
        carry, rounds, stride, buffer = state
        return carry, (test_consts, body_consts, rounds, stride, buffer)

    def backward(saved, cotangents):
        test_consts, body_consts, rounds, stride, buffer = saved
        again = body.quiet()
        smooth = [i for i, x in enumerate(buffer) if is_inexact(x.dtype)]
        smooth_consts = [i for i, x in enumerate(body_consts) if is_inexact(jnp.result_type(x))]

        def step(state):
            index, d_carry, d_consts, block, scratch = state
            now = index // SLOTS
            begin = now * SLOTS
            kept = begin // stride

            def refill(fill):
                at, values, scratch = fill
                slot, keep = jnp.maximum(at - begin, 0), at >= begin
                scratch = tuple(x.at[slot].set(jnp.where(keep, v, x[slot])) for x, v in zip(scratch, values))
                return at + 1, again(body_consts, values), scratch

            # On entering a block its carries are computed once and kept; further steps back find them there.
            last = jnp.where(now == block, -1, index)
            _, _, scratch = _while(
                lambda f: f[0] <= last, refill, (kept * stride, tuple(x[kept] for x in buffer), scratch)
            )
            carry = tuple(x[index - begin] for x in scratch)

            def part(consts, values):
                full_consts, full = list(body_consts), list(carry)
                for i, v in zip(smooth_consts, consts):
                    full_consts[i] = v
                for i, v in zip(smooth, values):
                    full[i] = v
                out = again(full_consts, full)
                return tuple(out[i] for i in smooth)

            _, pull = jax.vjp(part, tuple(body_consts[i] for i in smooth_consts), tuple(carry[i] for i in smooth))
            more, d_carry = pull(d_carry)
            return index - 1, d_carry, tuple(a + b for a, b in zip(d_consts, more)), now, scratch

        start = (
            rounds - 1,
            tuple(cotangents[i] for i in smooth),
            tuple(jnp.zeros_like(body_consts[i]) for i in smooth_consts),
            jnp.int32(-1),
            tuple(jnp.zeros_like(x) for x in buffer),
        )
        _, d_carry, d_consts, _, _ = _while(lambda s: s[0] >= 0, step, start)
        return (
            tuple(_zero(x) for x in test_consts),
            _spread(d_consts, smooth_consts, body_consts),
            _spread(d_carry, smooth, [x[0] for x in buffer]),
        )

    run.defvjp(forward, backward)
    return run(test_consts, body_consts, init)


def _thinned(buffer):
    """Every second slot, in the first half; what stands in the second half no longer matters."""
    return jnp.concatenate([buffer[::2], buffer[SLOTS // 2 :]])


def _while(going, step, state):
    """A while over a nested state, itself differentiable."""
    leaves, tree = jax.tree.flatten(state)
    leaves = [jnp.asarray(x) for x in leaves]
    test = jax.make_jaxpr(lambda *c: going(jax.tree.unflatten(tree, c)))(*leaves)
    body = jax.make_jaxpr(lambda *c: jax.tree.leaves(step(jax.tree.unflatten(tree, c))))(*leaves)
    return jax.tree.unflatten(tree, differentiable_while(test, body, tuple(leaves)))


def _zero(x):
    dtype = jnp.result_type(x)
    return jnp.zeros(jnp.shape(x), dtype) if is_inexact(dtype) else np.zeros(jnp.shape(x), jax.dtypes.float0)


def _spread(grads, places, like):
    """Cotangents at `places`, zeros for everything else."""
    by_place = dict(zip(places, grads))
    return tuple(by_place.get(i, None) if i in by_place else _zero(x) for i, x in enumerate(like))
