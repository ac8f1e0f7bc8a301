import ir_programs as programs
import jax
import jax.numpy as jnp
import pytest

from msnb import ir
from msnb.ir.hlo import read_hlo


def compiled_step():
    weights = [jnp.ones((8, 8), jnp.float32)] * 2
    return jax.jit(programs.step).lower(weights, weights, jnp.ones((4, 8), jnp.float32)).compile().as_text()


def test_a_compiled_step_becomes_kernels_that_know_their_cells():
    graph = read_hlo(compiled_step(), "step")
    assert graph.nodes and all(node.instruction for node in graph.nodes)
    scopes = {scope for node in graph.nodes for scope, *_ in node.origins}
    assert "Default/network-Net/fc0-Dense" in scopes and "Default/optimizer-Momentum" in scopes
    assert {node.direction for node in graph.nodes} == {"forward", "backward", "update"}


def test_a_kernel_names_the_operators_that_were_fused_into_it():
    graph = read_hlo(compiled_step(), "step")
    operators = {(operator, backward) for node in graph.nodes for _, operator, backward, _ in node.origins}
    assert {("MatMul", False), ("MatMul", True), ("ReLU", False)} <= operators


def test_matrix_products_are_counted():
    graph = read_hlo(compiled_step(), "step")
    assert sum(node.flops for node in graph.nodes) >= 2 * 4 * 8 * 8 * 2 * 2


def test_the_text_of_a_compiled_program_prints():
    assert "return(" in ir.text(read_hlo(compiled_step(), "step"))


def test_a_compiled_loop_is_read():
    text = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, v: jnp.sin(v) * 2, x)).lower(jnp.ones(64)).compile()
    graph = read_hlo(text.as_text(), "loop")
    assert len(graph) >= 1 and ir.svg(graph).startswith("<svg")


def test_text_that_is_no_module_is_refused():
    with pytest.raises(ValueError, match="ENTRY"):
        read_hlo("hello")
