import ir_programs as programs
import jax
import jax.numpy as jnp
import numpy as np

from msnb import ir
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode


def graph_of(layers, width=4, kind="forward"):
    return ir.read(programs.traced(kind, layers, width), "Net", programs.inputs(kind, layers))


def test_a_graph_is_the_same_as_itself():
    comparison = ir.compare(graph_of(3), graph_of(3))
    assert comparison.counts() == {"same": 6, "changed": 0, "fused": 0, "removed": 0, "added": 0}
    assert comparison.links == [(number, number) for number in range(6)]


def test_an_added_layer_is_the_only_thing_that_is_added():
    comparison = ir.compare(graph_of(3), graph_of(4))
    assert comparison.counts()["added"] == 2 and comparison.counts()["removed"] == 0
    assert ir.compare(graph_of(4), graph_of(3)).counts()["removed"] == 2


def test_other_shapes_are_changes():
    assert ir.compare(graph_of(3, 4), graph_of(3, 8)).counts()["changed"] == 6


def test_a_number_is_the_same_as_an_array_of_it_and_another_number_is_a_change():
    def graph(value, dtype, of="Float32"):
        x = ParameterNode("x", (TensorType(of, (2, 3), 4),))
        number = ValueNode(value, (TensorType(dtype, (), 4),))
        node = CNode("Mul", (x, number), (0, 0), x.types, scope="Default", id=0)
        return FuncGraph("Net", [x], [node], [(node, 0)])

    def same(first, second):
        return ir.compare(first, second).counts()["same"] == 1

    tenth = graph(np.array(0.1, np.float32), "Float32")
    assert same(graph(0.1, "Float64"), tenth) and same(graph(jnp.float32(0.1), "Float32"), tenth)
    assert same(graph(2, "Int64"), graph(np.array(2.0, np.float32), "Float32"))
    assert not same(graph(0.2, "Float64"), tenth) and not same(graph(0.0, "Float64"), graph(-0.0, "Float64"))
    assert not same(graph(1.5, "Float64", "Int32"), graph(1, "Int64", "Int32"))
    assert not same(graph(2**60 + 1, "Int64", "Int64"), graph(2**60, "Int64", "Int64"))


def test_a_renamed_layer_is_still_the_same_layer():
    def one(w, x):
        with jax.named_scope("Default"):
            return programs.relu(programs.dense("first", x, w))

    def two(w, x):
        with jax.named_scope("Default"):
            return programs.relu(programs.dense("renamed", x, w))

    args = jnp.ones((4, 4)), jnp.ones((2, 4))
    comparison = ir.compare(ir.read(jax.make_jaxpr(one)(*args)), ir.read(jax.make_jaxpr(two)(*args)))
    assert comparison.counts()["same"] == 2 and not comparison.counts()["added"]


def test_primitives_belong_to_the_operator_they_are_part_of():
    traced = graph_of(2)
    opened = ir.read(programs.traced("forward", 2), "Net", programs.inputs("forward", 2), expand=True)
    comparison = ir.compare(traced, opened)
    assert set(comparison.first) == {"same"}
    back = ir.compare(opened, traced)
    assert sorted((b, a) for a, b in back.links) == comparison.links


def test_kernels_of_a_compiled_program_belong_to_what_was_fused_into_them():
    weights = [jnp.ones((8, 8), jnp.float32)] * 2
    args = weights, weights, jnp.ones((4, 8), jnp.float32)
    traced = ir.read(jax.make_jaxpr(programs.step)(*args), "Net")
    compiled = ir.read_hlo(jax.jit(programs.step).lower(*args).compile().as_text(), "Net")
    comparison = ir.compare(traced, compiled)
    assert comparison.first.count("only") <= 1
    nodes, kernels = list(traced.all_nodes()), list(compiled.all_nodes())
    for number, kernel in comparison.links:
        assert (nodes[number].scope, nodes[number].op) in {origin[:2] for origin in kernels[kernel].origins}
