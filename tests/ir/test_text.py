import ir_programs as programs
import jax
import jax.numpy as jnp

import msnb as ms
from msnb import Tensor, ir


def step_text():
    return ir.text(ir.read(programs.traced("step"), "Step", programs.inputs("step")))


def test_parameters_come_first_and_nodes_are_numbered():
    text = ir.text(ir.read(programs.traced(), "Net", programs.inputs()))
    lines = text.splitlines()
    assert lines[0] == "# FuncGraph Net   inputs: 1, parameters: 3, forward: 6"
    assert lines[2] == "  %para0_fc0.weight : Ref[Tensor[Float32][4, 4]]  # Parameter"
    assert lines[7].startswith(
        "  %0([CNode]) = MatMul(%x, %para0_fc0.weight) : (Tensor[Float32][2, 4], "
        "Tensor[Float32][4, 4]) -> Tensor[Float32][2, 4]  # Default/network-Net/fc0-Dense  # "
        "ir_programs.py:"
    )
    assert lines[-2:] == ["  return(%5)", "}"]


def test_the_text_of_one_program_is_always_the_same():
    assert step_text() == step_text()


def test_no_address_of_an_object_gets_into_the_text():
    graph = ir.read(
        jax.make_jaxpr(lambda x: jax.lax.custom_root(lambda y: y * y - x, x, lambda f, y: y, lambda g, y: y / g(1.0)))(
            2.0
        )
    )
    assert " at 0x" not in ir.text(graph)
    assert " at 0x" not in step_text()


def test_one_of_several_results_is_named_by_its_place():
    assert "%para3_moments.fc0.weight" in step_text()
    assert "[0]" in step_text().splitlines()[-2]


def test_a_switch_chooses_by_a_bool_and_its_branches_use_free_variables_by_their_outer_names():
    graph = ir.read(jax.make_jaxpr(lambda x: jax.lax.cond(x.sum() > 0, programs.relu, lambda v: v, x))(jnp.ones(3)))
    text = ir.text(graph)
    assert "Switch(%1, @true.2, @false.2)(%x0) : (Tensor[Bool][]" in text
    assert "    @true.2() {\n      %3([CNode]) = ReLU(%x0)" in text


def test_functions_as_values_are_blocks_that_name_what_they_take():
    def outer(x):
        def f(v):
            return v + x

        def g(function, v):
            return function(v) * function(v)

        return g(f, x)

    lines = [line.strip().partition(" : ")[0] for line in ir.text(ms.ms_function(outer), Tensor(2.0)).splitlines()]
    assert lines[4:-1] == [
        "@g(%x) {",
        "@f(%x) {",
        "%0([CNode]) = Add(%x, %x)",
        "}",
        "@f 2(%x) {",
        "%1([CNode]) = Add(%x, %x)",
        "}",
        "%2([CNode]) = Mul(%0, %1)",
        "}",
        "return(%2)",
    ]


def test_a_loop_is_printed_with_the_names_of_its_variables():
    def fibonacci(n):
        a, b = n * 0, n * 0 + 1
        while n > 0:
            a, b = b, a + b
            n = n - 1
        return a

    text = ir.text(ms.ms_function(fibonacci), Tensor(5))
    assert "@body.4(\n      %a   : Tensor[Int64][]\n      %b   :" in text and "Add(%a, %b)" in text
    assert "# Default/while(a, b, n)" in text


def test_what_was_known_while_tracing_is_shown_as_returned():
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert "return(8)" in ir.text(ms.ms_function(lambda: fibonacci(6)))


def test_dot_has_every_node_and_every_edge():
    graph = ir.read(programs.traced(), "Net", programs.inputs())
    text = ir.dot(graph)
    assert text.startswith('digraph "Net" {') and text.rstrip().endswith("}")
    assert text.count("[fillcolor=") == 6 and "n0 -> n1;" in text and "p0 -> n0;" in text
    assert 'label="fc0-Dense"' in text and text.count("{") == text.count("}")
