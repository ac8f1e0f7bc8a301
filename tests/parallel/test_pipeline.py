"""Pipeline stages without devices: independence of examples, and figures of pipeline plans."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Tensor, context, nn, ops
from msnb.parallel import plan
from msnb.parallel.planning.pipeline_plans import _choose_num_micro_batches
from msnb.parallel.search.batch_independence import is_batch_independent

ROWS = jax.ShapeDtypeStruct((8, 4), np.float32)
WEIGHT = jax.ShapeDtypeStruct((4, 4), np.float32)


def attention(w, x):
    heads = (x.reshape(-1, 1) @ w[:1]).reshape(x.shape[0], 4, 4)
    return jax.nn.softmax(heads @ heads.transpose(0, 2, 1)).mean(1) + x


def add_noise(w, x):
    return x * jax.random.bernoulli(jax.random.key(0), 0.5, x.shape)


def apply_twice(w, x):
    return jax.lax.scan(lambda x, _: (jnp.tanh(x @ w), None), x, None, 3)[0]


@pytest.mark.parametrize(
    "fn", [lambda w, x: x @ w, attention, add_noise, apply_twice, lambda w, x: x - x.max(1)[:, None]]
)
def test_independent_examples_are_accepted(fn):
    assert is_batch_independent(fn, WEIGHT, ROWS, 2)


DEPENDENT = {
    "their mean": lambda w, x: x - x.mean(0),
    "their largest": lambda w, x: x / x.max(),
    "their number": lambda w, x: x / x.shape[0],
    "the place of one": lambda w, x: x + jnp.arange(x.shape[0])[:, None],
    "an array of as many": lambda w, x: x + np.ones((8, 1), np.float32),
    "their order": lambda w, x: x[::-1],
    "a sum from the first": lambda w, x: jnp.cumsum(x, 0),
    "one of them": lambda w, x: x + x[0],
    "some that are looked up": lambda w, x: x[jnp.argsort(x[:, 0])],
    "the one before": lambda w, x: jax.lax.pad(x, np.float32(0), [(1, -1, 0), (0, 0, 0)]),
    "the one before, in a loop": lambda w, x: jax.lax.scan(lambda x, _: (jnp.roll(x, 1, 0), None), x, None, 2)[0],
    "another axis": lambda w, x: jnp.concatenate([x.T, x.T]) if x.shape[0] == 8 else x,
    "columns": lambda w, x: (x.T @ x.reshape(8, -1)[:, :4]).repeat(2, 0) if x.shape[0] == 8 else x,
}


@pytest.mark.parametrize("what", DEPENDENT)
def test_dependent_examples_are_rejected(what):
    assert not is_batch_independent(DEPENDENT[what], WEIGHT, ROWS, 2)


def test_indivisible_batch_is_rejected():
    assert not is_batch_independent(lambda w, x: x, WEIGHT, ROWS, 3)
    assert not is_batch_independent(lambda w, x: x, WEIGHT, jax.ShapeDtypeStruct((), np.float32), 2)


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm((width,)), nn.Dense(width, 64), nn.Dense(64, width)

    def construct(self, x):
        return x + self.narrow(ops.tanh(self.wide(self.norm(x))))


class Blocks(nn.Cell):
    def __init__(self, widths):
        super().__init__()
        self.blocks = nn.SequentialCell([Block(width) for width in widths])

    def construct(self, x):
        return ops.square(self.blocks(x)).mean()


def create_plans(widths=(32,) * 4, parts=None, **settings):
    net = Blocks(widths)
    loss = net if parts is None else nn.PipelineCell(net, parts)
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.01)).set_train()
    x = Tensor(np.zeros((64, 32), np.float32))
    return plan(step, x, **{"devices": 8, "hardware": "h100", "check": 0, "progress": False, **settings})


@pytest.fixture(scope="module")
def plans():
    return create_plans()


def test_plan_has_pipelines_of_equal_blocks(plans):
    by_name = {one.name: one for one in plans if one.pipeline is not None}
    assert list(sorted(by_name)) == ["2 stages, 8 parts", "4 stages, 16 parts"]
    two = by_name["2 stages, 8 parts"]
    as_dict = two.as_dict()
    assert (as_dict["mesh"], as_dict["stages"], as_dict["parts"], as_dict["bubble"]) == (
        {"stages": 2, "rows": 4},
        2,
        8,
        1 / 9,
    )
    params = 4 * sum(value.bytes // 4 for _, kind, value in two.tensors if kind == "parameter")
    sizes = as_dict["memory_by_kind"]
    assert sizes["parameter"] == pytest.approx(params / 2, abs=8) and sizes["state"] == pytest.approx(params, abs=8)
    assert two.layout("blocks.3.wide.weight") == (("stages",), ())
    permuted = sum(one.bytes for one in two.collectives if one.kind == "collective-permute")
    assert permuted >= 2 * 9 * (8 / 4 * 32 * 4)  # there and back, in each round two of eight rows
    assert "11%" in repr(plans) and "<th>bubble</th>" in plans._repr_html_() and "bubble" not in repr(plans[0:0])
    rows = two.why_not("blocks.3.wide.weight")
    assert [row["layout"] for row in rows if row["chosen"]] == [(("stages",), ())]


@pytest.fixture(scope="module")
def divided_plans():
    """Plans of a step that divides its batch itself."""
    return create_plans(parts=8)


def test_more_micro_batches_shrink_bubble(plans, divided_plans):
    few, many = divided_plans["4 stages, 8 parts"], plans["4 stages, 16 parts"]
    assert few.pipeline.bubble > many.pipeline.bubble and few.operations > many.operations


def test_pipeline_communication_equals_prediction(plans):
    one = plans["2 stages, 8 parts"]
    compiled = plans.check(one)
    assert compiled.bytes == pytest.approx(one.bytes, rel=0.02)
    assert {"collective-permute", "all-to-all"} <= {each.kind for each in compiled.collectives}
    assert compiled.memory == pytest.approx(one.memory, rel=0.35)


def test_devices_prefer_several_examples():
    assert [_choose_num_micro_batches([Tensor(np.zeros((rows, 4)))], 2, 4) for rows in (64, 32, 16, 8)] == [8, 4, 2, 2]
    with pytest.raises(NotImplementedError, match=r"8 should divide the first axis of each argument, but those are"):
        _choose_num_micro_batches([Tensor(np.zeros((12, 4)))], 2, 4)


def test_network_without_equal_blocks_has_no_pipelines():
    class Uneven(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Dense(32, 16), nn.Dense(16, 1)

        def construct(self, x):
            return self.two(self.one(x)).mean()

    net = Uneven()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    plans_of_step = plan(
        step, Tensor(np.zeros((64, 32), np.float32)), devices=4, hardware="h100", check=0, progress=False
    )
    assert not any(one.pipeline for one in plans_of_step) and "bubble" not in repr(plans_of_step)


def test_refused_stages_have_reason():
    class Between(Blocks):
        def construct(self, x):
            for block in self.blocks:
                x = block(x) * 2
            return ops.square(x).mean()

    net = Between((32,) * 2)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    plans_of_step = plan(
        step, Tensor(np.zeros((64, 32), np.float32)), devices=2, hardware="h100", check=0, progress=False
    )
    (refused,) = plans_of_step.refused
    assert refused.name == "2 stages" and "The blocks of a pipeline follow one another" in refused.reason
    assert not any(one.pipeline for one in plans_of_step) and refused.reason in repr(plans_of_step)


def test_apply_pipeline_needs_pipeline_cell(plans, divided_plans):
    with pytest.raises(RuntimeError, match=r"nn.PipelineCell\(network, 8\)"):
        plans["2 stages, 8 parts"].apply()
    before = context.get_auto_parallel_context("pipeline_stages")
    try:
        divided_plans["2 stages, 8 parts"].apply()
        keys = "parallel_mode", "pipeline_stages", "device_num", "full_batch"
        now = [context.get_auto_parallel_context(key) for key in keys]
        assert now == ["semi_auto_parallel", 2, 8, True]
        plans["data parallel"].apply()
        assert context.get_auto_parallel_context("pipeline_stages") == 1 == before
    finally:
        context.reset_auto_parallel_context()
