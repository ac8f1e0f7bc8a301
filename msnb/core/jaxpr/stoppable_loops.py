"""Make the loops of a program stoppable: their conditions read the flag of `core.state.stop_flag`.

The condition of every `while` reads the flag. A `scan` that may take long becomes a `while`. The flag is an array, and
each round of a loop reads another element: XLA would move a read of the same element out of the loop.

The flag stays set until the program has ended. It is therefore sufficient to read it once after all loops. This value,
the verdict, is an additional output: True if a loop may have stopped.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxprs_in_params

from msnb.core.compat.jax_private import Literal, scan_counts, source_context
from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES, TRANSPARENT, evaluate_equations, open_jaxpr
from msnb.core.state.stop_flag import CELLS

_LONG = 2e8  # a scan with more estimated work than this, about 0.2 s, becomes stoppable
_ROUND = 300  # fixed part of the work of an equation
_PRODUCT_SPEED = 20  # number of multiply-adds in a matrix product that take as long as one other operation


class StoppableLoops:
    """Finds the loops of one program that can be stopped.

    Args:
        jaxpr (Jaxpr): The program.

    Attributes:
        exist (bool): True if there are any.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._has_loop, self._work = {}, {}
        self.exist: bool = self.has_loop(jaxpr)

    def has_loop(self, jaxpr: Jaxpr) -> bool:
        """Return True if `jaxpr`, or a graph inside, has a loop that can be made stoppable."""
        key = id(jaxpr)
        if key not in self._has_loop:
            self._has_loop[key] = any(map(self.contains_loop, jaxpr.eqns)), jaxpr  # the reference keeps the id unique
        return self._has_loop[key][0]

    def contains_loop(self, eqn: Any) -> bool:
        """Return True if an equation is such a loop, or has one inside."""
        kind = eqn.primitive.name
        if kind == "while" and not _runs_at_most_once(eqn) or kind == "scan" and self.is_long(eqn):
            return True
        if kind not in TRANSPARENT and kind not in ("cond", "scan", "while"):
            return False
        return any(self.has_loop(inner) for inner in jaxprs_in_params(eqn.params))

    def is_long(self, eqn: Any) -> bool:
        """Return True if a scan may take long enough for a person to want to stop it."""
        return self._estimate_equation_work(eqn) > _LONG

    def _estimate_equation_work(self, eqn):
        kind, params = eqn.primitive.name, eqn.params
        size = max([math.prod(v.aval.shape) for v in eqn.outvars if hasattr(v.aval, "shape")], default=0)
        if kind == "dot_general":
            return _ROUND + size * _compute_contracted_size(eqn) / _PRODUCT_SPEED
        if kind == "conv_general_dilated":
            kernel = eqn.invars[1].aval.shape
            features = kernel[params["dimension_numbers"].rhs_spec[0]]
            return _ROUND + size * math.prod(kernel) / max(features, 1) / _PRODUCT_SPEED
        inner = [self._estimate_graph_work(jaxpr) for jaxpr in jaxprs_in_params(params)]
        if inner:
            return sum(inner) * params.get("length", 1)
        return _ROUND + size

    def _estimate_graph_work(self, jaxpr):
        key = id(jaxpr)
        if key not in self._work:
            self._work[key] = sum(map(self._estimate_equation_work, jaxpr.eqns)), jaxpr
        return self._work[key][0]


def _runs_at_most_once(eqn):
    """Return True for a `while` of at most one round. `core.script.checkpointed_while` creates such loops."""
    condition, body = open_jaxpr(eqn.params["cond_jaxpr"])[0], open_jaxpr(eqn.params["body_jaxpr"])[0]
    outcome = condition.outvars[0]
    if condition.eqns or isinstance(outcome, Literal) or outcome not in condition.invars:
        return False
    position = condition.invars.index(outcome) - eqn.params["cond_nconsts"]
    after = body.outvars[position] if position >= 0 else outcome
    return isinstance(after, Literal) and not after.val


def _find_loop_counter(body, n_consts):
    """Return the index of an int32 scalar of the state that each round computes anew; None if there is none."""
    for i, (before, after) in enumerate(zip(body.invars[n_consts:], body.outvars, strict=True)):
        is_number = before.aval.shape == () and before.aval.dtype == "int32"
        if is_number and after is not before and any(after in eqn.outvars for eqn in body.eqns):
            return i
    return None


def _compute_contracted_size(eqn):
    contracted = eqn.params["dimension_numbers"][0][0]
    return math.prod(eqn.invars[0].aval.shape[axis] for axis in contracted)


def make_stoppable(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return a graph with stoppable loops.

    Its last input is the flag, an int32 array. Its last output is the verdict: True if the flag was set before the end
    of the last loop. The other outputs must then be discarded.
    """
    evaluate = _Evaluator(StoppableLoops(closed.jaxpr))

    def traced(*args):
        *args, flag = args
        evaluate.flag = flag
        outs, _, verdict = evaluate(closed.jaxpr, closed.consts, args, True)
        return [*outs, verdict]

    avals = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=getattr(a, "weak_type", False)) for a in closed.in_avals]
    return jax.make_jaxpr(traced)(*avals, jax.ShapeDtypeStruct((2 * CELLS,), "int32"))


class _Evaluator:
    """Evaluates a jaxpr on tracers, with stoppable loops.

    Args:
        loops (StoppableLoops): The loops.

    Attributes:
        flag (jax.Array): The flag, an input of the program.
    """

    def __init__(self, loops: StoppableLoops) -> None:
        self.loops = loops
        self.flag: Any = None

    def __call__(self, jaxpr: Jaxpr, consts: Any, args: Any, with_verdict: bool = False) -> tuple[Any, Any, Any]:
        """Return (results, an int32 that depends on all loops, verdict after the last loop or None)."""
        env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
        plain: list[Any] = []
        rounds, verdict = jnp.int32(0), None
        n_left = sum(map(self.loops.contains_loop, jaxpr.eqns))

        def look_up(var):
            return var.val if isinstance(var, Literal) else env[var]

        def flush():
            if plain:
                evaluate_equations(jaxpr, plain, env)
                plain.clear()

        for eqn in jaxpr.eqns:
            if not self.loops.contains_loop(eqn):
                plain.append(eqn)
                continue
            flush()
            with source_context(eqn.source_info):
                outs, count = self._evaluate_nested_equation(eqn, [look_up(v) for v in eqn.invars])
                rounds = rounds + count
                n_left -= 1
                if with_verdict and not n_left:
                    verdict = self.flag[CELLS + (rounds & (CELLS - 1))] != 0
            env.update(zip(eqn.outvars, outs))
        flush()
        return [look_up(v) for v in jaxpr.outvars], rounds, verdict

    def _evaluate_nested_equation(self, eqn, args):
        kind = eqn.primitive.name
        if kind in TRANSPARENT:
            return self._run_call(eqn, args)
        return {"cond": self._run_cond, "while": self._run_while, "scan": self._run_scan}[kind](eqn, args)

    def _run_call(self, eqn, args):
        kind = eqn.primitive.name
        jaxpr, consts = open_jaxpr(eqn.params[TRANSPARENT[kind]])

        def call(*values):
            return self(jaxpr, consts, values)[:2]

        if kind in REMAT_PRIMITIVES:
            return jax.checkpoint(call, prevent_cse=eqn.params["prevent_cse"], policy=eqn.params["policy"])(*args)
        if kind in ("jit", "pjit"):  # keep the name of the operator
            call.__name__ = call.__qualname__ = eqn.params["name"]
            return jax.jit(call)(*args)
        return call(*args)

    def _run_cond(self, eqn, args):
        branches = [lambda *values, inner=b: self(*open_jaxpr(inner), values)[:2] for b in eqn.params["branches"]]
        return lax.switch(args[0], branches, *args[1:])

    def _is_stop_flag_clear(self, rounds):
        return self.flag[rounds & (CELLS - 1)] == 0

    def _run_while(self, eqn, args):
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        cond_consts, body_consts, carry = args[:first], args[first : first + second], args[first + second :]
        condition, body = open_jaxpr(eqn.params["cond_jaxpr"]), open_jaxpr(eqn.params["body_jaxpr"])
        is_batched = bool(condition[0].outvars[0].aval.shape)  # under `vmap` there is one condition for each example

        def goes_on(carry):
            return self(condition[0], condition[1], [*cond_consts, *carry])[0][0]

        def step(carry):
            outs = self(body[0], body[1], [*body_consts, *carry])[0]
            if is_batched:  # an example whose condition is False keeps its state
                going = goes_on(carry)
                outs = [jnp.where(lax.expand_dims(going, range(going.ndim, o.ndim)), o, c) for o, c in zip(outs, carry)]
            return outs

        position = None if is_batched else _find_loop_counter(body[0], second)
        if position is not None:  # a second counter would cost a kernel in each round
            outs = lax.while_loop(
                lambda carry: goes_on(carry) & self._is_stop_flag_clear(carry[position]), step, list(carry)
            )
            return outs, outs[position]

        def test(state):
            carry, rounds = state
            return jnp.any(goes_on(carry)) & self._is_stop_flag_clear(rounds)

        def iterate(state):
            carry, rounds = state
            return step(carry), rounds + 1

        return lax.while_loop(test, iterate, (list(carry), jnp.int32(0)))

    def _run_scan(self, eqn, args):
        params = eqn.params
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]
        body, length, is_reversed = open_jaxpr(params["jaxpr"]), params["length"], params["reverse"]
        if not self.loops.is_long(eqn):  # only loops inside it become stoppable
            return self._run_short_scan(body, consts, carry, rows, params)
        results = eqn.outvars[n_carry:]

        def iterate(state):
            carry, stacked, rounds = state
            index = length - 1 - rounds if is_reversed else rounds
            row = [lax.dynamic_index_in_dim(x, index, 0, keepdims=False) for x in rows]
            outs = self(*body, [*consts, *carry, *row])[0]
            stacked = [lax.dynamic_update_index_in_dim(x, y, index, 0) for x, y in zip(stacked, outs[n_carry:])]
            return outs[:n_carry], stacked, rounds + 1

        stacked = [jnp.empty(v.aval.shape, v.aval.dtype) for v in results]
        carry, stacked, rounds = lax.while_loop(
            lambda state: (state[2] < length) & self._is_stop_flag_clear(state[2]),
            iterate,
            (list(carry), stacked, jnp.int32(0)),
        )
        return [*carry, *stacked], rounds

    def _run_short_scan(self, body, consts, carry, rows, params):
        def iterate(state, row):
            carry, rounds = state
            outs, count, _ = self(body[0], body[1], [*consts, *carry, *row])
            return (outs[: len(carry)], rounds + count), outs[len(carry) :]

        (carry, rounds), stacked = lax.scan(
            iterate,
            (list(carry), jnp.int32(0)),
            list(rows),
            length=params["length"],
            reverse=params["reverse"],
            unroll=params["unroll"],
        )
        return [*carry, *stacked], rounds
