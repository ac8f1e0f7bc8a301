"""Compare loop A with loop B by value, iteration by iteration, in one compiled loop.

The compiled loop carries the states of both loops. Each iteration evaluates A's body on the state of A, and B's body
twice: on the state of B and on the state of A. The result is the largest difference of each node over all iterations
of A.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from msnb.core.compat.jax_private import eval_jaxpr
from msnb.insight.debugger.equations import Loop


def are_alike(first: Loop, second: Loop) -> bool:
    """Return True if two loops can run as one: they are of the same kind, and states and scanned arrays have equal
    shapes.
    """
    one, other = first.eqn, second.eqn
    if one.primitive is not other.primitive or first.counts[2] != second.counts[2]:
        return False
    if one.primitive.name == "scan":
        same_rounds = all(one.params[key] == other.params[key] for key in ("length", "reverse"))
        if not same_rounds:
            return False
    return [v.aval.shape for v in _list_state_and_scan_operands(first)] == [
        v.aval.shape for v in _list_state_and_scan_operands(second)
    ]


def _list_state_and_scan_operands(loop):
    """Return the operands of a loop that are its initial state or its scanned arrays."""
    return loop.eqn.invars[sum(loop.counts[:2]) :]


def run_together(
    first: Loop,
    second: Loop,
    values: Mapping[int, Any],
    own: Mapping[int, Any],
    hybrid: Mapping[int, Any],
    substitutes: Callable[[Mapping[int, Any]], Mapping[int, Any]],
    measure: Callable[[Mapping[int, Any], Mapping[int, Any], Mapping[int, Any]], Any],
    count: int,
) -> Any:
    """Run two loops together. Return an array of shape ``(count, 4)``: for each compared result the largest total,
    incoming and own difference and the largest magnitude over all iterations.

    Args:
        first (Loop), second (Loop): the loops of A and B, which are alike.
        values (Mapping): the values of A.
        own (Mapping): the values of B.
        hybrid (Mapping): the values of B if its equations read the values of A.
        substitutes (Callable): takes the values of A's body. Returns {index: value} that B's body reads in place of its
            own values.
        measure (Callable): takes the values of A's body, of B's body, and of B's body on the values of A. Returns an
            array of shape ``(count, 4)`` for one iteration.
        count (int): number of compared results.
    """
    n_cond, n_consts, n_state = first.counts
    other_cond, other_consts, _ = second.counts
    operands = first.values_of_operands(values)
    theirs, mixed = second.values_of_operands(own), second.values_of_operands(hybrid)
    consts, moving = operands[n_cond : n_cond + n_consts], operands[n_cond + n_consts :]
    start = other_cond + other_consts
    other, mixed_consts = theirs[other_cond:start], mixed[other_cond:start]
    other_moving = theirs[start:]
    kinds = [v.aval.dtype for v in _list_state_and_scan_operands(second)]

    def round_of(state, rows, other_state, other_rows):
        a = first.body.evaluate([*consts, *state, *rows])
        b = second.body.evaluate([*other, *other_state, *other_rows])
        moved = [_cast(value, kind) for value, kind in zip((*state, *rows), kinds, strict=True)]
        h = second.body.evaluate([*mixed_consts, *moved], substitutes(a))
        results, other_results = ([env[i] for i in loop.body.outputs] for loop, env in ((first, a), (second, b)))
        return results, other_results, measure(a, b, h)

    figures = jnp.zeros((count, 4), jnp.float32)
    state, other_state = (
        _cast_state(first, moving[:n_state]),
        _cast_state(second, other_moving[:n_state]),
    )
    if first.eqn.primitive.name == "while":
        closed = first.eqn.params["cond_jaxpr"]

        def goes_on(carry):
            return eval_jaxpr(closed.jaxpr, closed.consts, *operands[:n_cond], *carry[0])[0]

        def iterate(carry):
            results, others, now = round_of(carry[0], (), carry[1], ())
            return results, others, jnp.maximum(carry[2], now)

        return jax.lax.while_loop(goes_on, iterate, (state, other_state, figures))[2]

    def step(carry, rows):
        results, others, now = round_of(carry[0], rows[0], carry[1], rows[1])
        return (results[:n_state], others[:n_state], jnp.maximum(carry[2], now)), None

    params = first.eqn.params
    (_, _, figures), _ = jax.lax.scan(
        step,
        (state, other_state, figures),
        (moving[n_state:], other_moving[n_state:]),
        length=params["length"],
        reverse=params["reverse"],
    )
    return figures


def _cast_state(loop: Loop, values: Sequence[Any]) -> list[Any]:
    """Convert the initial state of a loop, which may have Python numbers, to arrays of the loop's dtypes."""
    return [
        _cast(jnp.asarray(value), var.aval.dtype)
        for value, var in zip(values, _list_state_and_scan_operands(loop), strict=False)
    ]


def _cast(value, dtype):
    return value if value.dtype == dtype else value.astype(dtype)
