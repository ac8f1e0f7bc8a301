"""Strategy files, and checkpoints of several devices as one."""

from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Model, Parameter, Tensor, context, nn
from msnb.common.api import _executor
from msnb.formats import strategies
from msnb.ops import operations as P

GOLDEN = Path(__file__).parents[1] / "golden" / "strategy.ckpt"
WHOLE = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
X = Tensor(np.ones((32, 32), np.float32))


@pytest.fixture(autouse=True)
def eight_devices():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, full_batch=True)
    yield
    context.reset_auto_parallel_context()


class Net(nn.Cell):
    def __init__(self, weight, strategy=((2, 1), (4, 1))):
        super().__init__()
        self.weight, self.bias = Parameter(Tensor(weight), name="w1"), Parameter(Tensor(weight[0, :1]), name="b1")
        self.product = P.MatMul(transpose_b=True).shard(strategy)

    def construct(self, x):
        return self.product(x, self.weight) + self.bias


def slices_of(whole, matrix, tensor_map):
    """Return the slice of each device."""
    results = []
    for rank in range(int(np.prod(matrix))):
        place, part = np.unravel_index(rank, matrix), whole
        for axis, along in enumerate(tensor_map):
            if along != -1:
                part = np.split(part, matrix[-along - 1], axis)[place[-along - 1]]
        results.append(part)
    return results


def test_a_file_that_mindspore_wrote_is_read():
    cuts, _ = strategies.read(GOLDEN)
    assert cuts == {"MatMul_w1": ((2, 1), (4, 1))}
    layouts = ms.build_searched_strategy(str(GOLDEN))
    assert {name: (one.dev_matrix[0].dim, one.tensor_map[0].dim) for name, one in layouts.items()} == {
        "w1": ([2, 4], [0, -1]),
        "table": ([2, 1], [1, 0]),
    }
    assert layouts["table"].param_split_shape[0].dim == [3, 5] and layouts["table"].indices_offset[0].dim == [0, 3]


def test_what_is_written_is_what_mindspore_writes(tmp_path):
    strategies.write(tmp_path / "again.ckpt", *strategies.read(GOLDEN))
    assert (tmp_path / "again.ckpt").read_bytes() == GOLDEN.read_bytes()


def test_checkpoints_of_eight_devices_are_loaded_into_one_network(tmp_path):
    context.set_auto_parallel_context(strategy_ckpt_save_file=str(tmp_path / "strategy.ckpt"))
    _executor.compile(Net(WHOLE), X)
    files = [str(tmp_path / f"rank_{rank}.ckpt") for rank in range(8)]
    for file, part in zip(files, slices_of(WHOLE, [2, 4], [0, -1]), strict=True):
        items = [{"name": "w1", "data": Tensor(part)}, {"name": "b1", "data": Tensor(np.array([7], np.float32))}]
        ms.save_checkpoint(items, file)
    context.reset_auto_parallel_context()
    context.set_auto_parallel_context(strategy_ckpt_load_file=str(tmp_path / "strategy.ckpt"))
    net = Net(np.zeros_like(WHOLE))
    ms.load_distributed_checkpoint(net, files, {"w1": [[1], [-1, -1], [64, 32], 0]})
    np.testing.assert_array_equal(net.weight.asnumpy(), WHOLE)
    assert net.bias.asnumpy() == [7]
    with pytest.raises(ValueError, match="'w1' lay on 8 devices, but there are 7 slices"):
        ms.load_distributed_checkpoint(net, files[:7])
    with pytest.raises(ValueError, match="'predict_strategy' should have for each name"):
        ms.load_distributed_checkpoint(net, files, {"w1": [[1], [-1, -1]]})
    with pytest.raises(ValueError, match="that are there, but has 'gone.ckpt'"):
        ms.load_distributed_checkpoint(net, ["gone.ckpt"])


def test_strategies_of_a_file_are_those_of_the_operators_that_read_its_parameters(tmp_path):
    context.set_auto_parallel_context(strategy_ckpt_save_file=str(tmp_path / "strategy.ckpt"))
    net = Net(WHOLE)
    _executor.compile(net, X, auto_parallel_mode=True)
    strategies = _executor._get_shard_strategy(net)
    context.set_auto_parallel_context(
        strategy_ckpt_save_file="", strategy_ckpt_load_file=str(tmp_path / "strategy.ckpt")
    )
    for plain in (Net(WHOLE, None), Net(WHOLE, None).to_float(ms.float16)):
        _executor.compile(plain, X, auto_parallel_mode=True)
        assert list(_executor._get_shard_strategy(plain).values()) == list(strategies.values())
        assert plain.parameter_layout_dict["w1"] == net.parameter_layout_dict["w1"]
    context.set_auto_parallel_context(strategy_ckpt_load_file=str(tmp_path / "gone.ckpt"))
    with pytest.raises(ValueError, match="gone.ckpt.*cannot be read"):
        _executor.compile(Net(WHOLE), X)


def test_layouts_for_prediction_are_reported():
    layouts = Model(Net(WHOLE)).infer_predict_layout(X)
    assert layouts["w1"] == ([2, 4], [0, -1], [16, 32], 0, True, "")
    context.set_auto_parallel_context(full_batch=False)
    with pytest.raises(RuntimeError, match="full_batch=True"):
        Model(Net(WHOLE)).infer_predict_layout(X)


def sliced(*shapes, name="table"):
    return [Parameter(Tensor(np.full(shape, i, np.float32)), name=name) for i, shape in enumerate(shapes)]


def test_slices_are_put_together():
    layouts = ms.build_searched_strategy(str(GOLDEN))
    assert ms.merge_sliced_parameter(sliced((2, 3), (1, 3))).shape == (3, 3)
    merged = ms.merge_sliced_parameter(sliced((3, 4), (5, 4)), layouts)
    np.testing.assert_array_equal(merged.asnumpy(), np.repeat([[0.0], [1.0]], [3, 5], 0) * np.ones(4))
    slices = [Parameter(Tensor(part), name="w1") for part in slices_of(WHOLE, [2, 4], [0, -1])]
    np.testing.assert_array_equal(ms.merge_sliced_parameter(slices, layouts).asnumpy(), WHOLE)


@pytest.mark.parametrize(
    ("error", "said", "act"),
    [
        (TypeError, "should be a str", lambda layouts: ms.build_searched_strategy(3)),
        (ValueError, "no strategy file 'gone'", lambda layouts: ms.build_searched_strategy("gone")),
        (TypeError, "a list of Parameters", lambda layouts: ms.merge_sliced_parameter(sliced((2, 3))[0])),
        (ValueError, "is empty", lambda layouts: ms.merge_sliced_parameter([])),
        (TypeError, "a dict or None", lambda layouts: ms.merge_sliced_parameter(sliced((2, 3)), [1])),
        (ValueError, "behind the first axis", lambda layouts: ms.merge_sliced_parameter(sliced((2, 3), (2, 4)))),
        (KeyError, "'other'", lambda layouts: ms.merge_sliced_parameter(sliced((2, 3), name="other"), layouts)),
        (ValueError, "there are 1 slices", lambda layouts: ms.merge_sliced_parameter(sliced((3, 4)), layouts)),
        (ValueError, r"\[4, 4\] rows", lambda layouts: ms.merge_sliced_parameter(sliced((4, 4), (4, 4)), layouts)),
    ],
)
def test_files_that_do_not_belong_together_are_reported(error, said, act):
    with pytest.raises(error, match=said):
        act(ms.build_searched_strategy(str(GOLDEN)))


def test_a_file_of_another_kind_is_reported(tmp_path):
    (tmp_path / "other").write_bytes(b"\x1a\x05hello")
    with pytest.raises(ValueError, match="is no strategy file of MindSpore"):
        ms.build_searched_strategy(str(tmp_path / "other"))
