"""Parts of the search that need no devices: transfer costs, shardable axes, and collectives in XLA's text."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.collective_stats import collectives, total
from msnb.parallel.graph.flatten_jaxpr import flatten_jaxpr
from msnb.parallel.search.axis_factors import factors_of
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.recursive import recursive_programming
from msnb.parallel.search.solver import BYTE, cost_of, dynamic_programming, peak_nodes_bytes

EIGHT = MeshCostModel({"x": 2, "y": 4}, {"x": 1.0, "y": 1.0})


def test_sharding_further_is_free_and_gathering_is_not():
    replicated, rows, both = ((), ()), (("y",), ()), (("y",), ("x",))
    moving = functools.partial(EIGHT.transfer_cost, size=800, shape=(8, 8))
    assert moving(replicated, rows) == 0
    assert moving(rows, replicated) == 3 / 4 * 800
    assert moving(both, rows) == 1 / 2 * 200
    assert moving(rows, ((), ("y",))) == 3 / 4 * 200


def test_outer_mesh_axis_needs_permutation():
    inner, both = (("y",), ()), (("x", "y"), ())
    assert (
        EIGHT.transfer_cost(inner, both, 800, (8, 8))
        == EIGHT.transfer_cost(both, inner, 800, (8, 8)) - 1 / 2 * 200
        == 100
    )
    assert EIGHT.layout_path(inner, both, (8, 8)) == [(("y", "x"), ()), both]


def test_several_factors_are_reduced_in_sequence():
    """Two all-reduces send more than one over both axes, which is used for axes that shard one factor."""
    shape = jax.ShapeDtypeStruct((8, 8, 16), np.float32)
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(lambda a: a.sum((0, 1)))(shape)), EIGHT, {})
    sums = {choice.inputs[0][:2]: dict(choice.sums) for choice in problem.nodes[1]}
    assert sums[("x",), ("y",)] == {("x",): 64, ("y",): 64}
    assert sums[("x", "y"), ()] == {("x", "y"): 64}


def test_layouts_have_equal_shards():
    layouts = EIGHT.layouts((4, 3))
    assert set(layouts) == {((), ()), (("x",), ()), (("y",), ())}


def test_bytes_between_hosts_cost_more():
    hosts = MeshCostModel({"x": 2, "y": 4}, {"x": 10.0, "y": 1.0})
    assert hosts.all_reduce(["x"], 100) == 10 * EIGHT.all_reduce(["x"], 100)


FUNCTIONS = {
    "a product": (lambda a, b: a @ b, [(8, 16), (16, 4)]),
    "a product of batches": (lambda a, b: jnp.einsum("bij,bkj->bik", a, b), [(2, 8, 16), (2, 4, 16)]),
    "a sum of rows": (lambda a: a.sum(1), [(8, 16)]),
    "a transposition": (lambda a: jnp.transpose(a, (2, 0, 1)), [(8, 4, 16)]),
    "axes that are joined": (lambda a: a.reshape(8, 64), [(8, 4, 16)]),
    "axes that are divided": (lambda a: a.reshape(8, 2, 8), [(8, 16)]),
    "rows of a table": (lambda a: a[jnp.arange(6)], [(8, 16)]),
    "one of each row": (lambda a: jnp.take_along_axis(a, jnp.arange(8)[:, None], 1), [(8, 16)]),
    "an axis of one": (lambda a: jnp.squeeze(a, 1), [(8, 1, 4)]),
    "repeated along an axis": (lambda a: a[:, None] + jnp.zeros((8, 4)), [(8,)]),
    "elements": (lambda a, b: jnp.tanh(a) * b, [(8, 4), (8, 4)]),
    "a part": (lambda a: a[:, 2:6], [(8, 16)]),
    "sorted": (lambda a: jnp.sort(a, axis=1), [(8, 16)]),
    "a maximum's place": (lambda a: jnp.argmax(a, axis=1), [(8, 16)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_factors_allow_computation_by_halves(name):
    """Halves of the operands give the halves of each result that has the factor."""
    function, shapes = FUNCTIONS[name]
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    graph = flatten_jaxpr(jax.make_jaxpr(function)(*arrays))
    values = {id(v): a for v, a in zip(graph.inputs, arrays, strict=True)}
    for equation in graph.equations:
        operands = [values.get(id(i), i) for i in equation.inputs]
        params = equation.primitive.get_bind_params(equation.params)
        results = equation.primitive.bind(*operands, **params)
        results = list(results) if equation.primitive.multiple_results else [results]
        values.update({id(o): m for o, m in zip(equation.outputs, results, strict=True)})
        factors = factors_of(equation)
        cut = zip(factors.outputs, results, strict=True)
        shared = {f for labels, m in cut for f, n in zip(labels, np.shape(m), strict=True) if f is not None and n > 1}
        for factor in shared if equation.primitive.name not in HAS_SHAPES else ():
            halves = [split_in_halves(g, labels, factor) for g, labels in zip(operands, factors.inputs, strict=True)]
            for side in range(2):
                part = equation.primitive.bind(*(h[side] for h in halves), **params)
                part = list(part) if equation.primitive.multiple_results else [part]
                for full, one, labels in zip(results, part, factors.outputs, strict=True):
                    np.testing.assert_allclose(split_in_halves(full, labels, factor)[side], one, rtol=1e-6, atol=1e-6)


HAS_SHAPES = (
    "broadcast_in_dim",
    "reshape",
    "squeeze",
    "iota",
    "gather",
    "slice",
    "jit",
)  # which say the whole result's


def split_in_halves(value, labels, factor):
    """Return the two halves of a value along the axis of a factor, or the full value twice if it has none."""
    axes = [axis for axis, label in enumerate(labels) if label == factor]
    return np.split(np.asarray(value), 2, axes[0]) if axes else [value, value]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((8, 4, 16), (8, 64), ([0, 1, None], [0, 1])),
        ((8, 16), (8, 2, 8), ([0, 1], [0, 1, None])),
        ((8, 1, 4), (8, 4), ([0, None, 1], [0, 1])),
        ((6,), (1, 6), ([0], [None, 0])),
    ],
)
def test_reshape_factors_of_first_axes(before, after, expected):
    (equation,) = flatten_jaxpr(jax.make_jaxpr(lambda a: a.reshape(after))(np.zeros(before, np.float32))).equations
    factors = factors_of(equation)
    assert shape_of_labels(factors.inputs[0], before) == shape_of_labels(expected[0], before)
    assert shape_of_labels(factors.outputs[0], after) == shape_of_labels(expected[1], after)


def shape_of_labels(labels, shape):
    """Return the labels of axes that may be sharded, numbered from 0."""
    numbers = {}
    shardable = [label if n > 1 else None for label, n in zip(labels, shape, strict=True)]
    return [None if label is None else numbers.setdefault(label, len(numbers)) for label in shardable]


def test_merged_axis_has_at_most_shards_of_first():
    problem = Problem(
        flatten_jaxpr(jax.make_jaxpr(lambda a: a.reshape(2, 8))(np.zeros(16, np.float32))),
        MeshCostModel({"x": 4}, {"x": 1.0}),
        {},
    )
    assert {choice.outputs[0] for choice in problem.nodes[1]} == {((), ())}


@pytest.mark.parametrize(("rows", "width"), [(64, 32), (8, 512)])
def test_solution_equals_exhaustive_search(rows, width):
    def step(w, x):
        return jnp.tanh(x @ w).sum()

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((width, width), (rows, width))]
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(step)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
    solution = dynamic_programming(problem, operation=0.0, read=0.0)
    best = min(cost_of(problem, list(c)) for c in itertools.product(*(range(len(n)) for n in problem.nodes)))
    assert cost_of(problem, solution) == best


def test_greedy_search_extends_choices_axis_by_axis():
    """Its choices along the first axis are part of those along both. The optimum is at most as expensive."""

    def step(w, v, x):
        def loss(w, v):
            return ((jnp.tanh(x @ w) @ v) ** 2).mean()

        return [p - 0.1 * g for p, g in zip((w, v), jax.grad(loss, (0, 1))(w, v), strict=True)]

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((64, 256), (256, 64), (512, 64))]
    graph = flatten_jaxpr(jax.make_jaxpr(step)(*shapes))
    one, both = (Problem(graph, machines, {0: 0, 1: 1}) for machines in (MeshCostModel({"x": 2}, {"x": 1.0}), EIGHT))
    first, both_choices = recursive_programming(one), recursive_programming(both)
    for before, after in zip(chosen(one, first), chosen(both, both_choices), strict=True):
        assert before == tuple(tuple(tuple(a for a in axes if a == "x") for axes in lay) for lay in after)
    assert any("y" in axes for layouts in chosen(both, both_choices) for layout in layouts for axes in layout)
    best = dynamic_programming(both)
    price = [n[k].operations for n, k in zip(both.nodes, best, strict=True)]
    greedy = [n[k].operations for n, k in zip(both.nodes, both_choices, strict=True)]
    assert cost_of(both, best) + sum(price) / BYTE <= cost_of(both, both_choices) + sum(greedy) / BYTE + 1e-6
    least = sum(min(choice.stored_bytes for choice in both.nodes[n]) for n in both.peak_nodes)
    memory = (peak_nodes_bytes(both, both_choices) + least) / 2
    assert peak_nodes_bytes(both, recursive_programming(both, memory)) <= memory < peak_nodes_bytes(both, both_choices)


def chosen(problem, numbers):
    return [node[k].outputs for node, k in zip(problem.nodes, numbers, strict=True)]


def test_small_memory_shards_parameters():
    def step(w, x):
        return w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w)

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((64, 64), (1024, 64))]
    graph = flatten_jaxpr(jax.make_jaxpr(step)(*shapes))
    problem = Problem(graph, EIGHT, {0: 0})
    free, small = (
        dynamic_programming(problem),
        dynamic_programming(problem, memory=64 * 64 * 4 / 8 + 2 * 1024 * 64 * 4 / 8),
    )
    assert problem.nodes[0][small[0]].stored_bytes == 64 * 64 * 4 / 8
    assert cost_of(problem, free) <= cost_of(problem, small)
    with pytest.raises(RuntimeError, match="No way was found to spread the program"):
        dynamic_programming(problem, memory=100.0)


HLO = """
%add (a: f32[], b: f32[]) -> f32[] {
  ROOT %s = f32[] add(%a, %b)
}
%body.1 (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %all-reduce.2 = f32[8]{0} all-reduce(%x), replica_groups={{0,1},{2,3}}, to_apply=%add
}
ENTRY %main (x: f32[16]) -> f32[16] {
  %w = (s32[], f32[8]) while(%t), condition=%cond.1, body=%body.1, backend_config={"known_trip_count":{"n":"5"}}
  %all-gather.1 = bf16[16,4]{1,0} all-gather(%y), channel_id=1, replica_groups=[2,4]<=[8], dimensions={0}
  %ag = (f32[4], f32[16]) all-gather-start(%y), replica_groups=[2,4]<=[8], dimensions={0}
  %ar = f32[6]{0} all-reduce(%v), replica_groups=mesh['a'=1,'b'=4,'c'=2], device_ids=([2,4]T(1,0)) {'b'}, to_apply=%add
  %rs = f32[6]{0} all-reduce(%v), replica_groups=mesh['a'=4,'b'=4] {'a':(2)2,'b'}, to_apply=%add
  ROOT %p = f32[16] collective-permute(%z), source_target_pairs={{0,1},{1,0}}
}
"""


def test_collectives_of_hlo():
    operations = collectives(HLO, 8)
    assert [(c.kind, c.devices, c.times) for c in operations] == [
        ("all-reduce", 2, 5),
        ("all-gather", 4, 1),
        ("all-gather", 4, 1),
        ("all-reduce", 4, 1),
        ("all-reduce", 8, 1),
        ("collective-permute", 2, 1),
    ]
    assert total(operations) == {
        "all-reduce": 5 * 2 * 1 / 2 * 32 + 2 * (3 / 4 + 7 / 8) * 24,
        "all-gather": 3 / 4 * (16 * 4 * 2 + 64),
        "collective-permute": 64.0,
    }


def test_loop_is_sharded_along_connected_axes():
    def looped(w, start, xs):
        def one(state, x):
            state, total = state
            state = jnp.tanh(state @ w + x)
            return (state, total + state.sum(0)), state

        return jax.lax.scan(one, (start, jnp.zeros(4)), xs)

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((4, 4), (8, 4), (6, 8, 4))]
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(looped)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
    (loop,) = (n for n, e in enumerate(problem.graph.equations, len(shapes)) if e.primitive.name == "scan")
    ways = {choice.outputs: choice.sent for choice in problem.nodes[loop]}
    weight_layouts = {choice.inputs[0] for choice in problem.nodes[loop]}
    assert weight_layouts == {((), ())}  # its rows and columns hang together, and nothing is cut along both
    replicated, rows = ((),), (("x",), ())
    assert ways[((), ()), replicated, ((), (), ())] == 0
    # the sum over the rows is one of all devices in each of the six rounds
    assert ways[rows, replicated, ((), *rows)] == 6 * 2 * 1 / 2 * 4 * 4
    assert problem.nodes[loop][0].operations >= 6 * 2 * 8 * 4 * 4


def test_recomputed_cell_is_one_equation():
    block = jax.checkpoint(lambda x: jnp.tanh(jnp.tanh(x) * 2))
    x = jax.ShapeDtypeStruct((8, 4), np.float32)
    problem = Problem(
        flatten_jaxpr(jax.make_jaxpr(jax.grad(lambda x: block(x).sum()))(x)), MeshCostModel({"x": 2}, {"x": 1.0}), {}
    )
    number, recomputed = next(
        (n, e)
        for n, e in enumerate(problem.graph.equations, 1)
        if e.primitive.name in ("checkpoint", "remat2", "remat")
    )
    layouts = {choice.outputs[0] for choice in problem.nodes[number]}
    assert recomputed.outputs[0].shape == (8, 4) and layouts == {((), ()), (("x",), ()), ((), ("x",))}
