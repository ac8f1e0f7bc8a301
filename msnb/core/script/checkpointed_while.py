"""A `while` with unknown trip count, differentiable in reverse mode to any order, with bounded memory.

The forward pass saves at most K carries, one every `stride` iterations. When the buffer is full, every second carry is
dropped and the stride doubles. The backward pass visits the iterations in reverse, in blocks of K: the carries of a
block are recomputed once, from the saved one before it, into a second buffer. For up to K * K iterations the
recomputation costs at most 1.5 forward passes. The inner loops of both passes are differentiable loops of this module,
too, so derivatives of any order exist. This module works on arrays only.
"""

from collections.abc import Callable
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
    """Return the final carry of ``while test(carry): carry = body(carry)``.

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
    return _run_checkpointed_loop(_PureJaxpr(test), _PureJaxpr(body), tuple(test.consts), tuple(body.consts), init)


class _PureJaxpr:
    """A jaxpr without its constants: a function of (constants, carry)."""

    def __init__(self, closed, jaxpr=None):
        self.jaxpr = closed.jaxpr if jaxpr is None else jaxpr

    def __call__(self, consts, carry):
        return tuple(eval_jaxpr(self.jaxpr, consts, *carry))

    def quiet(self):
        """Return the function without prints, for recomputation."""
        return _PureJaxpr(None, remove_debug_callbacks(self.jaxpr))


def _run_checkpointed_loop(test, body, test_consts, body_consts, init):
    @jax.custom_vjp
    def run(test_consts, body_consts, init):
        return lax.while_loop(lambda c: test(test_consts, c)[0], lambda c: body(body_consts, c), init)

    def forward(test_consts, body_consts, init):
        buffer = tuple(jnp.zeros((SLOTS, *x.shape), x.dtype) for x in init)

        def going(state):
            return test(test_consts, state[0])[0]

        def step(state):
            carry, rounds, stride, buffer = state
            # A `cond` would copy the buffer in every iteration. A `while` of at most one iteration, and a write
            # of the old value where nothing changes, do not copy it.
            full = rounds == SLOTS * stride
            _, buffer = while_over_tree(
                lambda s: s[0],
                lambda s: (jnp.zeros((), bool), tuple(map(_drop_every_second_slot, s[1]))),
                (full, buffer),
            )
            stride = jnp.where(full, stride * 2, stride)
            slot, is_saved = rounds // stride, rounds % stride == 0
            buffer = tuple(x.at[slot].set(jnp.where(is_saved, v, x[slot])) for x, v in zip(buffer, carry))
            return body(body_consts, carry), rounds + 1, stride, buffer

        state = while_over_tree(going, step, (init, jnp.int32(0), jnp.int32(1), buffer))
        carry, rounds, stride, buffer = state
        return carry, (test_consts, body_consts, rounds, stride, buffer)

    def backward(saved, cotangents):
        test_consts, body_consts, rounds, stride, buffer = saved
        quiet_body = body.quiet()
        inexact = [i for i, x in enumerate(buffer) if is_inexact(x.dtype)]
        inexact_consts = [i for i, x in enumerate(body_consts) if is_inexact(jnp.result_type(x))]

        def step(state):
            index, d_carry, d_consts, block, scratch = state
            current_block = index // SLOTS
            begin = current_block * SLOTS
            saved_slot = begin // stride

            def refill(fill):
                at, values, scratch = fill
                slot, keep = jnp.maximum(at - begin, 0), at >= begin
                scratch = tuple(x.at[slot].set(jnp.where(keep, v, x[slot])) for x, v in zip(scratch, values))
                return at + 1, quiet_body(body_consts, values), scratch

            # The first step in a block computes all its carries; later steps read them from the buffer.
            last = jnp.where(current_block == block, -1, index)
            _, _, scratch = while_over_tree(
                lambda f: f[0] <= last, refill, (saved_slot * stride, tuple(x[saved_slot] for x in buffer), scratch)
            )
            carry = tuple(x[index - begin] for x in scratch)

            def run_inexact(consts, values):
                full_consts, full = list(body_consts), list(carry)
                for i, v in zip(inexact_consts, consts):
                    full_consts[i] = v
                for i, v in zip(inexact, values):
                    full[i] = v
                out = quiet_body(full_consts, full)
                return tuple(out[i] for i in inexact)

            _, pull = jax.vjp(
                run_inexact, tuple(body_consts[i] for i in inexact_consts), tuple(carry[i] for i in inexact)
            )
            d_step_consts, d_carry = pull(d_carry)
            return index - 1, d_carry, tuple(a + b for a, b in zip(d_consts, d_step_consts)), current_block, scratch

        start = (
            rounds - 1,
            tuple(cotangents[i] for i in inexact),
            tuple(jnp.zeros_like(body_consts[i]) for i in inexact_consts),
            jnp.int32(-1),
            tuple(jnp.zeros_like(x) for x in buffer),
        )
        _, d_carry, d_consts, _, _ = while_over_tree(lambda s: s[0] >= 0, step, start)
        return (
            tuple(_make_zero_cotangent(x) for x in test_consts),
            _fill_cotangents(d_consts, inexact_consts, body_consts),
            _fill_cotangents(d_carry, inexact, [x[0] for x in buffer]),
        )

    run.defvjp(forward, backward)
    return run(test_consts, body_consts, init)


def _drop_every_second_slot(buffer):
    """Return `buffer` with every second slot moved to the first half. The second half is free afterwards."""
    return jnp.concatenate([buffer[::2], buffer[SLOTS // 2 :]])


def while_over_tree(going: Callable[..., Any], step: Callable[..., Any], state: Any) -> Any:
    """Return the final state of ``while going(state): state = step(state)``, differentiable, over a nested state."""
    leaves, tree = jax.tree.flatten(state)
    leaves = [jnp.asarray(x) for x in leaves]
    test = jax.make_jaxpr(lambda *c: going(jax.tree.unflatten(tree, c)))(*leaves)
    body = jax.make_jaxpr(lambda *c: jax.tree.leaves(step(jax.tree.unflatten(tree, c))))(*leaves)
    return jax.tree.unflatten(tree, differentiable_while(test, body, tuple(leaves)))


def _make_zero_cotangent(x):
    dtype = jnp.result_type(x)
    return jnp.zeros(jnp.shape(x), dtype) if is_inexact(dtype) else np.zeros(jnp.shape(x), jax.dtypes.float0)


def _fill_cotangents(grads, positions, primals):
    """Return the cotangents `grads` at `positions`, zeros elsewhere."""
    by_position = dict(zip(positions, grads))
    return tuple(
        by_position.get(i, None) if i in by_position else _make_zero_cotangent(x) for i, x in enumerate(primals)
    )
