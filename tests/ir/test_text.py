import ir_programs as programs
import jax
import jax.numpy as jnp

from msnb import ir


def step_text():
    return ir.text(ir.read(programs.traced("step"), "Step", programs.inputs("step")))


def test_parameters_come_first_and_nodes_are_numbered():
    text = ir.text(ir.read(programs.traced(), "Net", programs.inputs()))
    lines = text.splitlines()
    assert lines[0] == "# FuncGraph Net   inputs: 1, parameters: 3, forward: 6"
    assert lines[2] == "  %para0_fc0.weight : Ref[Tensor[Float32][4, 4]]  # Parameter"
    assert lines[7].startswith("  %0([CNode]) = MatMul(%x, %para0_fc0.weight) : (Tensor[Float32][2, 4], "
                               "Tensor[Float32][4, 4]) -> Tensor[Float32][2, 4]  # Default/network-Net/fc0-Dense  # "
                               "ir_programs.py:")
    assert lines[-2:] == ["  return(%5)", "}"]


def test_the_text_of_one_program_is_always_the_same():
    assert step_text() == step_text()


def test_no_address_of_an_object_gets_into_the_text():
    graph = ir.read(jax.make_jaxpr(lambda x: jax.lax.custom_root(lambda y: y * y - x, x, lambda f, y: y,
                                                                 lambda g, y: y / g(1.0)))(2.0))
    assert " at 0x" not in ir.text(graph)
    assert " at 0x" not in step_text()


def test_one_of_several_results_is_named_by_its_place():
    assert "%para3_moments.fc0.weight" in step_text()
    assert "[0]" in step_text().splitlines()[-2]


def test_sub_graphs_are_printed_inside_the_node_that_runs_them():
    graph = ir.read(jax.make_jaxpr(lambda x: jax.lax.cond(x.sum() > 0, programs.relu, lambda v: v, x))(jnp.ones(3)))
    text = ir.text(graph)
    assert "Switch(@false.3, @true.3, %2, %x0)" in text
    assert "    @true.3(\n      %true_0 : Tensor[Float64][3]\n    ) {\n      %4([CNode]) = ReLU(%true_0)" in text


def test_dot_has_every_node_and_every_edge():
    graph = ir.read(programs.traced(), "Net", programs.inputs())
    text = ir.dot(graph)
    assert text.startswith('digraph "Net" {') and text.rstrip().endswith("}")
    assert text.count("[fillcolor=") == 6 and "n0 -> n1;" in text and "p0 -> n0;" in text
    assert 'label="fc0-Dense"' in text and text.count("{") == text.count("}")
