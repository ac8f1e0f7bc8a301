"""Gradients of the rounds of a `while`: how the gradient of its state changes from the last round to the first."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import Literal, eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.instrument import TRANSPARENT
from msnb.insight.gradients.text_format import num

_MAX_ROUNDS = 1000  # a loop with more rounds is not explained by round
_MAX_BYTES = 1 << 28  # of the states of all rounds
_SHOWN = 5  # rounds at either end of a table


@dataclasses.dataclass(frozen=True)
class LoopRounds:
    """Norms of the gradients inside a loop.

    Attributes:
        name (str): the loop, such as ``while(h, i)``.
        variables (tuple[str]): its variables of real numbers.
        after (list[tuple[float]]): for each round, the norm of the gradient of each variable after the round.
        source (str): name of the value that the path goes on to, such as a Parameter; "" if it is a variable's start.
        contributions (list[float]): for each round, the norm of its part of the gradient of `source`; empty without it.
    """

    name: str
    variables: tuple[str, ...]
    after: list[tuple[float, ...]]
    source: str
    contributions: list[float]

    def table(self) -> str:
        """Return the rounds as text, the last one first, as the gradient passes them."""
        numbers = list(range(len(self.after)))[::-1]
        is_long = len(numbers) > 2 * _SHOWN + 1
        shown = [*numbers[:_SHOWN], None, *numbers[-_SHOWN:]] if is_long else numbers
        rows = [("round", *self.variables, *([self.source] if self.source else []))]
        for number in shown:
            if number is None:
                rows.append(("…", *[""] * (len(rows[0]) - 1)))
                continue
            part = [self.contributions[number]] if self.source else []
            rows.append((str(number), *map(num, (*self.after[number], *part))))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self.name}, norm of the gradient after each round:", *lines])


def trace_rounds(
    jaxpr: Any, operands: Sequence[Any], cotangents: Sequence[Any], position: int, name: str, source: str
) -> LoopRounds | None:
    """Return the gradients of the rounds of a loop.

    Args:
        jaxpr (Jaxpr): an equation that is a `while`, or that contains one whose results are its own.
        operands (Sequence): the values that it reads.
        cotangents (Sequence): the gradient of each result; None where nothing arrives.
        position (int): index of the operand that the path goes on to.
        name (str): the loop, such as ``while(h, i)``.
        source (str): name of that operand.

    Returns:
        LoopRounds; None if there is no such loop, or if it has too many rounds.
    """
    loop = _find_while(jaxpr, [(value, at) for at, value in enumerate(operands)])
    if loop is None:
        return None
    eqn, inputs = loop
    n_cond, n_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    values = [value for value, _ in inputs]
    cond_consts, consts, state = values[:n_cond], values[n_cond : n_cond + n_body], values[n_cond + n_body :]
    if len(cotangents) != len(state):
        return None
    cond, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    states = _run_forward(cond, body, cond_consts, consts, state)
    real = [at for at, value in enumerate(state) if _is_real(value)]
    if states is None or not real:
        return None
    origins = [origin for _, origin in inputs[n_cond : n_cond + n_body]]
    target = origins.index(position) if position in origins else None
    if target is not None and not _is_real(consts[target]):
        target = None
    pull = _make_pull(body, real, target)
    arriving = [(state[at], cotangents[at]) for at in real]
    gradient = [jnp.zeros_like(value) if one is None else jnp.asarray(one) for value, one in arriving]
    after, contributions = [], []
    for values in reversed(states[:-1]):
        after.append(tuple(map(_norm, gradient)))
        part, gradient = pull(consts, values, gradient)
        contributions.append(_norm(part) if part is not None else 0.0)
    names = _list_variables(name, len(state))
    is_constant = target is not None
    return LoopRounds(
        name,
        tuple(names[at] for at in real),
        after[::-1],
        source if is_constant else "",
        contributions[::-1] if is_constant else [],
    )


def _find_while(jaxpr, operands):
    """Return (equation, its operands as (value, index of the operand of the outermost jaxpr)) of the `while` whose
    results are those of a jaxpr; None if there is none."""
    env = dict(zip(jaxpr.invars, operands, strict=True))

    def read(var):
        return (var.val, -1) if isinstance(var, Literal) else env[var]

    for eqn in jaxpr.eqns:
        kind, inputs = eqn.primitive.name, [read(var) for var in eqn.invars]
        is_result = [var for var in eqn.outvars if type(var).__name__ != "DropVar"] == list(jaxpr.outvars)
        if kind == "while" and is_result:
            return eqn, inputs
        if kind in TRANSPARENT and is_result:
            inner = eqn.params[TRANSPARENT[kind]]
            plain = inner.jaxpr if hasattr(inner, "consts") else inner
            consts = inner.consts if hasattr(inner, "consts") else ()
            if len(consts) or len(plain.constvars):
                return None
            return _find_while(plain, inputs)
        return None
    return None


def _run_forward(cond, body, cond_consts, consts, state):
    """Return the state before the first round and after each one; None if there are too many."""
    test = jax.jit(lambda *values: eval_jaxpr(cond.jaxpr, cond.consts, *values)[0])
    quiet = remove_debug_callbacks(body.jaxpr)
    step = jax.jit(lambda *values: eval_jaxpr(quiet, body.consts, *values))
    states = [list(state)]
    n_bytes = sum(np.asarray(value).nbytes for value in state if _is_real(value))
    while bool(test(*cond_consts, *states[-1])):
        if len(states) > _MAX_ROUNDS or len(states) * n_bytes > _MAX_BYTES:
            return None
        states.append(list(step(*consts, *states[-1])))
    return states


def _make_pull(body, real, target):
    """Return a function of (constants, state, gradient after a round). Its results are the gradient of the constant
    `target`, None without one, and the gradients before the round."""
    quiet = remove_debug_callbacks(body.jaxpr)

    @jax.jit
    def pull(consts, state, gradient):
        def run(constant, values):
            full_consts, full = list(consts), list(state)
            if target is not None:
                full_consts[target] = constant
            for at, value in zip(real, values):
                full[at] = value
            results = eval_jaxpr(quiet, body.consts, *full_consts, *full)
            return [results[at] for at in real]

        constant = consts[target] if target is not None else jnp.zeros(())
        _, back = jax.vjp(run, constant, [state[at] for at in real])
        part, before = back(gradient)
        return (part if target is not None else None), before

    return pull


def _list_variables(name, count):
    """Return the names of the variables of a loop, as its name lists them."""
    match = re.search(r"while\((.*)\)", name)
    names = [each.strip() for each in match[1].split(",")] if match else []
    return names if len(names) == count else [f"state {at}" for at in range(count)]


def _is_real(value):
    return hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, np.floating)


def _norm(array):
    return float(np.sqrt(np.square(np.asarray(array).astype(np.float64)).sum()))
