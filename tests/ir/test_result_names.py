"""Results in a graph have the names that their user writes."""

import numpy as np
import pytest

from msnb import ParameterTuple, Tensor, context, ir, ms_function, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir import payload
from msnb.ir.layout.picture import to_svg
from msnb.ir.stages import Stages

X, Y = Tensor(np.ones((2, 4), np.float32)), Tensor(np.ones((2, 2), np.float32))


@pytest.fixture(autouse=True)
def _graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


def names_of(function, *inputs):
    return list(ir.graph(function, *inputs).result_names)


def test_a_single_result_needs_no_index():
    assert names_of(nn.Dense(4, 3), X) == ["result"]


def test_a_result_in_a_tuple_is_called_by_the_index_that_reaches_it():
    assert names_of(lambda x: (x + 1, (x - 1, x * 2)), X) == ["result[0]", "result[1][0]", "result[1][1]"]


def test_a_value_in_a_dict_is_called_by_its_key():
    assert names_of(lambda x: ({"loss": x + 1, "all": (x - 1, 3)}, x), X) == ["loss", "all[0]", "all[1]", "result[1]"]


def test_a_key_that_occurs_twice_is_shown_with_its_index():
    assert names_of(lambda x: ({"a": x + 1}, {"a": x - 1}), X) == ["result[0]['a']", "result[1]['a']"]


def test_a_gradient_is_called_after_its_parameter_in_every_stage_and_every_picture():
    net = nn.SequentialCell(nn.Dense(4, 3), nn.Dense(3, 2))
    take = ops.value_and_grad(
        lambda x, y: ops.ReduceMean()((net(x) - y) ** 2), None, ParameterTuple(net.trainable_params())
    )
    names = ["result[0]", *(f"gradient of {number}.{kind}" for number in (0, 1) for kind in ("weight", "bias"))]
    stages = Stages(program_of(ms_function(lambda x, y: take(x, y)), X, Y), "step")
    assert list(stages["traced"].result_names) == ["result[0]"]
    for stage in ("differentiated", "primitives", "StableHLO"):
        graph = stages[stage]
        assert list(graph.result_names) == names and len(graph.outputs) == len(names), stage
        assert payload.stage(graph)["results"] == names
    assert "gradient of 0.weight" in to_svg(stages["differentiated"])


def test_the_code_of_a_label_check_is_no_result():
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    stages = Stages(program_of(lambda x, y: (loss(x, y), x), X, Tensor(np.ones(2, np.int32))), "loss")
    for stage in ("traced", "StableHLO"):
        assert list(stages[stage].result_names) == ["result[0]", "result[1]"]
        assert len(stages[stage].outputs) == 2 + stages[stage].written, stage
