"""The parts of the search that need no devices: what moving costs, what may be cut, what XLA's text says."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb.parallel.collectives import collectives, total
from msnb.parallel.search.choosing import BYTE, cost_of, dynamic_programming, peak_nodes_bytes
from msnb.parallel.search.costs import MeshCostModel
from msnb.parallel.search.factors import factors_of
from msnb.parallel.search.flat import flatten_jaxpr
from msnb.parallel.search.greedy import recursive_programming
from msnb.parallel.search.problem import Problem

EIGHT = MeshCostModel({"x": 2, "y": 4}, {"x": 1.0, "y": 1.0})


def test_what_is_cut_further_is_not_moved_and_what_is_gathered_comes_from_all_others():
    whole, rows, both = ((), ()), (("y",), ()), (("y",), ("x",))
    moving = functools.partial(EIGHT.transfer_cost, size=800, shape=(8, 8))
    assert moving(whole, rows) == 0
    assert moving(rows, whole) == 3 / 4 * 800
    assert moving(both, rows) == 1 / 2 * 200
    assert moving(rows, ((), ("y",))) == 3 / 4 * 200


def test_an_axis_outside_another_one_cannot_be_cut_or_gathered_without_changing_the_devices():
    inner, both = (("y",), ()), (("x", "y"), ())
    assert (
        EIGHT.transfer_cost(inner, both, 800, (8, 8))
        == EIGHT.transfer_cost(both, inner, 800, (8, 8)) - 1 / 2 * 200
        == 100
    )
    assert EIGHT.layout_path(inner, both, (8, 8)) == [(("y", "x"), ()), both]


def test_axes_that_cut_several_factors_are_summed_over_one_after_the_other():
    """Which sends more than a sum over both at once; axes that cut one factor are summed over at once."""
    shape = jax.ShapeDtypeStruct((8, 8, 16), np.float32)
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(lambda a: a.sum((0, 1)))(shape)), EIGHT, {})
    sums = {choice.inputs[0][:2]: dict(choice.sums) for choice in problem.nodes[1]}
    assert sums[("x",), ("y",)] == {("x",): 64, ("y",): 64}
    assert sums[("x", "y"), ()] == {("x", "y"): 64}


def test_layouts_have_equal_parts():
    found = EIGHT.layouts((4, 3))
    assert set(found) == {((), ()), (("x",), ()), (("y",), ())}


def test_bytes_between_hosts_weigh_more():
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
def test_what_is_computed_by_parts_is_the_same(name):
    """The first half of what is cut gives the first half of each result that has the factor, the other half its own."""
    function, shapes = FUNCTIONS[name]
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    graph = flatten_jaxpr(jax.make_jaxpr(function)(*arrays))
    values = {id(v): a for v, a in zip(graph.inputs, arrays, strict=True)}
    for equation in graph.equations:
        given = [values.get(id(i), i) for i in equation.inputs]
        params = equation.primitive.get_bind_params(equation.params)
        made = equation.primitive.bind(*given, **params)
        made = list(made) if equation.primitive.multiple_results else [made]
        values.update({id(o): m for o, m in zip(equation.outputs, made, strict=True)})
        factors = factors_of(equation)
        cut = zip(factors.outputs, made, strict=True)
        shared = {f for labels, m in cut for f, n in zip(labels, np.shape(m), strict=True) if f is not None and n > 1}
        for factor in shared if equation.primitive.name not in HAS_SHAPES else ():
            halves = [halved(g, labels, factor) for g, labels in zip(given, factors.inputs, strict=True)]
            for side in range(2):
                part = equation.primitive.bind(*(h[side] for h in halves), **params)
                part = list(part) if equation.primitive.multiple_results else [part]
                for whole, one, labels in zip(made, part, factors.outputs, strict=True):
                    np.testing.assert_allclose(halved(whole, labels, factor)[side], one, rtol=1e-6, atol=1e-6)


HAS_SHAPES = (
    "broadcast_in_dim",
    "reshape",
    "squeeze",
    "iota",
    "gather",
    "slice",
    "jit",
)  # which say the whole result's


def halved(value, labels, factor):
    """The two halves of a value along the axis of a factor; where it has none, twice the whole."""
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
def test_of_axes_that_are_joined_or_divided_the_first_is_cut(before, after, expected):
    (equation,) = flatten_jaxpr(jax.make_jaxpr(lambda a: a.reshape(after))(np.zeros(before, np.float32))).equations
    found = factors_of(equation)
    assert shape_of_labels(found.inputs[0], before) == shape_of_labels(expected[0], before)
    assert shape_of_labels(found.outputs[0], after) == shape_of_labels(expected[1], after)


def shape_of_labels(labels, shape):
    """The labels, numbered anew, of axes that can be cut."""
    known = {}
    kept = [label if n > 1 else None for label, n in zip(labels, shape, strict=True)]
    return [None if label is None else known.setdefault(label, len(known)) for label in kept]


def test_an_axis_is_not_cut_into_more_parts_than_its_first_one_has():
    problem = Problem(
        flatten_jaxpr(jax.make_jaxpr(lambda a: a.reshape(2, 8))(np.zeros(16, np.float32))),
        MeshCostModel({"x": 4}, {"x": 1.0}),
        {},
    )
    assert {choice.outputs[0] for choice in problem.nodes[1]} == {((), ())}


@pytest.mark.parametrize(("rows", "width"), [(64, 32), (8, 512)])
def test_the_cheapest_of_all_is_found(rows, width):
    """Beside all choices tried one after the other."""

    def step(w, x):
        return jnp.tanh(x @ w).sum()

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((width, width), (rows, width))]
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(step)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
    found = dynamic_programming(problem, operation=0.0, read=0.0)
    best = min(cost_of(problem, list(c)) for c in itertools.product(*(range(len(n)) for n in problem.nodes)))
    assert cost_of(problem, found) == best


def test_the_greedy_search_goes_along_one_axis_after_the_other():
    """What it chose along the first axis is in what it chose along both; the best of all is not dearer."""

    def step(w, v, x):
        def loss(w, v):
            return ((jnp.tanh(x @ w) @ v) ** 2).mean()

        return [p - 0.1 * g for p, g in zip((w, v), jax.grad(loss, (0, 1))(w, v), strict=True)]

    shapes = [jax.ShapeDtypeStruct(s, np.float32) for s in ((64, 256), (256, 64), (512, 64))]
    graph = flatten_jaxpr(jax.make_jaxpr(step)(*shapes))
    one, both = (Problem(graph, machines, {0: 0, 1: 1}) for machines in (MeshCostModel({"x": 2}, {"x": 1.0}), EIGHT))
    first, found = recursive_programming(one), recursive_programming(both)
    for before, after in zip(chosen(one, first), chosen(both, found), strict=True):
        assert before == tuple(tuple(tuple(a for a in axes if a == "x") for axes in lay) for lay in after)
    assert any("y" in axes for layouts in chosen(both, found) for layout in layouts for axes in layout)
    best = dynamic_programming(both)
    price = [n[k].operations for n, k in zip(both.nodes, best, strict=True)]
    greedy = [n[k].operations for n, k in zip(both.nodes, found, strict=True)]
    assert cost_of(both, best) + sum(price) / BYTE <= cost_of(both, found) + sum(greedy) / BYTE + 1e-6
    least = sum(min(choice.stored_bytes for choice in both.nodes[n]) for n in both.peak_nodes)
    memory = (peak_nodes_bytes(both, found) + least) / 2
    assert peak_nodes_bytes(both, recursive_programming(both, memory)) <= memory < peak_nodes_bytes(both, found)


def chosen(problem, numbers):
    return [node[k].outputs for node, k in zip(problem.nodes, numbers, strict=True)]


def test_where_the_memory_is_small_parameters_are_cut():
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


def test_communication_is_counted_with_its_bytes():
    found = collectives(HLO, 8)
    assert [(c.kind, c.devices, c.times) for c in found] == [
        ("all-reduce", 2, 5),
        ("all-gather", 4, 1),
        ("all-gather", 4, 1),
        ("all-reduce", 4, 1),
        ("all-reduce", 8, 1),
        ("collective-permute", 2, 1),
    ]
    assert total(found) == {
        "all-reduce": 5 * 2 * 1 / 2 * 32 + 2 * (3 / 4 + 7 / 8) * 24,
        "all-gather": 3 / 4 * (16 * 4 * 2 + 64),
        "collective-permute": 64.0,
    }


def test_a_loop_is_cut_along_axes_that_hang_together_in_all_rounds():
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
    whole_weight = {choice.inputs[0] for choice in problem.nodes[loop]}
    assert whole_weight == {((), ())}  # its rows and columns hang together, and nothing is cut along both
    whole, rows = ((),), (("x",), ())
    assert ways[((), ()), whole, ((), (), ())] == 0
    # the sum over the rows is one of all devices in each of the six rounds
    assert ways[rows, whole, ((), *rows)] == 6 * 2 * 1 / 2 * 4 * 4
    assert problem.nodes[loop][0].operations >= 6 * 2 * 8 * 4 * 4


def test_what_is_computed_once_more_for_a_gradient_stays_one_equation():
    block = jax.checkpoint(lambda x: jnp.tanh(jnp.tanh(x) * 2))
    x = jax.ShapeDtypeStruct((8, 4), np.float32)
    problem = Problem(
        flatten_jaxpr(jax.make_jaxpr(jax.grad(lambda x: block(x).sum()))(x)), MeshCostModel({"x": 2}, {"x": 1.0}), {}
    )
    number, kept = next(
        (n, e)
        for n, e in enumerate(problem.graph.equations, 1)
        if e.primitive.name in ("checkpoint", "remat2", "remat")
    )
    layouts = {choice.outputs[0] for choice in problem.nodes[number]}
    assert kept.outputs[0].shape == (8, 4) and layouts == {((), ()), (("x",), ()), ((), ("x",))}
