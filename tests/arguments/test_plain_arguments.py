"""Arguments of functions and classes that had no effect and did not say so: each says so once, raises or works."""

import numpy as np
import pytest

import msnb as ms
import msnb.dataset as ds
from msnb import Parameter, Tensor, nn, ops
from msnb.common.initializer import initializer
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.mindrecord import FileReader, FileWriter, MindPage
from msnb.mindrecord.common.exceptions import ParamValueError
from msnb.ops import control


def zeros(*shape):
    return Tensor(np.zeros(shape, np.float32))


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "rows.mindrecord")
    writer = FileWriter(path)
    writer.add_schema({"n": {"type": "int32"}})
    writer.add_index(["n"])
    writer.write_raw_data([{"n": i} for i in range(3)])
    writer.commit()
    return path


SAID = {
    "Cell.init_parameters_data": ("auto_parallel_mode", lambda: nn.Dense(2, 2).init_parameters_data(True)),
    "Dropout": ("dtype", lambda: nn.Dropout(0.5, ms.float16)),
    "Conv2d": ("bias_init", lambda: nn.Conv2d(1, 1, 1, bias_init="ones")),
    "EmbeddingLookup": ("vocab_cache_size", lambda: nn.EmbeddingLookup(2, 2, vocab_cache_size=2)),
    "GeneratorDataset": ("max_rowsize", lambda: ds.GeneratorDataset([1, 2], ["n"], max_rowsize=16)),
    "Dataset": ("max_rowsize", lambda: ds.NumpySlicesDataset([1, 2]).batch(2, max_rowsize=4)),
    "MetaTensor.to_tensor, a slice": ("slice_index", lambda: MetaTensor(ms.float32, (2,), "ones").to_tensor(1)),
    "MetaTensor.to_tensor": (
        "opt_shard_group",
        lambda: MetaTensor(ms.float32, (2,), "ones").to_tensor(opt_shard_group="g"),
    ),
    "MultitypeFuncGraph": ("read_value", lambda: ops.MultitypeFuncGraph("f", read_value=True)),
    "Parameter.init_data": ("set_sliced", lambda: Parameter(zeros(2)).init_data(set_sliced=True)),
    "Tensor.init_data": ("slice_index", lambda: zeros(2).init_data(slice_index=0)),
    "Tensor.init_data, a group": ("opt_shard_group", lambda: zeros(2).to_tensor(opt_shard_group="g")),
    "Tensor.set_init_flag": ("flag", lambda: zeros(2).set_init_flag(False)),
    "ops.embedding": ("norm_type", lambda: ops.embedding(Tensor([0], ms.int32), Parameter(zeros(2, 2)), norm_type=1.0)),
}


@pytest.mark.parametrize("name", SAID)
def test_an_argument_without_effect_is_said_once(name, capsys):
    argument, call = SAID[name]
    call()
    call()
    where = name.partition(",")[0]
    assert capsys.readouterr().err.count(f"{where}: '{argument}' has no effect here: ") == 1


RECORDS = {
    "FileReader": ("num_consumer", lambda path: FileReader(path, num_consumer=2).close()),
    "FileReader, kept for later": ("operator", lambda path: FileReader(path, operator=1).close()),
    "MindPage": ("num_consumer", lambda path: MindPage(path, num_consumer=2)),
    "FileWriter.write_raw_data": (
        "parallel_writer",
        lambda path: FileWriter.open_for_append(path).write_raw_data([{"n": 4}], parallel_writer=True),
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_an_argument_without_effect_of_mindrecord_is_said_once(name, records, capsys):
    argument, call = RECORDS[name]
    FileReader(records).close()
    assert not capsys.readouterr().err
    call(records)
    call(records)
    where = name.partition(",")[0]
    assert capsys.readouterr().err.count(f"{where}: '{argument}' has no effect here: ") == 1


def test_defaults_say_nothing(capsys):
    nn.Dropout(), nn.Dense(2, 2).init_parameters_data(), zeros(2).init_data().set_init_flag(True)
    Parameter(zeros(2)).init_data(), MetaTensor(ms.float32, (2,), "ones").to_tensor()
    ds.GeneratorDataset([1, 2], ["n"]), ds.NumpySlicesDataset([1, 2]).batch(2), ops.MultitypeFuncGraph("f")
    ops.embedding(Tensor([0], ms.int32), Parameter(zeros(2, 2)))
    nn.Adam(nn.Dense(2, 2).trainable_params()), nn.BatchNorm2d(2).set_train()(zeros(1, 2, 3, 3))
    assert not capsys.readouterr().err


def test_model_build_says_what_its_graphs_do_not_depend_on(capsys):
    ms.context.set_context(mode=ms.context.GRAPH_MODE)
    net = nn.Dense(2, 1)
    model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
    rows = ds.NumpySlicesDataset((np.zeros((4, 2), np.float32), np.zeros((4, 1), np.float32)), shuffle=False).batch(2)
    model.build(rows)
    assert "no effect" not in capsys.readouterr().err
    model.build(rows, sink_size=1, epoch=3)
    said = capsys.readouterr().err
    assert said.count("Model.build: 'sink_size' has no effect") == said.count("Model.build: 'epoch' has no effect") == 1


def test_a_declared_order_is_said_to_be_that_of_the_program(capsys):
    for _ in range(2):
        assert control.control_depend(1, 2) == 1
        assert ops.ControlDepend()(1, 2) == 1
    said = capsys.readouterr().err
    assert said.count("control_depend has no effect") == said.count("ControlDepend has no effect") == 1


def test_the_shape_of_a_slice_is_compared_with_the_data():
    tensor = initializer("ones", (4, 3))
    assert tensor.init_data(shape=(4, 3)) is tensor and tensor.to_tensor(shape=[4, 3]) is tensor
    with pytest.raises(ValueError, match=r"shape \(4, 3\) already, but 'shape' is \(2, 3\)"):
        tensor.init_data(shape=(2, 3))
    assert MetaTensor(ms.float32, (4, 3), "ones").to_tensor(shape=(2, 3)).shape == (2, 3)


def test_max_rowsize_is_checked():
    with pytest.raises(ValueError, match="max_rowsize is not within the required interval"):
        ds.GeneratorDataset([1, 2], ["n"], max_rowsize=-5)
    with pytest.raises(TypeError, match="max_rowsize"):
        ds.GeneratorDataset([1, 2], ["n"], max_rowsize="6")


def test_init_append_goes_on_with_the_file_that_it_names(records, tmp_path):
    from msnb.mindrecord._reader import Records

    writer = FileWriter("append")
    with pytest.raises(ParamValueError, match="none of those that were opened"):
        writer.init_append(str(tmp_path / "other.mindrecord"), Records(records))
    writer.init_append(records, Records(records))
    writer.write_raw_data([{"n": 7}])
    writer.commit()
    assert [row["n"] for row in FileReader(records).get_next()] == [0, 1, 2, 7]


def test_an_instance_name_is_given_back():
    add = ops.Add()
    assert add.instance_name is None
    assert add.set_prim_instance_name("sum of both").instance_name == "sum of both"


@pytest.mark.parametrize("mode", (0, 1))
@pytest.mark.parametrize(
    ("status", "values", "overflow"),
    [
        (False, [1.0, 2.0], False),
        (True, [1.0, 2.0], True),
        (Tensor([0.0, 0.0]), [1.0, 2.0], False),
        (Tensor([0.0, 1.0]), [1.0, 2.0], True),
        (False, [1.0, np.inf], True),
    ],
)
def test_an_overflow_seen_before_counts(mode, status, values, overflow):
    ms.context.set_context(mode=mode)
    net = nn.Dense(2, 1)
    step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params()), Tensor(1.0))
    result = step.get_overflow_status(status, (Tensor(np.array(values, np.float32)),))
    assert bool(result.asnumpy()) is overflow


# MindSpore 2.7.1: interpolate(arange(8).reshape(1, 1, 2, 2, 2), scale_factor=1.7, mode="trilinear", ...)
BY_SCALE = [0.0, 0.3823529, 0.97058815, 0.7647058, 1.1470587, 1.7352939, 1.9411763, 2.3235292, 2.9117644]
BY_LENGTH = [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0]


@pytest.mark.parametrize(("recompute", "expected"), [(None, BY_SCALE), (False, BY_SCALE), (True, BY_LENGTH)])
def test_interpolate_takes_the_scale_as_given_or_as_recomputed(recompute, expected):
    x = Tensor(np.arange(8.0, dtype=np.float32).reshape(1, 1, 2, 2, 2))
    y = ops.interpolate(x, scale_factor=1.7, mode="trilinear", recompute_scale_factor=recompute)
    assert np.allclose(y.asnumpy().ravel()[:9], expected, atol=1e-6)


@pytest.mark.parametrize("recompute", [None, False, True])
def test_the_nearest_pixel_follows_from_the_lengths(recompute):
    x = Tensor(np.arange(3.0, dtype=np.float32).reshape(1, 1, 1, 1, 3))
    y = ops.interpolate(x, scale_factor=(1.0, 1.0, 2.3), recompute_scale_factor=recompute)
    assert y.asnumpy().ravel().tolist() == [0, 0, 1, 1, 2, 2]  # MindSpore 2.7.1's


def test_interpolate_recomputes_no_scale_from_a_size():
    with pytest.raises(ValueError, match="recompute_scale_factor=True"):
        ops.interpolate(zeros(1, 1, 4), size=5, recompute_scale_factor=True)
    with pytest.raises(TypeError, match="'recompute_scale_factor' should be bool or None"):
        ops.interpolate(zeros(1, 1, 4), scale_factor=2, recompute_scale_factor=1)


@pytest.mark.parametrize("mode", (0, 1))
@pytest.mark.parametrize("degree", (1.0, 2.0, float("inf")))
def test_embedding_scales_the_rows_that_it_names_to_max_norm(mode, degree):
    ms.context.set_context(mode=mode)
    table = np.arange(12, dtype=np.float32).reshape(4, 3) + 1

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = Parameter(Tensor(table), name="table")

        def construct(self, index):
            return ops.embedding(index, self.table, max_norm=4.0, norm_type=degree)

    net = Net()
    (gradient,) = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor([0, 2], ms.int32))
    before, after = (np.linalg.norm(t, degree, axis=1) for t in (table, net.table.asnumpy()))
    assert np.allclose(after, [min(before[0], 4), before[1], 4, before[3]], atol=1e-5)
    assert np.array_equal(net(Tensor([0, 2], ms.int32)).asnumpy(), net.table.asnumpy()[[0, 2]])
    assert np.array_equal(gradient.asnumpy(), np.outer([1, 0, 1, 0], [1, 1, 1]))


def test_max_norm_is_checked():
    with pytest.raises(ValueError, match="'max_norm' should be a positive number"):
        ops.embedding(Tensor([0], ms.int32), Parameter(zeros(2, 2)), max_norm=0.0)
    with pytest.raises(TypeError, match="should be a Parameter|written in place"):
        ops.embedding(Tensor([0], ms.int32), 3.0, max_norm=1.0)
