"""StableHLO artefacts run with `jax.export` alone, load as Cells, and can be shown without running."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.exchange import stablehlo

X = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)


class Net(nn.Cell):
    """A convolution, which is lowered differently for each platform, and two results, one of them constant."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dense(4, 2)

    def construct(self, x):
        y = ops.relu(self.norm(self.conv(x)))
        return self.out(y.mean((2, 3))), y.shape[0]


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


@pytest.fixture
def without_file_check(monkeypatch):
    """Disable the check of files in a subprocess."""
    monkeypatch.setattr(stablehlo, "_check_artefact_in_subprocess", lambda file, data: None)


@pytest.fixture(scope="module")
def artefact(tmp_path_factory):
    """Return a network and its file."""
    context.set_context(mode=context.GRAPH_MODE)
    net, file = Net().set_train(False), tmp_path_factory.mktemp("artefact") / "net.stablehlo"
    stablehlo.write(net, (Tensor(X),), str(file))
    return net, str(file)


RUN_WITHOUT_MSNB = """
import sys, jax, numpy as np
called = jax.export.deserialize(bytearray(open(sys.argv[1], "rb").read())).call(np.load(sys.argv[2]))
assert not [name for name in sys.modules if name.startswith("msnb")]
np.save(sys.argv[3], called[0])
"""


def test_artefact_runs_with_jax_alone(artefact, tmp_path):
    net, file = artefact
    np.save(tmp_path / "x.npy", X)
    subprocess.run([sys.executable, "-c", RUN_WITHOUT_MSNB, file, tmp_path / "x.npy", tmp_path / "y.npy"], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), net(Tensor(X))[0].asnumpy(), rtol=1e-5, atol=1e-6)


def test_artefact_supports_three_platforms(artefact):
    with open(artefact[1], "rb") as file:
        exported = stablehlo.deserialized(file.read())
    assert exported.platforms == ("cpu", "cuda", "tpu") and exported.in_avals[0].shape == X.shape


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_loaded_cell_has_a_gradient(artefact, mode):
    net, file = artefact
    cell = ms.load_stablehlo(file)
    context.set_context(mode=mode)
    assert cell.argument_names == ["x"] and not list(cell.get_parameters())
    y, rows = cell(Tensor(X))
    np.testing.assert_allclose(y.asnumpy(), net(Tensor(X))[0].asnumpy(), rtol=1e-5, atol=1e-6)
    assert rows.asnumpy() == 2
    grad = ops.GradOperation()
    actual, expected = (grad(lambda x, f=f: f(x)[0])(Tensor(X)).asnumpy() for f in (cell, net))
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


def test_weights_are_stored_once(tmp_path, without_file_check):
    net, file = nn.Dense(300, 300), tmp_path / "net.stablehlo"
    x = Tensor(np.random.default_rng(0).standard_normal((2, 300)).astype(np.float32))
    ms.export(net, x, file_name=str(file), file_format="STABLEHLO")
    size = sum(p.asnumpy().nbytes for p in net.get_parameters())
    assert size < file.stat().st_size < 1.05 * size
    cell, grad = ms.load_stablehlo(str(file)), ops.GradOperation()
    np.testing.assert_allclose(grad(cell)(x).asnumpy(), grad(net)(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_artefact_with_its_own_gradient_loads(tmp_path, without_file_check):
    exported = jax.export.export(jax.jit(lambda x, count: (x**3 + count, count)))(X[0, 0], np.int32(3))
    (tmp_path / "net.stablehlo").write_bytes(exported.serialize(vjp_order=1))
    cell = ms.load_stablehlo(str(tmp_path / "net.stablehlo"))
    x, count = Tensor(X[0, 0]), Tensor(3, ms.int32)
    np.testing.assert_allclose(ops.GradOperation()(lambda x: cell(x, count)[0])(x).asnumpy(), 3 * X[0, 0] ** 2, 1e-6)


class Embeds(nn.Cell):
    """A network with ints among its inputs, its results and its weights, and weights of one repeated value."""

    def __init__(self):
        super().__init__()
        self.order = ms.Parameter(Tensor(np.arange(64)[::-1].copy(), ms.int32), requires_grad=False)
        self.mask = ms.Parameter(Tensor(np.arange(64) % 3 == 0), requires_grad=False)
        self.table, self.bias = nn.Embedding(64, 8), ms.Parameter(ops.Zeros()((64, 8), ms.float32))

    def construct(self, indices, factor):
        rows = self.table(self.order[indices]) * factor
        return ops.select(self.mask[indices], indices, indices + 1), (rows + self.bias[indices]) ** 2


def test_ints_have_no_gradient(tmp_path, without_file_check):
    net, path = Embeds(), str(tmp_path / "net.stablehlo")
    args = Tensor(np.array([3, 5, 60]), ms.int32), Tensor(np.arange(8), ms.float32)
    ms.export(net, *args, file_name=path, file_format="STABLEHLO")
    cell, grad = ms.load_stablehlo(path), ops.GradOperation()
    for actual, expected in zip(cell(*args), net(*args), strict=True):
        np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-6)
    actual, expected = (grad(lambda x, f=f: f(args[0], x)[1])(args[1]).asnumpy() for f in (cell, net))
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_damaged_gradient_raises(artefact, tmp_path):
    with open(artefact[1], "rb") as file:
        data = file.read()
    for content in (data[:-1], data[:16] + b"}" * 8 + data[24:]):
        (tmp_path / "bad.stablehlo").write_bytes(content)
        with pytest.raises(ValueError, match="is no StableHLO artefact, or a damaged one"):
            ms.load_stablehlo(str(tmp_path / "bad.stablehlo"))


def test_two_files_with_one_name_are_independent(tmp_path, without_file_check):
    cells = []
    for number, layer in enumerate((nn.ReLU(), nn.Sigmoid())):
        (tmp_path / str(number)).mkdir()
        file = str(tmp_path / str(number) / "net.stablehlo")
        stablehlo.write(layer, (Tensor(X),), file)
        cells.append(ms.load_stablehlo(file))
    assert cells[0](Tensor(X)).asnumpy().min() == 0 < cells[1](Tensor(X)).asnumpy().min()


def test_graph_has_scopes_of_layers_for_this_platform(artefact):
    graph = stablehlo.look(artefact[1])
    assert [(p.name, p.shape) for p in graph.parameters] == [("x", X.shape)]
    assert {"Default/conv-Conv2d/Conv2D", "Default/out-Dense/MatMul"} <= {n.scope for n in graph.nodes}
    assert not any(n.op == "Switch" for n in graph.nodes)
    assert len(ms.view(artefact[1]).graph) == len(graph)
    with open(artefact[1], "rb") as file:
        exported = stablehlo.deserialized(file.read())
    of_gpu = ir.read_stablehlo(stablehlo.opened_module(exported.mlir_module_serialized), "net", platform=1)
    assert "convolution" in {n.op for n in of_gpu.nodes}


def test_wrong_inputs_raise(artefact):
    cell = ms.load_stablehlo(artefact[1])
    with pytest.raises(
        ValueError, match=r"input 0 should be Float32 of shape \(2, 3, 8, 8\), but got Float32 of shape"
    ):
        cell(Tensor(X[:1]))
    with pytest.raises(ValueError, match="but got Float64"):
        cell(Tensor(X.astype(np.float64)))
    with pytest.raises(TypeError, match="1 inputs are taken, but got 2"):
        cell(Tensor(X), Tensor(X))


def test_invalid_files_raise(artefact, tmp_path):
    with open(artefact[1], "rb") as file:
        data = file.read()
    for content in (b"no artefact", data[: len(data) // 2]):  # each is checked in a subprocess
        (tmp_path / "bad.stablehlo").write_bytes(content)
        with pytest.raises(ValueError, match="is no StableHLO artefact, or a damaged one"):
            ms.load_stablehlo(str(tmp_path / "bad.stablehlo"))
    with pytest.raises(FileNotFoundError):
        ms.load_stablehlo(str(tmp_path / "absent.stablehlo"))
    with pytest.raises(TypeError, match="'file' should be a path"):
        ms.load_stablehlo(3)


def test_each_file_content_is_checked_once(artefact, tmp_path, monkeypatch):
    checked, file = [], str(tmp_path / "net.stablehlo")
    monkeypatch.setattr(stablehlo, "_checked_digests", set())
    monkeypatch.setattr(stablehlo, "_check_artefact_in_subprocess", lambda file, data: checked.append(data))
    for path in (artefact[1], artefact[1]):
        ms.load_stablehlo(path)
    for layer in (nn.ReLU(), nn.Sigmoid()):
        stablehlo.write(layer, (Tensor(X),), file)
        ms.load_stablehlo(file)
    assert len(checked) == len(set(checked)) == 3


def test_artefact_for_another_platform_raises(tmp_path, without_file_check):
    stablehlo.write(nn.ReLU(), (Tensor(X),), str(tmp_path / "tpu.stablehlo"), platforms=("tpu",))
    with pytest.raises(ValueError, match="was exported for tpu, and this is cpu"):
        ms.load_stablehlo(str(tmp_path / "tpu.stablehlo"))
    assert len(stablehlo.look(str(tmp_path / "tpu.stablehlo")))  # it can still be shown


class Counts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = ms.Parameter(Tensor(0, ms.int32), name="calls")

    def construct(self, x):
        self.calls += 1
        return x


class Draws(nn.Cell):
    def construct(self, x):
        return x + ops.StandardNormal()((2,))


@pytest.mark.parametrize(
    ("net", "told"), [(Counts(), r"changes Parameters \(calls\)"), (Draws(), "draws random numbers")]
)
def test_network_with_side_effects_raises(net, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        stablehlo.write(net, (Tensor(np.ones(2, np.float32)),), str(tmp_path / "a"))
    assert not list(tmp_path.iterdir())


def test_export_keeps_training_mode(tmp_path, without_file_check):
    net = Net().set_train()
    ms.export(net, Tensor(X), file_name=str(tmp_path / "net"), file_format="STABLEHLO")
    assert net.norm.training
    net.set_train(False)
    y, _ = ms.load_stablehlo(str(tmp_path / "net.stablehlo"))(Tensor(X))
    np.testing.assert_allclose(y.asnumpy(), net(Tensor(X))[0].asnumpy(), rtol=1e-5, atol=1e-6)


class Scaled(nn.Cell):
    """A network with numbers, None and a tuple among its inputs."""

    def construct(self, x, factor, count, added=None, by=(1, 1)):
        y = ops.clip_by_value(x * factor + count, 0.5, factor) + by[0] * by[1]
        return y if added is None else y + added


@pytest.mark.parametrize("kind", ["STABLEHLO", "ONNX", "MINDIR"])
def test_numbers_among_inputs_become_constants(kind, tmp_path, without_file_check):
    net, x = Scaled(), Tensor(X[0, 0, :2])
    example_inputs = (x, 2.5, 3, None, (x, 0.5))
    path = str(tmp_path / f"net.{kind.lower()}")
    ms.export(net, *example_inputs, file_name=path, file_format=kind)
    loads = {"STABLEHLO": ms.load_stablehlo, "ONNX": ms.load_onnx, "MINDIR": lambda p: nn.GraphCell(ms.load(p))}
    np.testing.assert_allclose(loads[kind](path)(x, x).asnumpy(), net(*example_inputs).asnumpy(), rtol=1e-6)


class Prints(nn.Cell):
    """A network that prints."""

    def __init__(self):
        super().__init__()
        self.told = ops.Print()

    def construct(self, x):
        self.told("x", x)
        return x * 2


def test_prints_are_not_exported(tmp_path, without_file_check):
    path = str(tmp_path / "net.stablehlo")
    ms.export(Prints(), Tensor(X), file_name=path, file_format="STABLEHLO")
    np.testing.assert_array_equal(ms.load_stablehlo(path)(Tensor(X)).asnumpy(), X * 2)


def test_operators_that_call_python_raise(tmp_path):
    called = ops.Custom(lambda x: x + 1, lambda shape: shape, lambda dtype: dtype, func_type="pyfunc")
    with pytest.raises(NotImplementedError, match="no form here for Custom(?s:.*)it calls a Python"):
        ms.export(called, Tensor(X), file_name=str(tmp_path / "net"), file_format="STABLEHLO")
