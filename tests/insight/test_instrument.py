"""Measurements that are added to a program: what they see, and that the program stays the same."""

import jax
import jax.numpy as jnp
import numpy as np

from msnb import ir
from msnb.core.jaxpr.instrument import Measure
from msnb.insight.instrument import instrument


class Count(Measure):
    """Sum of the values and how often they were made."""

    def measure(self, point, array):
        return jnp.stack([jnp.sum(array).astype(jnp.float32), jnp.float32(1)])

    def empty(self, point):
        return jnp.zeros(2, jnp.float32)

    def merge(self, point, first, second):
        return first + second


def run(fn, *args, choose=lambda points: points, measure=None):
    closed = jax.make_jaxpr(fn)(*args)
    made = instrument(closed, choose, measure or Count())
    flat = jax.tree.leaves(args)
    outs = jax.jit(lambda *a: jax.core.eval_jaxpr(made.jaxpr.jaxpr, made.jaxpr.consts, *a))(*flat)
    own = len(closed.jaxpr.outvars)
    expected = jax.jit(fn)(*args)
    for mine, theirs in zip(outs[:own], jax.tree.leaves(expected)):
        np.testing.assert_array_equal(mine, theirs)
    return made, outs[own:]


def read_points(result, outs):
    return {
        f"{point.node.op}.{point.node.id}": tuple(np.asarray(value).tolist())
        for point, value in zip(result.points, outs)
    }


def test_every_value_of_a_straight_program_is_measured_in_order():
    result, outs = run(lambda x: jnp.sin(x) * 2 + 1, jnp.ones(3))
    assert [p.node.op for p in result.points] == ["sin", "mul", "add"]
    np.testing.assert_allclose(outs[1], [6 * np.sin(1), 1], rtol=1e-6)
    assert not result.missed and not any(p.nested for p in result.points)


def test_the_nodes_of_the_points_are_those_that_ir_reads():
    def fn(x):
        inner = jax.jit(lambda v: jnp.cos(v) + v)
        return jax.lax.cond(x[0] > 0, lambda v: inner(v) * 2, lambda v: -inner(v), inner(x))

    closed = jax.make_jaxpr(fn)(jnp.ones(3))
    instrumented = instrument(closed, lambda points: points, Count())
    expected = {node.id: node.op for node in ir.read(closed).all_nodes()}
    assert {p.node.id: p.node.op for p in instrumented.points} == expected


def test_a_branch_that_did_not_run_was_never_measured():
    def fn(x):
        return jax.lax.cond(x.sum() > 0, lambda v: jnp.sin(v), lambda v: jnp.cos(v), x)

    taken = read_points(*run(fn, jnp.ones(2)))
    assert taken[next(k for k in taken if k.startswith("sin"))][1] == 1
    assert taken[next(k for k in taken if k.startswith("cos"))] == (0, 0)


def test_the_rounds_of_loops_are_merged():
    def fn(x):
        total, _ = jax.lax.scan(lambda c, row: (c + row, jnp.sin(c)), jnp.float32(0), x)
        return jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] * 2), (0, total))

    output, outs = run(fn, jnp.arange(5, dtype=jnp.float32))
    result = read_points(output, outs)
    rounds = {name.partition(".")[0]: value for name, value in result.items()}
    assert rounds["sin"][1] == 5
    assert rounds["mul"] == (20 + 40 + 80 + 160, 4)
    assert [p.node.op for p in output.missed] == ["lt"]  # the condition of a while


def test_what_stands_in_a_rematerialised_block_is_measured():
    def fn(x):
        return jax.grad(lambda v: jax.checkpoint(lambda w: jnp.sin(jnp.sin(w)))(v).sum())(x)

    result, outs = run(fn, jnp.ones(3), choose=lambda points: [p for p in points if p.node and p.node.op == "sin"])
    assert len(result.points) >= 2
    np.testing.assert_allclose(outs[0][0], 3 * np.sin(1), rtol=1e-6)


def test_labelled_values_are_points_of_their_own():
    from jax.ad_checkpoint import checkpoint_name

    result, outs = run(
        lambda x: checkpoint_name(jnp.sin(x), "here") + 1,
        jnp.ones(2),
        choose=lambda points: [p for p in points if p.label == "here"],
    )
    np.testing.assert_allclose(outs[0], [2 * np.sin(1), 1], rtol=1e-6)


def test_source_lines_and_scopes_survive():
    def fn(x):
        with jax.named_scope("Default/net-Net"):
            return jnp.sin(x)

    closed = jax.make_jaxpr(fn)(jnp.ones(3))
    instrumented = instrument(closed, lambda points: points, Count())
    old, new = ir.read(closed).nodes[0], ir.read(instrumented.jaxpr).nodes[0]
    assert (old.op, old.scope, old.source) == (new.op, new.scope, new.source)
