"""DumpAnalyzer: dumps of MindSpore 2.7.1, of msnb in both forms, and timelines, read alike."""

import csv
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, context, nn
from msnb.insight import dump
from msnb.insight.dump import DumpAnalyzer, Recorder, Watchpoint, read_config

GOLDEN = Path(__file__).parents[1] / "golden" / "mindspore_dump.zip"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.flat, self.fc = nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(128, 3)

    def construct(self, x):
        return self.fc(self.flat(self.relu(self.conv(x))))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


@pytest.fixture(scope="module")
def mindspore_dump(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mindspore")
    with zipfile.ZipFile(GOLDEN) as file:
        file.extractall(folder)
    return folder


def read(analyzer, name, io="output", slot=0):
    """Return a tensor of the first iteration, by the end of the operator's name."""
    tensors = analyzer.select_tensors(name, iterations=[0], slots=[slot])
    (tensor,) = (t for t in tensors if t.io == io and t.node.name.endswith(name) and "Grad" not in t.node.name)
    return tensor.value()


def write_config(folder, r1=False, side=2):
    common = {"dump_mode": 0, "path": str(folder), "net_name": "Net", "iteration": 0, "kernels": []}
    common["input_output"] = side
    common |= {} if r1 else {"saved_data": "tensor", "iteration": "0"}
    (folder / "config.json").write_text(
        json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}})
    )


def write_dump(folder, analyzer, r1=False, side=2):
    """Dump the first step of the golden training by msnb."""
    write_config(folder, r1, side)
    net = Net()
    reads = {"conv.weight": "Conv2D-op0", "fc.weight": "MatMul-op0", "fc.bias": "BiasAdd-op0"}
    for weight in net.trainable_params():  # the files of Parameters have the values after the step
        weight.set_data(Tensor(read(analyzer, reads[weight.name], "input", 1)))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()
    recorder = Recorder(read_config(folder / "config.json")).start()
    step(Tensor(read(analyzer, "inputs0")), Tensor(read(analyzer, "inputs1")))
    recorder.close()
    assert not recorder.problem


def test_a_dump_of_mindspore_is_read(mindspore_dump):
    analyzer = DumpAnalyzer(mindspore_dump)
    assert analyzer.get_ranks() == [0] and analyzer.get_iterations() == [0, 1]
    (relu,) = analyzer.select_nodes("ReLU-op")
    assert relu.name == "Default/network-WithLossCell/_backbone-Net/relu-ReLU/ReLU-op0" and relu.op == "ReLU"
    tensors = analyzer.select_tensors("relu-relu/", case_sensitive=False, iterations=[1])
    assert [(t.io, t.slot, t.iteration) for t in tensors if t.node == relu] == [("input", 0, 1), ("output", 0, 1)]
    before, after = (t.value() for t in tensors if t.node == relu)
    np.testing.assert_array_equal(after, np.maximum(before, 0))
    assert not analyzer.select_tensors("relu", iterations=[7]) and not analyzer.select_nodes("ReLU", ranks=[1])


@pytest.mark.parametrize("r1", [False, True])
def test_msnb_writes_the_names_and_values_of_mindspore(mindspore_dump, tmp_path, r1):
    theirs = DumpAnalyzer(mindspore_dump)
    write_dump(tmp_path, theirs, r1)
    ours = DumpAnalyzer(tmp_path)
    assert ours.get_iterations() == [0]
    values = {
        (t.node.name if not r1 else t.node.name.rpartition("-op")[0], t.slot): t.value()
        for t in ours.select_tensors("")
        if t.io == "output" and t.node.op != "Parameter"
    }
    names = set()
    for tensor in theirs.select_tensors("Default/network", iterations=[0]):
        name = tensor.node.name if not r1 else tensor.node.name.rpartition("-op")[0]
        if tensor.io == "output" and (name, tensor.slot) in values:
            ours_value = values[name, tensor.slot]
            np.testing.assert_allclose(ours_value, tensor.value(), rtol=1e-4, atol=1e-5, err_msg=name)
            names.add(tensor.node.op)
    assert names >= {"Conv2D", "ReLU", "MatMul", "BiasAdd"}  # Flatten and MSELoss are other operators there
    for name in ("conv", "fc"):  # after the step
        ours_value, theirs_value = (
            next(t.value() for t in analyzer.select_tensors(pattern, True) if t.iteration == 0)
            for analyzer, pattern in ((ours, rf"^{name}[._]weight$"), (theirs, f"^{name}_weight$"))
        )
        np.testing.assert_allclose(ours_value, theirs_value, rtol=1e-4, atol=1e-5)


def test_conditions_are_checked_and_changes_compare_iterations(mindspore_dump):
    analyzer = DumpAnalyzer(mindspore_dump)
    relu = analyzer.select_tensors("ReLU-op")
    weights = analyzer.select_tensors("^fc_weight$", use_regex=True)
    assert analyzer.check_watchpoints([Watchpoint(relu, dump.TensorOverflowCondition())]) == []
    hits = analyzer.check_watchpoints(
        [
            Watchpoint(relu, dump.TensorTooSmallCondition(min_lt=0)),
            Watchpoint(weights, dump.TensorChangeAboveThresholdCondition(1e-9)),
            Watchpoint(weights, dump.TensorUnchangedCondition()),
        ]
    )
    assert [(hit.tensor.io, hit.tensor.iteration) for hit in hits[:2]] == [("input", 0), ("input", 1)]
    assert {hit.tensor.iteration for hit in hits[2:]} == {1} and all(hit.error_msg == "" for hit in hits)
    first, second = (t.value().astype(np.float64) for t in weights)
    ratio = np.abs(second - first).mean() / (np.abs(first).mean() + 1e-9)
    assert hits[2].met == [("abs_mean_update_ratio_gt", 1e-9, pytest.approx(ratio))]


def test_statistics(mindspore_dump, tmp_path):
    analyzer = DumpAnalyzer(mindspore_dump)
    tensors = [t for t in analyzer.select_tensors("ReLU-op") if t.io == "output"]
    numbers = analyzer.compute_statistics(tensors)
    for tensor in tensors:
        assert numbers[tensor]["max"] == tensor.value().max() and numbers[tensor]["min"] == 0
    with open(analyzer.summary_statistics(tensors, overflow_value=1.0, out_path=tmp_path / "out"), newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["iterations"] == "2" and float(row["max"]) == max(n["max"] for n in numbers.values())


class Twice(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(np.float32([1, 2]), name="w")
        self.relu = nn.ReLU()

    def construct(self, x):
        hidden = x * self.w
        return self.relu(hidden).sum()


def test_a_timeline_is_read_like_a_dump(tmp_path):
    net = Twice()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with msnb.timeline(net) as timeline:
        for scale in (1, 2):
            step(Tensor(np.float32([-1, 2]) * scale))
    analyzer = DumpAnalyzer(timeline)
    assert analyzer.get_iterations() == [1, 2]
    (relu,) = analyzer.select_tensors("/ReLU-op", iterations=[1], slots=[0])  # slot 1 is for the gradient
    np.testing.assert_array_equal(relu.value(), [0, 4])
    assert relu.node in analyzer.select_nodes("test_dump_analyzer.py", select_by="code_stack")
    (source,) = analyzer.get_input_nodes(relu.node)
    assert source.op == "Mul" and relu.node in analyzer.get_output_nodes(source)
    affected = analyzer.list_affected_nodes(relu)
    assert {node.op for node in affected} >= {"ReduceSum", "SGD"} and relu.node not in affected
    (path,) = analyzer.export_graphs(tmp_path)
    with open(path, newline="") as file:
        rows = {row["node"]: row for row in csv.DictReader(file)}
    assert rows[relu.node.name]["inputs"] == source.name and "test_dump_analyzer.py" in rows[relu.node.name]["code"]


def test_a_dump_has_the_edges_and_lines_of_a_timeline(tmp_path):
    net = Twice()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    write_config(tmp_path)
    recorder = Recorder(read_config(tmp_path / "config.json")).start()
    with msnb.timeline(net) as timeline:
        step(Tensor(np.float32([-1, 2])))
    recorder.close()
    dumped, recorded = DumpAnalyzer(tmp_path), DumpAnalyzer(timeline)
    operators = [node for node in dumped.select_nodes("") if node.op != "Parameter"]
    mates = recorded.select_nodes("")
    assert len(operators) == len(mates) and all(node.op == mate.op for node, mate in zip(operators, mates, strict=True))
    mate_of = dict(zip(operators, mates, strict=True))
    for node, mate in mate_of.items():
        assert [mate_of[other] for other in dumped.get_input_nodes(node)] == recorded.get_input_nodes(mate)
        assert node.stack == mate.stack.rpartition("/")[2]  # the name of the file, without its folder
        assert dumped.select_tensors(node.name)
    (relu,) = dumped.select_tensors("/ReLU-op", slots=[0])
    assert {node.op for node in dumped.list_affected_nodes(relu)} >= {"ReduceSum", "SGD"}
    assert relu.node in dumped.select_nodes("test_dump_analyzer.py", select_by="code_stack")


def test_wrong_calls(mindspore_dump, tmp_path):
    with pytest.raises(ValueError, match="There is no folder"):
        DumpAnalyzer(tmp_path / "none")
    with pytest.raises(ValueError, match="has no tensors of a dump. They are in rank_0/NET/GRAPH/ITERATION"):
        DumpAnalyzer(tmp_path)
    analyzer = DumpAnalyzer(mindspore_dump)
    with pytest.raises(ValueError, match="no regular expression"):
        analyzer.select_nodes("(", use_regex=True)
    with pytest.raises(ValueError, match="'select_by' should be"):
        analyzer.select_nodes("x", select_by="name")
    with pytest.raises(ValueError, match="no lines of code"):
        analyzer.select_nodes("x", select_by="code_stack")
    with pytest.raises(ValueError, match="no edges"):
        analyzer.get_input_nodes(analyzer.select_nodes("ReLU-op")[0])
    with pytest.raises(ValueError, match="mem_limit"):
        DumpAnalyzer(mindspore_dump, mem_limit=0).select_tensors("ReLU-op")[0].value()
    with pytest.raises(ValueError, match="use msnb.watch"):
        Watchpoint([], lambda x: True)
    with pytest.raises(ValueError, match="There is no condition"):
        Watchpoint([], "TQ")


# ---------------------------------------------------------------------- a dump and a network, by `msnb.diff`
def batches():
    rng = np.random.default_rng(0)
    return [Tensor(rng.normal(size=(2, 1, 8, 8)).astype(np.float32)) for _ in range(2)]


def diff(dump, net, *inputs, **options):
    options = {"weights": "copy", "names": ("dump", "net"), **options}
    return msnb.diff(dump, net, *inputs, values=True, **options)


def step_of(net):
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    return step.set_train()


def test_a_network_equals_its_dump_of_mindspore(mindspore_dump):
    for iteration, x in enumerate(batches()):
        result = diff((mindspore_dump, iteration), Net(), x)
        assert result.first is None, result.explain()
        assert {entry.node.op for entry in result.nodes} >= {"Conv2D", "ReLU", "MatMul", "BiasAdd"}
        assert f"dump is iteration {iteration} of graph" in result.explain() and "other" not in result.explain()
    labels = Tensor(np.zeros((2, 3), np.float32))
    in_step = diff(DumpAnalyzer(mindspore_dump), step_of(Net()), batches()[0], labels)
    assert in_step.first is None and len(in_step.nodes) >= 4


@pytest.mark.parametrize("r1", [False, True])
def test_the_node_that_differs_from_a_dump_is_the_first(mindspore_dump, tmp_path, r1):
    write_dump(tmp_path, DumpAnalyzer(mindspore_dump), r1, side=0)
    net, x = Net(), batches()[0]
    assert diff(tmp_path, net, x).first is None
    net.relu = nn.LeakyReLU(0.5)
    result = diff(tmp_path, net, x)
    assert result.first.name == "flat/Reshape" and "Only in net: relu/" in result.explain()


def test_a_dump_of_another_network_or_batch_is_refused_or_said(mindspore_dump):
    x, another = batches()
    with pytest.raises(ValueError, match="have different weights.*weights='copy'"):
        diff(mindspore_dump, Net(), x, weights=None)
    text = diff(mindspore_dump, Net(), another).explain()
    assert "The dump was written with another x: it differs by up to" in text
    with pytest.raises(ValueError, match=r"shape \(2, 2, 8, 8\) in the dump, and shape \(3, 2, 8, 8\) in the network"):
        diff(mindspore_dump, Net(), Tensor(np.zeros((3, 1, 8, 8), np.float32)))
    with pytest.raises(ValueError, match="has no iteration 7; it has 0, 1"):
        diff((mindspore_dump, 7), Net(), x)
    with pytest.raises(ValueError, match="has no operator of the network. It has .*; the network has Default_Tanh-op0"):
        diff(mindspore_dump, nn.Tanh(), x)
    with pytest.raises(ValueError, match="one of the two should be a network"):
        diff(mindspore_dump, mindspore_dump)
    with pytest.raises(ValueError, match="pass values=True"):
        msnb.diff(mindspore_dump, Net(), x)


def test_a_step_of_a_timeline_that_an_analyzer_reads_is_compared():
    net, x = Twice(), Tensor(np.float32([-1, 2]))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with msnb.timeline(net) as timeline:
        step(x)
    result = diff(DumpAnalyzer(timeline), step, x, weights="as they are")
    assert result.first.node.op == "Mul"  # it reads the weights, which are those after the step
