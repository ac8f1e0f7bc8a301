"""Programs for more devices than available: they are traced, and their strategies checked as by r1.1's compiler."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn
from msnb.common.api import _executor
from msnb.ops import operations as P
from msnb.parallel._auto_parallel_context import auto_parallel_context

ROWS, WIDE = Tensor(np.ones((128, 64), np.float32)), Tensor(np.ones((64, 64), np.float32))
PLACES = Tensor(np.zeros((8, 32), np.int32))


@pytest.fixture(autouse=True)
def thirty_two_devices():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=32)
    yield
    context.reset_auto_parallel_context()


class Calls(nn.Cell):
    def __init__(self, operator, *static):
        super().__init__()
        self.operator, self.static = operator, static

    def construct(self, *inputs):
        return self.operator(*inputs, *self.static)


def compile_call(operator, *arguments):
    """Compile a call of an operator; its Tensors are inputs of the program."""
    inputs = [value for value in arguments if isinstance(value, Tensor)]
    return _executor.compile(
        Calls(operator, *arguments[len(inputs) :]), *inputs, phase="train", auto_parallel_mode=True
    )


IMAGES, CHANNEL = Tensor(np.ones((32, 8, 4, 4), np.float32)), Tensor(np.ones(8, np.float32))
TABLE = P.Gather().add_prim_attr("manual_split", (16,) * 8)
ALLOWED = [
    (P.MatMul(), ((4, 8), (8, 1)), (ROWS, WIDE)),
    (P.Gather(), ((1, 8), (4, 1)), (ROWS, PLACES, 0)),
    (TABLE, ((8, 4), (1, 8)), (ROWS, PLACES, 0)),
    (P.StridedSlice(), ((16, 1),), (ROWS, (0, 0), (128, 32), (1, 1))),
    (P.Slice(), ((1, 32),), (ROWS, (64, 0), (64, 64))),
    (P.Tile(), ((1, 4, 2),), (ROWS, (1, 4, 2))),
    (P.UnsortedSegmentSum(), ((8, 4), (8,)), (ROWS, Tensor(np.zeros(128, np.int32)), 4)),
    (P.Dropout(0.5), ((8, 2),), (ROWS,)),
    (P.DropoutGenMask(), ((8, 2),), ((128, 64), 0.5)),
    (P.Sort(), ((32, 1),), (ROWS,)),
    (P.Gather().add_prim_attr("data_parallel", True), ((16, 2),), (ROWS, PLACES, 0)),
    (P.FusedBatchNormEx(), ((32, 1, 1, 1), (1,), (1,)), (IMAGES, *[CHANNEL] * 4)),
    (P.BatchNorm(), ((4, 8, 1, 1), (8,), (8,), (8,), (8,)), (IMAGES, *[CHANNEL] * 4)),
    (P.ArgMaxWithValue(1), ((4, 8),), (ROWS,)),
    (P.Reshape(), ((64, 3),), (ROWS, (128, 64))),  # nothing happens
    (nn.Range(0, 64, 1).range_x, ((32,),), (Tensor(np.arange(64)),)),
    (nn.Dropout(0.5).dropout_do_mask, ((8, 2),), (ROWS,)),
]
REFUSED = [
    (P.MatMul(), ((4, 8), (4, 1)), (ROWS, WIDE), "cuts axes that belong together differently"),
    (P.MatMul(), ((8, 8), (8, 1)), (ROWS, WIDE), "cuts into 64 parts, which does not divide the 32 devices"),
    (P.Gather(), ((8, 1), (2, 1)), (ROWS, PLACES, 0), "one of them has to stay whole"),
    (TABLE, ((4, 8), (1, 4)), (ROWS, PLACES, 0), "should be 4 positive ints of that sum"),
    (TABLE, ((8, 1), (1, 8)), (ROWS, PLACES, 0), "has to use all 32 devices"),
    (TABLE, ((8, 4), (1, 8)), (ROWS, PLACES, 1), "for axis and offset 0 alone"),
    (P.StridedSlice(), ((1, 8),), (ROWS, (0, 0), (128, 32), (1, 1)), "has to stay whole"),
    (P.StridedSlice(begin_mask=1), ((8, 1),), (ROWS, (0, 0), (128, 64), (1, 1)), "has to stay whole"),
    (P.Slice(), ((32, 1),), (ROWS, (64, 0), (64, 64)), "has to stay whole"),
    (P.Tile(), ((2, 4, 2),), (ROWS, (1, 4, 2)), "cuts an axis of 1 into 2 parts"),
    (P.Gather(), ((16, 2),), (ROWS, PLACES, 0), "one tuple for each of the 2 inputs"),
    (P.FusedBatchNormEx(), ((32, 1, 1, 1), (1,)), (IMAGES, *[CHANNEL] * 4), "one tuple for each of the 5 inputs"),
    (P.Argmax(1), ((4, 8),), (ROWS,), "has to stay whole"),
    (P.Reshape(), ((64, 3),), (ROWS, (64, 128)), "cuts an axis of 64 into 3 parts"),
    (P.Dropout(0.5), ((8, 2), ()), (ROWS,), "one tuple for each of the 1 inputs"),
    (P.Sort(), ((8, 4),), (ROWS,), "there is no sharding rule"),
]


@pytest.mark.parametrize(("operator", "strategy", "arguments"), ALLOWED)
def test_valid_strategy_compiles(operator, strategy, arguments):
    assert compile_call(operator.shard(strategy), *arguments) == ("train", True)


@pytest.mark.parametrize(("operator", "strategy", "arguments", "message"), REFUSED)
def test_invalid_strategy_raises(operator, strategy, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        compile_call(operator.shard(strategy), *arguments)


class Weighted(nn.Cell):
    """A product with a weight, followed by a function."""

    def __init__(self, product, function, further=None):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones((64, 32), np.float32)), name="w1")
        self.product = P.MatMul(transpose_b=True).shard(product)
        self.relu = P.ReLU().shard(function)
        self.scale = P.Mul().shard(further) if further else None

    def construct(self, x):
        out = self.relu(self.product(x, self.weight))
        return out if self.scale is None else out.sum() * self.scale(self.weight, self.weight).sum()


def test_layouts_and_strategies_equal_r1_1():
    net, x = Weighted(((2, 1), (4, 1)), ((2, 4),)), Tensor(np.ones((32, 32), np.float32))
    for devices, matrix in ((8, [2, 4]), (32, [4, 2, 4])):
        context.set_auto_parallel_context(device_num=devices)
        _executor.compile(net, x, phase="train", auto_parallel_mode=True)
        assert net.parameter_layout_dict == {
            "x": (matrix, [1, -1], [16, 32], 0, True, ""),
            "w1": (matrix, [0, -1], [16, 32], 0, True, ""),
        }
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    _executor.compile(step, x, phase="train", auto_parallel_mode=True)
    assert step.parameter_layout_dict["moments.w1"] == (matrix, [0, -1], [16, 32], 0, True, "")
    strategies = {name.split("/")[-1].split("-")[0]: cuts for name, cuts in _executor._get_shard_strategy(step).items()}
    assert strategies == {"MatMul": [[2, 1], [4, 1]], "ReLU": [[2, 4]]}


def test_parallel_optimizer_layout_has_device_group():
    """Eight devices have the same slice. Sixteen rows can be divided among them, six cannot."""
    context.set_auto_parallel_context(enable_parallel_optimizer=True)
    for rows, group in ((64, "8-devices"), (24, "")):
        net = Weighted(((2, 1), (4, 1)), ((2, 4),))
        net.weight = Parameter(Tensor(np.ones((rows, 32), np.float32)), name="w1")
        step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
        _executor.compile(step, Tensor(np.ones((32, 32), np.float32)), phase="train", auto_parallel_mode=True)
        layouts = step.parameter_layout_dict
        assert layouts["w1"][3:] == (0, True, group) and layouts["x"][5] == "", (rows, layouts)


def test_sensitivity_has_layout_of_output():
    net = Weighted(((2, 1), (4, 1)), ((2, 4),))
    grad = ms.ops.GradOperation(sens_param=True)
    step = Calls(lambda x, sens: grad(net)(x, sens))
    x, sens = Tensor(np.ones((32, 32), np.float32)), Tensor(np.ones((32, 64), np.float32))
    _executor.compile(step, x, sens, phase="train", auto_parallel_mode=True)
    layouts = [layout for layout in step.parameter_layout_dict.values() if layout[2] == [16, 16]]
    assert ([4, 2, 4], [1, 0], [16, 16], 0, True, "") in layouts, step.parameter_layout_dict


def test_transformed_calls_have_no_strategies_of_their_own():
    net = Weighted(((2, 1), (4, 1)), ((2, 4),))
    many = Tensor(np.ones((3, 32, 32), np.float32))
    step = Calls(ms.vmap(net))
    _executor.compile(step, many, auto_parallel_mode=True)
    assert step.parameter_layout_dict == {} == _executor._get_shard_strategy(step)


def test_parameter_with_two_shardings_raises():
    net, x = Weighted(((2, 1), (4, 1)), ((2, 4),), ((1, 4), (1, 4))), Tensor(np.ones((32, 32), np.float32))
    with pytest.raises(RuntimeError, match="'w1' is cut in two ways over the 32 devices: for .*MatMul-op.*Mul-op"):
        _executor.compile(net, x)


def test_setting_of_another_mode_raises():
    product = P.EmbeddingLookup().add_prim_attr("manual_split", (64, 64))
    with pytest.raises(RuntimeError, match="split by hand needs a strategy"):
        compile_call(product, ROWS, PLACES, 0)
    for devices in (32, 1):
        context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=devices, full_batch=True)
        with pytest.raises(RuntimeError, match="full_batch=True belongs to"):
            compile_call(P.ReLU(), ROWS)


def test_settings_of_r1_1_groups_are_stored():
    settings = auto_parallel_context()
    settings.set_enable_all_reduce_fusion(True)
    settings.set_all_reduce_fusion_split_sizes([10, 20], "one")
    assert settings.get_enable_all_reduce_fusion() is True
    assert settings.get_all_reduce_fusion_split_sizes("one") == [10, 20]
    settings.reset()
    assert settings.get_enable_all_reduce_fusion() is False and settings.get_all_reduce_fusion_split_sizes() == []
    with pytest.raises(TypeError, match="bool"):
        settings.set_enable_all_reduce_fusion("yes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2, 1), 3), "'in_strategy' should be a tuple of tuples"),
        ((((2, 1),), [2]), "'out_strategy' should be a tuple of tuples"),
        ((((2, 1),), None, {"w": 3}), "'parameter_plan' should be a dict"),
    ],
)
@pytest.mark.parametrize("shard", [nn.ReLU().shard, lambda *arguments: ms.shard(nn.ReLU(), *arguments)])
def test_strategies_of_cells_and_functions_are_tuples(shard, arguments, message):
    with pytest.raises(TypeError, match=message):
        shard(*arguments)
