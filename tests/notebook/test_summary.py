"""`msnb.summary`: the table of a network's layers, against counts by hand and the figures that torchinfo publishes."""

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, nn, ops
from msnb import dataset as ds
from msnb.core.program import program_cache
from msnb.notebook.display.summary import Summary
from msnb.notebook.text_width import columns_of, pad
from msnb.train.serialization import save_checkpoint


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Bottleneck(nn.Cell):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs, self.down = 4 * middle, None
        self.conv1, self.bn1 = nn.Conv2d(inputs, middle, 1), nn.BatchNorm2d(middle)
        self.conv2, self.bn2 = nn.Conv2d(middle, middle, 3, stride), nn.BatchNorm2d(middle)
        self.conv3, self.bn3 = nn.Conv2d(middle, outputs, 1), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        if inputs != outputs or stride != 1:
            self.down = nn.SequentialCell(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def construct(self, x):
        y = self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))))
        return self.relu(self.bn3(self.conv3(y)) + (x if self.down is None else self.down(x)))


class ResNet50(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU()
        self.maxpool, self.mean, self.fc = nn.MaxPool2d(3, 2, "same"), ops.ReduceMean(), nn.Dense(2048, 1000)
        inputs = 64
        for number, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 1):
            first = Bottleneck(inputs, middle, 1 if number == 1 else 2)
            inputs = 4 * middle
            rest = [Bottleneck(inputs, middle, 1) for _ in range(count - 1)]
            setattr(self, f"layer{number}", nn.SequentialCell(first, *rest))

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(self.mean(self.layer4(self.layer3(self.layer2(self.layer1(x)))), (2, 3)))


def row(table, name):
    """Return the line of the text that a layer has, as words."""
    (line,) = [line for line in str(table).splitlines() if line.startswith(f"{name}  ")]
    return [word.strip() for word in line.split("  ") if word]


def calls(table, kind):
    return [call for call in table.layers.calls() if call.kind == kind]


def test_lenet_has_the_numbers_that_a_hand_counts():
    table = msnb.summary(LeNet(), (32, 1, 32, 32))
    assert table.parameters == 1 * 6 * 25 + 6 * 16 * 25 + 400 * 120 + 120 + 120 * 84 + 84 + 84 * 10 + 10
    assert [call.flops for call in calls(table, "Conv2d")] == [2 * 32 * 6 * 28 * 28 * 25, 2 * 32 * 16 * 10 * 10 * 150]
    assert calls(table, "Dense")[0].flops == 2 * 32 * 400 * 120 + 32 * 120  # and its bias
    assert table.input_bytes == 32 * 32 * 32 * 4
    assert [call.path for call in table.layers.inner[:3]] == ["conv1", "relu", "pool"]
    assert [call.outputs[0][1] for call in calls(table, "ReLU")] == [
        (32, 6, 28, 28),
        (32, 16, 10, 10),
        (32, 120),
        (32, 84),
    ]


def test_resnet_50_has_the_numbers_that_torchinfo_publishes():
    table = msnb.summary(ResNet50(), (1, 3, 224, 224))
    assert table.trained == 25_557_032 and table.parameters - table.trained == 2 * 26_560  # the moving averages
    products = sum(call.flops for call in calls(table, "Conv2d") + calls(table, "Dense"))
    assert products / 2 == pytest.approx(4.09e9, rel=0.001)
    assert table.flops == sum(call.flops for call in table.layers.calls()) > products
    assert row(table, "layer3.0.conv2") == ["layer3.0.conv2", "Conv2d", "(1, 256, 14, 14)", "589,824", "231 M"]
    assert row(table, "layer3.1 … 5")[:2] == ["layer3.1 … 5", "Bottleneck × 5"] and "layer3.2" not in str(table)
    short = msnb.summary(table.layers.cell, (1, 3, 224, 224), depth=1)
    assert len(str(short).splitlines()) == 16 and row(short, "layer4")[2:] == [
        "(1, 2048, 7, 7)",
        "14,987,264",
        "1.62 G",
    ]


def test_nothing_is_computed_and_no_program_is_cached():
    net, before = LeNet(), len(program_cache.all_programs())
    msnb.summary(net, (1 << 24, 1, 32, 32))  # 69 GB
    assert len(program_cache.all_programs()) == before and net._programs is None


def test_parameters_are_counted_once():
    dense = nn.Dense(4, 4, has_bias=False)
    table = msnb.summary(nn.SequentialCell(dense, nn.ReLU(), dense), (2, 4))
    assert table.parameters == 16 and [call.parameters for call in calls(table, "Dense")] == [16, 0]
    assert str(table).count("shared") == 1


def test_the_optimizer_of_a_step_does_not_take_the_networks_parameters():
    net = nn.Dense(3, 1)
    data = ds.NumpySlicesDataset({"x": np.ones((8, 3), np.float32), "y": np.ones((8, 1), np.float32)}).batch(4)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    table = msnb.summary(step, data)
    assert calls(table, "Dense")[0].parameters == 4 and not calls(table, "Dense")[0].shared


class Odd(nn.Cell):
    def __init__(self):
        super().__init__()
        self.listed, self.left, self.again = [nn.Dense(4, 8)], nn.Dense(3, 3), nn.Dense(8, 8)
        self.embedding, self.drop = nn.Embedding(100, 4), nn.Dropout(0.5)
        self.blocks = nn.CellList([nn.Dense(8, 8) for _ in range(4)])
        self.scale = Parameter(np.ones(8, np.float32), name="scale")

    def construct(self, ids, count):
        x = self.drop(self.listed[0](self.embedding(ids))) * self.scale
        for block in self.blocks:
            x = block(x)
        while count < 5:
            x = self.again(x)
            count += 1
        return x, {"count": count}


@pytest.mark.parametrize("mode", [msnb.GRAPH_MODE, msnb.PYNATIVE_MODE])
def test_lists_loops_other_types_and_cells_that_are_not_called(mode):
    msnb.set_context(mode=mode)
    table = msnb.summary(Odd(), ((2, 7), msnb.int32), Tensor(0, msnb.int32))
    text = str(table)
    assert row(table, "Odd")[1] == "(2, 7, 8), Int32 ()"
    assert "(Dense)" in text and "blocks.0 … 3  Dense × 4" in text and "4 × 72" in text
    assert sum(call.path == "again" for call in table.layers.calls()) == 1  # though a loop is traced more than once
    assert "Not called  left (12 numbers)" in text
    assert table.flops == sum(call.flops for call in table.layers.calls())


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: msnb.summary(Odd(), (2, 7)), "construct of Odd also takes count: give a Tensor, a shape such as"),
        (lambda: msnb.summary(np.sin, (2, 7)), "'net' should be a Cell, but got"),
        (lambda: msnb.summary(LeNet(), (1, 3, 32, 32)), "'x' has 3 channels"),
        (lambda: msnb.summary(LeNet(), (1, 1, 32, 32), depth=True), "'depth' should be an int of at least 0"),
    ],
)
def test_what_is_wrong_is_said(make, said):
    with pytest.raises((TypeError, ValueError), match=".") as error:
        make()
    assert said in str(error.value)


def test_the_table_of_a_notebook_says_the_same_and_escapes_names(notebook):
    table = msnb.summary(LeNet(), (1, 1, 32, 32))
    shown = notebook.shell.display_formatter.format(table)[0]
    assert shown["text/plain"] == repr(table) and shown["text/html"].count("<tr") == 14
    assert ">fc1</td><td>Dense</td><td>(1, 120)</td>" in shown["text/html"]
    kind = type("Of<T>", (nn.ReLU,), {})
    assert "Of&lt;T&gt;" in Summary(msnb.summary(kind(), (2,)).layers)._repr_html_()


@pytest.fixture
def checkpoint(tmp_path):
    net = nn.SequentialCell(nn.Dense(20, 30), nn.BatchNorm1d(30))
    broken = net[0].bias.asnumpy().copy()
    broken[:3] = np.nan
    net[0].bias.set_data(Tensor(broken))
    path = tmp_path / "net.ckpt"
    save_checkpoint(net, str(path))
    return net, path


def test_a_checkpoint_is_a_table_of_its_parameters(checkpoint):
    net, path = checkpoint
    table = msnb.summary(str(path))
    assert repr(table) == repr(msnb.summary(path)), "a Path is a name as well"
    parameters = list(net.get_parameters())
    assert table.numbers == sum(p.size for p in parameters) and table.nbytes == sum(p.nbytes for p in parameters)
    first, head, *rows = repr(table).splitlines()
    assert (
        first.startswith(f"net.ckpt: {len(parameters)} Parameters, {table.numbers:,} numbers, ") and "Smallest" in head
    )
    weight = next(row for row in rows if row.startswith("0.weight"))
    values = net[0].weight.asnumpy()
    assert [f"{float(v):.5g}" for v in (values.mean(), values.min(), values.max())] == [
        weight.split()[at] for at in (5, 7, 8)
    ]
    assert next(row for row in rows if row.startswith("0.bias")).endswith("3 NaN")


def test_the_table_of_a_checkpoint_has_histograms_and_escapes_names(checkpoint):
    table = msnb.summary({"<b>": checkpoint[0][0].weight})
    shown = table._repr_html_()
    assert shown.count('aria-label="histogram"') == 1 and "&lt;b&gt;" in shown and "<td><b>" not in shown
    assert msnb.summary({"one": Tensor(np.float32(3))})._repr_html_().count("histogram") == 0


def test_a_checkpoint_has_no_inputs_and_a_dict_holds_parameters(checkpoint, tmp_path):
    with pytest.raises(TypeError, match="it holds Parameters and no network"):
        msnb.summary(str(checkpoint[1]), (2, 3))
    with pytest.raises(TypeError, match="'a' is int"):
        msnb.summary({"a": 3})
    (tmp_path / "text.ckpt").write_text("no checkpoint")
    with pytest.raises(ValueError):
        msnb.summary(tmp_path / "text.ckpt")


def test_columns_stand_under_each_other_where_names_have_two_columns_a_letter():
    class Chinese(nn.Cell):
        def __init__(self):
            super().__init__()
            self.卷积, self.dense = nn.Dense(3, 4), nn.Dense(4, 2)

        def construct(self, x):
            return self.dense(self.卷积(x))

    lines = repr(msnb.summary(Chinese(), (2, 3))).splitlines()
    first = [columns_of(line[: line.index("Dense")]) for line in lines if " Dense " in line]
    assert len(first) == 2 and len(set(first)) == 1
    assert (
        columns_of("卷积") == 4
        and columns_of("e\u0301") == 1
        and pad("卷", 4) == "卷  "
        and pad("卷", 4, True) == "  卷"
    )
