"""Export as Python source: the written network has the Parameters of the original and computes the same."""

import ast
import importlib.util
import sys

import numpy as np
import pytest
from source_networks import NETWORKS, Block, randoms

import msnb as ms
from msnb import Tensor, alias, ir, nn, ops
from msnb.exchange.onnx import read, write
from msnb.exchange.tracing import traced

FORMS = ("traced", "onnx")


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a text as a module and returns its last Cell with loaded Parameters."""
    count = 0
    was_installed = alias.installed()
    alias.install(warn=False)

    def load(net, *inputs):
        nonlocal count
        count += 1
        path = tmp_path / f"made{count}.py"
        text = ms.to_source(net, *inputs, path=path)
        assert path.read_text() == text
        loaded_module = module(path)
        (cls,) = [v for v in vars(loaded_module).values() if isinstance(v, type) and v.__module__ == path.stem][-1:]
        cell, weights = cls().set_train(False), path.with_suffix(".ckpt")
        if weights.exists():
            assert ms.load_param_into_net(cell, ms.load_checkpoint(str(weights))) == []
        return text, cell

    def module(path):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded_module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded_module)
        return loaded_module

    yield load
    for number in range(1, count + 1):
        sys.modules.pop(f"made{number}", None)
    if not was_installed:
        alias.uninstall()


def arrays(out):
    return [x.asnumpy() for x in (out if isinstance(out, tuple) else (out,))]


def assert_close(actual, expected):
    assert [(a.shape, a.dtype) for a in actual] == [(b.shape, b.dtype) for b in expected]
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


def network(name, form="traced"):
    """Return the Cell or the graph of a network, its inputs and its results."""
    kind, values = NETWORKS[name]
    net, inputs = kind().set_train(False), [Tensor(v) for v in values]
    results = arrays(net(*inputs))
    if form == "onnx":
        return read.cell_of(write.model_of(traced(net, *inputs))), inputs, results
    return traced(net, *inputs), inputs, results


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_source_computes_the_same_results(run, name, form, mode):
    net, inputs, results = network(name, form)
    _, cell = run(net)
    ms.set_context(mode=mode)
    assert_close(arrays(cell(*inputs)), results)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_parameter_names_stay(run, name, form):
    graph = network(name, form)[0]
    graph = getattr(graph, "graph", graph)
    _, cell = run(graph)
    expected = {p.name for p in graph.parameters if p.is_weight}
    assert {p.name for p in cell.get_parameters() if not p.name.rpartition(".")[2].startswith("constant")} == expected


@pytest.mark.parametrize("name", NETWORKS)
def test_equal_graphs_give_equal_source(name, tmp_path):
    texts = {ms.to_source(network(name)[0], path=tmp_path / "net.py") for _ in range(2)}
    assert len(texts) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_source_imports_only_used_names_of_mindspore(name, form, tmp_path):
    tree = ast.parse(ms.to_source(network(name, form)[0], path=tmp_path / "net.py"))
    imported = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module == "mindspore"
            imported.update(alias.name for alias in node.names)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used and imported <= {"mindspore", "Parameter", "Tensor", "nn", "ops"}


def test_lenet_source_is_idiomatic():
    text = ms.to_source(network("lenet")[0])
    expected = """
class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, stride=2)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(64, 12)
        self.fc2 = nn.Dense(12, 8)
        self.fc3 = nn.Dense(8, 10)

    def construct(self, x):
        x = self.conv1(x)
        x = self.relu(x)
        x = self.pool(x)
        x = self.conv2(x)
        x = self.relu(x)
        x = self.pool(x)
        x = self.flatten(x)
        x = self.fc1(x)
        x = self.relu(x)
        x = self.fc2(x)
        x = self.relu(x)
        return self.fc3(x)
"""
    assert text.endswith(f"from mindspore import nn\n\n{expected}")


def test_blocks_with_different_numbers_share_a_class():
    text = ms.to_source(network("residual")[0])
    assert text.count("class ") == 3  # a block with a projection, one without, and the network
    assert "[Block(4), Block(4)]" in text and "def __init__(self, in_channels):" in text
    assert "def __init__(self, in_channels, out_channels):" in text and "self.blocks = nn.CellList(" in text


def test_loop_and_branch_are_written_as_statements():
    text = ms.to_source(network("rounds")[0])
    assert "while turn < rounds:" in text and text.count("if ") == 2 and text.count("else:") == 1


def test_shared_parameter_belongs_to_the_parent_cell(run):
    text, cell = run(network("transformer")[0])
    assert cell.parameters_dict().keys() >= {"words", "places"} and text.count('name="words"') == 1
    assert not cell.parameters_dict()["places"].requires_grad


@pytest.mark.parametrize("form", FORMS)
def test_transposed_convolution_becomes_a_layer(form, tmp_path):
    assert "nn.Conv2dTranspose(4, 2, 2, stride=2" in ms.to_source(network("decoder", form)[0], path=tmp_path / "net.py")


def test_cell_called_twice_is_written_once():
    text = ms.to_source(network("shared")[0])
    assert text.count("nn.SequentialCell(") == 1 and text.count("self.body(") == 2


def test_large_constants_are_parameters_of_the_checkpoint(tmp_path):
    table = Tensor(randoms(9, 9))
    with pytest.raises(ValueError, match="1 constants that are too large for a text; give a 'path'"):
        ms.to_source(lambda x: x + table, Tensor(randoms(9, 9)))
    ms.to_source(lambda x: x + table, Tensor(randoms(9, 9)), path=tmp_path / "net.py")
    (stored,) = ms.load_checkpoint(str(tmp_path / "net.ckpt")).values()
    np.testing.assert_array_equal(stored.asnumpy(), table.asnumpy())


class Masked(nn.Cell):
    """A Cell with a constant of its own."""

    def __init__(self, seed):
        super().__init__()
        self.dense, self.mask = nn.Dense(9, 9), Tensor(np.random.default_rng(seed).random((9, 9), np.float32))

    def construct(self, x):
        return self.dense(x) * self.mask + self.mask


def test_cells_with_different_large_constants_share_a_class(run):
    net, x = nn.SequentialCell(Masked(1), Masked(2)), Tensor(randoms(9, 9))
    text, cell = run(net, x)
    assert text.count("class Masked") == 1
    assert sum(name.endswith(".constant") for name in cell.parameters_dict()) == 2
    assert_close(arrays(cell(x)), arrays(net(x)))


def test_source_accepts_another_batch_size(run):
    _, cell = run(network("attention")[0])
    assert cell(Tensor(randoms(7, 5, 8))).shape == (7, 5, 8)


def test_frozen_parameters_stay_frozen(run):
    net = Block(3, 3, 1).set_train(False)
    net.conv2.weight.requires_grad = False
    text, cell = run(net, Tensor(randoms(1, 3, 4, 4)))
    assert "FROZEN" in text and not cell.parameters_dict()["conv2.weight"].requires_grad
    assert {p.name for p in cell.trainable_params()} == {p.name for p in net.trainable_params()}


def test_error_names_all_unsupported_operators():
    counter = ms.Parameter(Tensor(np.zeros(3, np.float32)), name="counter")
    graph = ir.graph(lambda x: ops.assign_add(counter, x) + ms.numpy.unwrap(x), Tensor(randoms(3)))
    with pytest.raises(NotImplementedError, match="2 operator.s. that have no form in Python") as raised:
        ms.to_source(graph)
    assert "AssignAdd in Default, test_to_source.py" in str(raised.value) and "it changes a Parameter" in str(
        raised.value
    )
    assert "Unwrap in Default" in str(raised.value) and "no public name" in str(raised.value)


def test_invalid_arguments_raise(tmp_path):
    graph = network("shared")[0]
    with pytest.raises(TypeError, match="a graph has its inputs already"):
        ms.to_source(graph, Tensor(randoms(2, 3)))
    with pytest.raises(TypeError, match="'net' should be a Cell or a graph"):
        ms.to_source(3)
    with pytest.raises(OSError):
        ms.to_source(graph, path=tmp_path / "nowhere" / "net.py")


def test_reserved_names_are_not_used_for_inputs(run):
    class Odd(nn.Cell):
        def construct(self, ops, nn):
            return ops - nn

    _, cell = run(Odd(), Tensor(randoms(2)), Tensor(randoms(2) + 1))
    assert_close(arrays(cell(Tensor(randoms(2)), Tensor(randoms(2)))), [np.zeros(2, np.float32)])
