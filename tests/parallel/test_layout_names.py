"""`Layout` compared with results and errors of MindSpore 2.7.1."""

import copy
import pickle

import pytest

import msnb as ms
from msnb import ops
from msnb.parallel import Layout
from msnb.parallel.auto_parallel import AutoParallel

GRID = Layout((2, 2, 2), ("dp", "sp", "mp"))


@pytest.mark.parametrize(
    "names, tensor_map, parts",
    [
        (("dp", "mp"), (2, 0), (2, 2)),
        (("dp", "None"), (2, -1), (2, 1)),
        ((("dp", "sp"), "mp"), ((2, 1), 0), (4, 2)),
        ((), (), ()),
    ],
)
def test_layout_dict_equals_mindspore(names, tensor_map, parts):
    sharding = GRID(*names)
    assert sharding.to_dict() == {
        "device_matrix": (2, 2, 2),
        "tensor_map": tensor_map,
        "interleaved_parallel": False,
        "alias_name": ("dp", "sp", "mp"),
        "rank_list": [0, 1, 2, 3, 4, 5, 6, 7],
    }
    assert tuple(sharding) == parts


def test_interleaved_axis_shards_nothing():
    sharding = Layout((2, 2), ("a", "interleaved_parallel"))(("a", "interleaved_parallel"), "None")
    assert tuple(sharding) == (2, 1) and sharding.to_dict()["tensor_map"] == ((1, 0), -1)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: Layout([2], ("a",)), TypeError),
        (lambda: Layout((2.0, 2), ("a", "b")), TypeError),
        (lambda: Layout((2, 2), ("a", 1)), TypeError),
        (lambda: Layout((2, 2), ("a", "b"), (0, 1, 2, 3)), TypeError),
        (lambda: Layout((2,), ("a", "b")), ValueError),
        (lambda: Layout((2, 2), ("a", "a")), ValueError),
        (lambda: Layout((2, 2), ("a", "None")), ValueError),
        (lambda: Layout((2, 2), ("a", "")), ValueError),
        (lambda: Layout((2, 2), ("interleaved_parallel", "a")), ValueError),
        (lambda: Layout((2, 2), ("a", "b"), [0, 1]), ValueError),
        (lambda: Layout((2, 2), ("a", "b"), [1, 0, 2, 3]), NotImplementedError),
        (lambda: GRID("dp", "dp"), ValueError),
        (lambda: GRID(("dp", "dp"), "mp"), ValueError),
        (lambda: GRID("xx"), ValueError),
        (lambda: GRID(3), ValueError),
    ],
)
def test_invalid_layout_raises(make, error):
    with pytest.raises(error, match="Layout|rank_list"):
        make()


def test_layouts_with_equal_counts_differ():
    assert GRID("dp", "mp") != GRID("sp", "mp") and GRID("dp", "mp") != (2, 2)
    assert len({GRID("dp", "mp"), GRID("sp", "mp"), GRID("dp", "mp")}) == 2
    for twin in (copy.deepcopy(GRID("dp", "mp")), pickle.loads(pickle.dumps(GRID("dp", "mp")))):
        assert twin == GRID("dp", "mp") and tuple(twin) == (2, 2)


def test_strategy_keywords_of_each_generation():
    for make in (
        lambda: ops.MatMul().shard(((1, 2), (2, 1))),
        lambda: ops.MatMul().shard(strategy=((1, 2), (2, 1))),
        lambda: ops.MatMul().shard(in_strategy=((1, 2), (2, 1)), out_strategy=((1, 1),)),
        lambda: ops.MatMul().set_strategy(((1, 2), (2, 1))),
    ):
        assert make().attrs["strategy"] == ((1, 2), (2, 1))
    assert "out_strategy" not in ops.MatMul().shard(((1, 2), (2, 1))).attrs
    with pytest.raises(ValueError, match="goes with an 'in_strategy'"):
        ops.MatMul().shard(None, ((1, 1),))
    with pytest.raises(TypeError, match="tuple of tuples"):
        ops.MatMul().shard(((1, 2), (2, 1)), 3)


def test_auto_parallel_on_one_device_changes_nothing():
    net = ms.nn.Dense(4, 2)
    around = AutoParallel(net, parallel_mode="recursive_programming")
    around.pipeline(stages=2)
    x = ms.Tensor([[1.0, 2.0, 3.0, 4.0]])
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        assert around(x).asnumpy().tolist() == net(x).asnumpy().tolist()
    assert [p.name for p in around.get_parameters()] == ["weight", "bias"]


@pytest.mark.parametrize(
    "do, error",
    [
        (lambda: AutoParallel(3), TypeError),
        (lambda: AutoParallel(abs, "manual"), ValueError),
        (lambda: AutoParallel(abs).hsdp(0), ValueError),
        (lambda: AutoParallel(abs).hsdp(threshold=-1), ValueError),
        (lambda: AutoParallel(abs).hsdp(optimizer_level="level4"), ValueError),
        (lambda: AutoParallel(abs).pipeline(0), ValueError),
        (lambda: AutoParallel(abs).pipeline(2, scheduler="first"), ValueError),
        (lambda: AutoParallel(abs).dataset_strategy("rows"), ValueError),
        (lambda: AutoParallel(abs).dataset_strategy(3), TypeError),
        (lambda: AutoParallel(abs).load_param_strategy_file(3), TypeError),
        (lambda: AutoParallel(abs).comm_fusion(3), TypeError),
        (lambda: AutoParallel(abs).save_operator_strategy_file("/a.json"), NotImplementedError),
    ],
)
def test_invalid_settings_raise(do, error):
    with pytest.raises(error):
        do()
