"""`Layout`, beside what MindSpore 2.7.1 gives and refuses."""

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
def test_a_layout_is_written_as_mindspore_writes_it(names, tensor_map, parts):
    lying = GRID(*names)
    assert lying.to_dict() == {
        "device_matrix": (2, 2, 2),
        "tensor_map": tensor_map,
        "interleaved_parallel": False,
        "alias_name": ("dp", "sp", "mp"),
        "rank_list": [0, 1, 2, 3, 4, 5, 6, 7],
    }
    assert tuple(lying) == parts


def test_parts_that_one_device_computes_are_no_parts_of_devices():
    lying = Layout((2, 2), ("a", "interleaved_parallel"))(("a", "interleaved_parallel"), "None")
    assert tuple(lying) == (2, 1) and lying.to_dict()["tensor_map"] == ((1, 0), -1)


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
def test_what_mindspore_refuses_is_refused(make, error):
    with pytest.raises(error, match="Layout|rank_list"):
        make()


def test_two_layouts_of_equal_parts_are_two():
    assert GRID("dp", "mp") != GRID("sp", "mp") and GRID("dp", "mp") != (2, 2)
    assert len({GRID("dp", "mp"), GRID("sp", "mp"), GRID("dp", "mp")}) == 2
    for twin in (copy.deepcopy(GRID("dp", "mp")), pickle.loads(pickle.dumps(GRID("dp", "mp")))):
        assert twin == GRID("dp", "mp") and tuple(twin) == (2, 2)


def test_an_operator_takes_its_strategies_by_each_generations_names():
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


def test_with_one_device_a_network_with_settings_of_its_own_is_the_network():
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
def test_settings_that_cannot_be_are_refused(do, error):
    with pytest.raises(error):
        do()
