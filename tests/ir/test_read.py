import ir_programs as programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Tensor, context, ir, nn
from msnb.ir.anf import CNode, ParameterNode, ValueNode


def test_every_operator_is_one_node_with_its_cell_as_scope():
    graph = ir.read(programs.traced(), "Net", programs.inputs())
    assert [node.op for node in graph.nodes] == ["MatMul", "ReLU"] * 3
    assert graph.nodes[2].scope == "Default/network-Net/fc1-Dense"
    assert graph.nodes[0].shape == (2, 4) and graph.nodes[0].dtype == "Float32"
    assert graph.nodes[0].fullname == "Default/network-Net/fc0-Dense/MatMul-op0"


def test_weights_and_arguments_are_parameter_nodes():
    graph = ir.read(programs.traced(), "Net", programs.inputs())
    assert [(p.name, p.is_weight, p.requires_grad) for p in graph.parameters] == [
        ("fc0.weight", True, True),
        ("fc1.weight", True, True),
        ("fc2.weight", True, True),
        ("x", False, False),
    ]
    assert graph.nodes[0].inputs == (graph.parameters[3], graph.parameters[0])


def test_source_line_is_the_line_of_the_call_and_not_of_the_operator():
    graph = ir.read(programs.traced(), "Net", programs.inputs())
    file, line, function = graph.nodes[0].source
    assert file == programs.__file__ and function == "dense"
    with open(file) as source:
        assert "return matmul(x, w)" in source.read().splitlines()[line - 1]


def test_a_training_step_is_divided_into_forward_backward_and_update():
    graph = ir.read(programs.traced("step"), "Step", programs.inputs("step"))
    by_direction = {}
    for node in graph.nodes:
        by_direction.setdefault(node.direction, []).append(node)
    assert [node.op for node in by_direction["update"]] == ["ApplyMomentum"] * 3
    assert {node.op for node in by_direction["backward"]} >= {"MatMul", "ReLU", "ReduceMean"}
    backward = [node for node in by_direction["backward"] if node.op == "MatMul"]
    assert backward[0].scope == "Default/network-Net/fc2-Dense" and backward[0].name == "gradMatMul"


def test_constants_become_value_nodes():
    graph = ir.read(jax.make_jaxpr(lambda x: x * 2.5)(jnp.float32(1)))
    value = graph.nodes[0].inputs[1]
    assert isinstance(value, ValueNode) and float(value.value) == 2.5


def test_branches_and_loops_are_sub_graphs_fed_by_the_node_that_holds_them():
    def program(x, n):
        y = jax.lax.cond(x.sum() > 0, programs.relu, lambda v: programs.add(v, v), x)
        return jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, programs.add(c[1], c[1])), (0, y))[1]

    graph = ir.read(jax.make_jaxpr(program)(jnp.ones(3), 4))
    switch = next(node for node in graph.nodes if node.op == "Switch")
    loop = next(node for node in graph.nodes if node.op == "While")
    assert [inner.name for inner in switch.graphs] == ["false", "true"]
    assert [node.op for node in switch.graphs[1].nodes] == ["ReLU"]
    assert [inner.name for inner in loop.graphs] == ["condition", "body"]
    body = loop.graphs[1]
    assert "Add" in [node.op for node in body.nodes]
    assert all(0 <= feed < len(loop.inputs) for feed in body.feeds) and len(body.feeds) == len(body.parameters)
    ids = [node.id for node in graph.all_nodes()]
    assert ids == list(range(len(ids)))


def test_a_scan_counts_the_work_of_every_step():
    once = ir.read(jax.make_jaxpr(lambda x: programs.matmul(x, x))(jnp.ones((8, 8)))).nodes[0].flops
    scanned = ir.read(
        jax.make_jaxpr(lambda x: jax.lax.scan(lambda c, _: (programs.matmul(c, c), None), x, None, length=10)[0])(
            jnp.ones((8, 8))
        )
    )
    assert once == 2 * 8 * 8 * 8
    assert next(node for node in scanned.nodes if node.op == "Scan").flops == 10 * once


def test_functions_that_are_no_operators_are_inlined():
    @jax.jit
    def helper(x):
        return programs.relu(x) + 1

    graph = ir.read(jax.make_jaxpr(lambda x: jax.checkpoint(helper)(x))(jnp.ones(3)))
    assert [node.op for node in graph.nodes] == ["ReLU", "add"]


def test_a_function_with_its_own_gradient_is_inlined_and_its_gradient_is_backward():
    @jax.custom_vjp
    def square(x):
        return programs.matmul(x, x)

    square.defvjp(lambda x: (programs.matmul(x, x), x), lambda x, g: (programs.matmul(g, x),))

    def program(x):
        with jax.named_scope("Default/square-Square"):
            return square(x).sum()

    forward = ir.read(jax.make_jaxpr(program)(jnp.ones((2, 2))))
    assert forward.nodes[0].op == "MatMul" and forward.nodes[0].scope == "Default/square-Square"
    both = ir.read(jax.make_jaxpr(jax.value_and_grad(program))(jnp.ones((2, 2))))
    assert [(node.op, node.direction) for node in both.nodes if node.op == "MatMul"] == [
        ("MatMul", "forward"),
        ("MatMul", "backward"),
    ]


def test_second_derivatives_are_read():
    first = jax.grad(lambda x: programs.mean(programs.matmul(x, x)))
    second = jax.grad(lambda x: first(x).sum())
    graph = ir.read(jax.make_jaxpr(second)(jnp.ones((2, 2))))
    assert any(node.direction == "backward" for node in graph.nodes)


def test_a_convolution_is_counted_by_its_window():
    graph = ir.read(jax.make_jaxpr(programs.conv)(jnp.ones((2, 3, 8, 8)), jnp.ones((5, 3, 3, 3))))
    assert graph.nodes[0].flops == 2 * (2 * 5 * 6 * 6) * (3 * 3 * 3)


def test_expanding_shows_jax_primitives_with_the_operator_as_their_scope():
    graph = ir.read(programs.traced(), "Net", programs.inputs(), expand=True)
    assert [node.op for node in graph.nodes][:2] == ["dot_general", "max"]
    assert graph.nodes[0].scope == "Default/network-Net/fc0-Dense/MatMul"


def test_a_program_wrapped_in_one_jit_is_read_as_that_program():
    wrapped = jax.make_jaxpr(jax.jit(lambda x: programs.add(programs.relu(x), x)))(jnp.ones(3))
    assert [node.op for node in ir.read(wrapped).nodes] == ["ReLU", "Add"]


@pytest.mark.parametrize("wrong", [None, 3, "jaxpr", lambda x: x])
def test_what_is_no_jaxpr_is_refused_with_its_type(wrong):
    with pytest.raises(TypeError, match=type(wrong).__name__):
        ir.read(wrong)


def test_a_description_of_other_inputs_is_refused():
    with pytest.raises(ValueError, match=r"\(4\), but got 1"):
        ir.read(programs.traced(), "Net", [("arg", "x")])


def test_graph_refuses_what_cannot_be_called():
    with pytest.raises(TypeError, match="got int"):
        ir.graph(3)


def test_every_input_of_a_node_is_a_node():
    graph = ir.read(programs.traced("step"), "Step", programs.inputs("step"))
    for node in graph.nodes:
        assert all(isinstance(source, (CNode, ParameterNode, ValueNode)) for source in node.inputs)
        assert len(node.inputs) == len(node.slots)


def test_a_random_key_is_an_input_with_a_name_and_nothing_stands_for_splitting_it():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Dropout(), nn.Dense(4, 3), nn.Dropout()]).set_train()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    graph = ir.graph(step, Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 3), np.float32)))
    assert "random key" in [parameter.name for parameter in graph.parameters]
    assert not any(node.op.startswith(("random_", "slice", "squeeze")) for node in graph.all_nodes())
    key = next(parameter for parameter in graph.parameters if parameter.name == "random key")
    dropouts = [node for node in graph.all_nodes() if node.op == "Dropout" and node.direction == "forward"]
    assert len(dropouts) == 2 and all(node.inputs[0] is key for node in dropouts)
    assert all(source is not None for node in graph.all_nodes() for source in node.inputs)
