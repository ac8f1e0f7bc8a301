"""Two runs compared by value: which node makes a difference, and how much of it came in."""

import copy
import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faulty_networks import FAULTS, KINDS, batch, inject, network
from sweeps import swept

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.insight.debugger import value_diff
from msnb.insight.debugger.equations import flatten_program
from msnb.insight.debugger.runs_to_compare import ComparedRun
from msnb.ir.read import read

X = Tensor(np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32))
pytestmark = pytest.mark.usefixtures("graph_mode")


class Small(nn.Cell):
    def __init__(self, scale=2.0):
        super().__init__()
        self.first, self.relu, self.second = nn.Dense(3, 5), nn.ReLU(), nn.Dense(5, 2)
        self.scale = scale

    def construct(self, x):
        hidden = self.relu(self.first(x)) * self.scale
        return self.second(hidden)


def test_equal_networks_have_no_difference():
    net = Small()
    result = ms.diff(net, net, X, values=True)
    assert result.first is None and {entry.total for entry in result.nodes} == {0.0}
    assert "equal, bit by bit" in result.explain()
    assert set(result.columns["made here"]["values"]) == {0.0}


def test_a_difference_is_split_into_what_came_in_and_the_nodes_own_difference():
    net, other = Small(2.0), Small(3.0)
    result = ms.diff(net, other, X, values=True, weights="copy")
    assert result.first.name == "Mul" and result.first.came_in == 0
    hidden = ops.relu(net.first(X)).asnumpy()
    np.testing.assert_allclose(result.first.made_here, np.abs(hidden).max(), rtol=1e-5)
    np.testing.assert_allclose(result.first.scale, 2 * np.abs(hidden).max(), rtol=1e-5)
    after = {entry.name: entry for entry in result.nodes}["second/MatMul"]
    expected = np.abs(hidden @ net.second.weight.asnumpy().T).max()
    np.testing.assert_allclose(after.came_in, expected, rtol=1e-4)
    assert after.made_here == 0 and after.total == pytest.approx(after.came_in)
    mine, theirs = result.pair(result.first)
    np.testing.assert_allclose(theirs.asnumpy(), 1.5 * mine.asnumpy(), rtol=1e-6)
    assert "first difference is made at Mul (test_value_diff.py:" in result.explain()


FAST = ("swapped axes of the kernel", "float16 softmax", "transposed weight", "wrong eps")


@pytest.mark.parametrize("fault", swept(FAULTS, lambda p: p[2] if p[2] in FAST else FAST[0]), ids=" ".join)
def test_an_injected_fault_is_located_at_its_node(fault):
    name, path, kind = fault
    net = network(name)
    faulty = copy.deepcopy(net)
    inject(faulty, path, kind)
    result = ms.diff(net, faulty, batch(name), values=True)
    assert result.first is not None and result.first.name == f"{path}/{KINDS[kind].operator}", result.explain()
    makers = [entry.name for entry in result.nodes if entry.exceeds]
    assert makers == [result.first.name]


def test_large_values_are_reduced_inside_the_program(monkeypatch):
    net, other = Small(2.0), Small(3.0)
    results = []
    for limit in (1 << 20, 0):
        monkeypatch.setattr(value_diff, "_ALL_AT_ONCE", limit)
        results.append(ms.diff(net, other, X, values=True, weights="copy"))
    for mine, theirs in zip(*(result.nodes for result in results), strict=True):
        figures = [(e.total, e.came_in, e.made_here, e.scale) for e in (mine, theirs)]
        np.testing.assert_allclose(*figures, rtol=1e-5, atol=1e-12)
    assert results[1].first.name == "Mul"


def test_graph_and_pynative_mode_agree():
    net = Small()
    for result in (
        ms.diff(net, ms.in_mode("PYNATIVE", net), X, values=True),
        ms.diff(ms.in_mode("PYNATIVE", net), ms.in_mode("GRAPH", net), X, values=True),
        ms.diff(ms.in_mode("PYNATIVE", net), ms.in_mode("PYNATIVE", net), X, values=True),
    ):
        assert result.first is None and len(result.nodes) == 6
    assert context.get_context("mode") == context.GRAPH_MODE


def test_a_difference_between_the_modes_is_located():
    class Depends(Small):
        def construct(self, x):
            hidden = self.relu(self.first(x)) * (2.0 if context.get_context("mode") == context.GRAPH_MODE else 3.0)
            return self.second(hidden)

    net = Depends()
    result = ms.diff(net, ms.in_mode("PYNATIVE", net), X, values=True)
    assert result.first.name == "Mul" and result.first.came_in <= 1e-6


def test_moving_averages_of_a_run_in_pynative_mode_are_restored():
    net = nn.SequentialCell([nn.Dense(3, 4), nn.BatchNorm1d(4)]).set_train()
    before = net[1].moving_mean.asnumpy()
    result = ms.diff(net, ms.in_mode("PYNATIVE", net), X, values=True)
    assert result.first is None
    np.testing.assert_array_equal(net[1].moving_mean.asnumpy(), before)


def test_random_operators_draw_the_same_numbers_or_are_left_out():
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Dropout(0.5), nn.Dense(4, 2)]).set_train()
    assert ms.diff(net, net, X, values=True).first is None
    result = ms.diff(net, ms.in_mode("PYNATIVE", net), X, values=True)
    assert result.first is None and "the modes draw different random numbers: 1/Dropout" in result.explain()


def test_a_precision_has_its_own_tolerance():
    net = Small()
    half = ms.diff(net, ms.in_dtype("float16", net), X, values=True)
    assert half.first is None and max(entry.made_here for entry in half.nodes) > 1e-6
    exact = ms.diff(ms.in_dtype("float64", net), net, X, values=True)
    assert exact.first is None
    assert net.first.weight.dtype == ms.float32
    assert ms.diff(net, ms.in_dtype("float16", net), X, values=True, rtol=1e-7).first is not None


def test_a_node_with_another_dtype_names_both():
    net = Small()
    result = ms.diff(net, ms.in_dtype("float16", net), X, values=True, names=("wide", "half"), rtol=1e-7)
    assert result.first.dtypes == ("Float32", "Float16") and str(result.first).endswith(", Float32 and Float16")
    said = result.explain().splitlines()
    assert said[1].startswith(f"{len(result.nodes)} of them are Float32 in wide and Float16 in half, first first/")
    assert said[2].endswith("It is Float32 in wide and Float16 in half.")
    assert "; it is Float32 in wide and Float16 in half." in said[3]
    assert result.table().rows[0][1] == "Float32[4, 5] and Float16"
    for graph in result.graphs:
        notes = result.columns["made here"]["note"] if graph == "wide" else result._columns[graph, "made here"]["note"]
        assert all(note.endswith("; Float32 in wide and Float16 in half") for note in notes), notes


def test_equal_dtypes_are_not_mentioned():
    result = ms.diff(Small(2.0), Small(3.0), X, values=True, weights="copy")
    assert "Float32" not in result.explain() and all(entry.dtypes is None for entry in result.nodes)
    assert "Float32" not in str(result.first)


def test_equal_values_of_two_dtypes_are_not_called_equal_bits():
    said = ms.diff(ops.relu, ms.in_dtype("float16", ops.relu), Tensor(np.float32([1, -2])), values=True).explain()
    assert "1 of them is Float32 in old and Float16 in new: ReLU" in said
    assert "All their values are equal." in said.splitlines()


def test_a_network_equals_its_files(tmp_path):
    net = Small()
    for kind in ("MINDIR", "ONNX"):
        path = tmp_path / f"net.{kind.lower()}"
        ms.export(net, X, file_name=str(tmp_path / "net"), file_format=kind)
        result = ms.diff(net, path, X, values=True)
        assert result.first is None and len(result.nodes) == 6, result.explain()
    net.first.weight.set_data(net.first.weight + 1)
    with pytest.raises(ValueError, match="different weights: 1 of 4 Parameters, first 'first.weight'"):
        ms.diff(net, path, X, values=True)
    assert ms.diff(net, path, X, values=True, weights="as they are").first.name == "first/MatMul"


def test_a_network_equals_onnxruntime(tmp_path):
    pytest.importorskip("onnxruntime")

    class Image(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.dense = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dense(4, 2)

        def construct(self, x):
            x = ops.relu(self.norm(self.conv(x)))
            return ops.Softmax()(self.dense(ops.ReduceMean()(x, (2, 3))))

    net = Image().set_train(False)
    x = Tensor(np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32))
    path = tmp_path / "net.onnx"
    ms.export(net, x, file_name=str(path), file_format="ONNX")
    result = ms.diff(net, ms.in_onnxruntime(path), x, values=True)
    compared = {entry.node.op for entry in result.nodes}
    assert result.first is None and {"Conv2D", "BatchNorm", "ReLU", "ReduceMean", "Softmax"} <= compared
    assert "net.onnx in onnxruntime" in result.explain()
    assert ms.diff(path, ms.in_onnxruntime(path), x, values=True).first is None
    net.norm.gamma.set_data(net.norm.gamma * 1.001)
    result = ms.diff(net, ms.in_onnxruntime(path), x, values=True, weights="as they are")
    assert result.first.name == "norm/BatchNorm"
    with pytest.raises(ValueError, match="one of the two should be a network"):
        ms.diff(ms.in_onnxruntime(path), ms.in_onnxruntime(path), x, values=True)
    with pytest.raises(ValueError, match="should end in .onnx"):
        ms.in_onnxruntime("net.mindir")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ms.in_onnxruntime(tmp_path / "other.onnx")


def test_steps_of_a_timeline_are_compared():
    net = Small()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    y = Tensor(np.ones((4, 2), np.float32))
    with ms.timeline(net) as recorded:
        for _ in range(3):
            step(X, y)
    result = ms.diff((recorded, 1), (recorded, 3), values=True)
    assert result.first is not None and "Parameters differ between the runs" in result.explain()


def test_a_function_is_compared():
    result = ms.diff(lambda x: ops.tanh(x) * 2, lambda x: ops.tanh(x) * 2.5, X, values=True)
    assert result.first.name == "Mul"


def test_pairs_by_hand():
    def old(x):
        return ops.relu(ops.tanh(x))

    def new(x):
        return ops.sigmoid(ops.tanh(x))

    assert len(ms.diff(old, new, X, values=True).nodes) == 1
    result = ms.diff(old, new, X, values=True, pairs={"op:ReLU": "op:Sigmoid"})
    assert [entry.node.op for entry in result.nodes] == ["Tanh", "ReLU"] and result.first.node.op == "ReLU"


def test_another_shape_is_a_difference_of_its_node():
    result = ms.diff(
        lambda x: ops.exp(ops.transpose(x, (1, 0))), lambda x: ops.exp(ops.transpose(x, (0, 1))), X, values=True
    )
    assert result.first.node.op == "Transpose" and "Float32[3, 4] and Float32[4, 3]" in result.explain()
    assert [entry.node.op for entry in result.nodes if entry.exceeds] == ["Transpose"]


def test_a_nan_in_one_run_is_a_difference():
    result = ms.diff(lambda x: ops.log(x * x), lambda x: ops.log(x), X, values=True)
    assert result.first.node.op in ("Log", "Mul")


class While(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x, n):
        while n > 0:
            x = ops.tanh(x * self.factor) + 1
            n = n - 1
        return ops.exp(x)


def test_nodes_inside_a_loop_tell_what_they_make_in_their_rounds():
    n = Tensor(3, ms.int32)
    same = ms.diff(While(2.0), While(2.0), X, n, values=True)
    assert same.first is None and {"Mul", "Tanh", "While"} <= {entry.node.op for entry in same.nodes}
    result = ms.diff(While(2.0), While(2.5), X, n, values=True)
    x, apart, largest = X.asnumpy(), [], []
    for _ in range(3):
        apart.append(np.abs(0.5 * x).max())
        largest.append(np.abs(2 * x).max())
        x = np.tanh(2 * x) + 1
    assert result.first.node.op == "Mul"
    np.testing.assert_allclose([result.first.made_here, result.first.scale], [max(apart), max(largest)], rtol=1e-5)
    (loop,) = [entry for entry in result.nodes if entry.node.op == "While"]
    assert loop.note == "made by nodes inside" and not loop.exceeds
    makers = [entry.node.op for entry in result.nodes if entry.exceeds]
    assert makers == ["Mul"]


def run_of_jax(function, *inputs):
    closed = jax.make_jaxpr(function)(*inputs)
    program = SimpleNamespace(jaxpr=closed, name="main", inputs=None)
    names = [("arg", f"x{index}") for index in range(len(inputs))]
    return ComparedRun("a", flatten_program(program, read(closed)), list(inputs), names)


def test_nodes_inside_a_scan_tell_what_they_make():
    def scanned(factor):
        def step(state, row):
            new = jnp.tanh(state * factor + row)
            return new, new * 2

        return lambda state, rows: jax.lax.scan(step, state, rows)[1].sum()

    state, rows = jnp.ones(3), jnp.arange(4.0)
    result = value_diff.diff_values(run_of_jax(scanned(1.0), state, rows), run_of_jax(scanned(1.5), state, rows))
    assert [entry.node.op for entry in result.nodes if entry.exceeds] == ["mul"]
    states = [np.ones(3)]
    for row in range(3):
        states.append(np.tanh(states[-1] + row))
    np.testing.assert_allclose(result.first.made_here, 0.5 * max(s.max() for s in states), rtol=1e-6)
    assert value_diff.diff_values(*[run_of_jax(scanned(1.0), state, rows) for _ in range(2)]).first is None


def test_a_difference_that_no_common_node_inside_makes_belongs_to_the_loop():
    class Shifted(While):
        def construct(self, x, n):
            while n > 0:
                x = ops.sigmoid(ops.tanh(x * self.factor) + 1)
                n = n - 1
            return ops.exp(x)

    result = ms.diff(While(2.0), Shifted(2.0), X, Tensor(1, ms.int32), values=True)
    assert result.first.node.op == "While"


def test_a_training_step_in_pynative_mode_is_compared_backward_too():
    net = Small()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1)).set_train()
    y, before = Tensor(np.ones((4, 2), np.float32)), net.first.weight.asnumpy()
    result = ms.diff(step, ms.in_mode("PYNATIVE", step), X, y, values=True)
    assert result.first is None
    backward = [entry.node.op for entry in result.nodes if entry.node.direction == "backward"]
    assert {"MSELossExt", "MatMul", "BiasAdd", "ReLU"} <= set(backward)
    np.testing.assert_array_equal(net.first.weight.asnumpy(), before)


def test_the_table_shows_itself_as_text_and_as_html():
    result = ms.diff(Small(2.0), Small(3.0), X, values=True, weights="copy")
    text, page = str(result.table()), result.table()._repr_html_()
    assert text.splitlines()[0].split() == [
        "node",
        "value",
        "difference",
        "came",
        "in",
        "made",
        "here",
        "tolerance",
        "largest",
        "value",
        "ulps",
        "cosine",
        "line",
        "note",
    ]
    assert sum(line.startswith("*") for line in text.splitlines()) == 1 and ">made here</th>" in page
    assert result.colour == "made here" and len(result.columns["came in"]["values"]) == 6


@pytest.mark.parametrize(
    ("a", "b", "ulps", "cosine"),
    [
        (np.float32([1.0, -3.0, 1e-8]), np.float32([1 + 2**-22, -3.0, 1e-8]), 2, 1),
        (np.float32([1.0]), np.nextafter(np.float32([1.0]), np.float32(0)), 0.5, 1),  # the spacing is halved below 1
        (np.float32([3.0, 0.0]), np.float32([0.0, 2.0]), 2**23 * 1.5, 0),
        (np.float32([1e30, 2e30]), np.float32([-1e30, -2e30]), None, -1),
        (np.float32([1.0, 2.0]), np.float32([0.0, 0.0]), 2**23, 0),
        (np.float32([0.0, 0.0]), np.float32([0.0, -0.0]), 0, 1),
        (np.float32([1.0, 2.0]), np.float16([1 + 2**-10, 2.0]), 1, 1),
        (np.float32([1.0, 300.0]), np.asarray(jnp.array([1.0, 302.0], jnp.bfloat16)), 1, 1),
        (np.float32([1e-40]), np.float32([0.0]), None, 0),
        (np.int32([3, 4]), np.int32([3, 9]), 5, 45 / (5 * math.sqrt(90))),
        (np.float32([1.0, np.nan]), np.float32([1.0, np.nan]), 0, 1),
        (np.float32([1.0, np.nan]), np.float32([1.0, 2.0]), math.inf, 1 / math.sqrt(5)),
        (np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32), 0, 1),
    ],
)
def test_ulps_and_cosine_of_two_values(a, b, ulps, cosine):
    if ulps is not None:
        assert value_diff._compute_max_ulps(a, b) == ulps
    assert value_diff._compute_cosine(a, b) == pytest.approx(cosine, abs=1e-5)


def test_ulps_and_cosine_of_a_node():
    def shifted(x):
        return ops.relu(x) * (1 + 2**-21)

    def turned(x):
        return ops.relu(x) * -3

    def same(x):
        return ops.relu(x) * 1

    x = Tensor(np.float32([1.0, 2.0, 4.0]))
    (near,) = [e for e in ms.diff(same, shifted, x, values=True).nodes if e.node.op == "Mul"]
    assert near.ulps == 4 and near.cosine == pytest.approx(1)
    (far,) = [e for e in ms.diff(same, turned, x, values=True).nodes if e.node.op == "Mul"]
    assert far.cosine == pytest.approx(-1) and far.ulps > 1e6


def test_tolerances_grow_with_the_number_of_summands():
    rng = np.random.default_rng(0)
    small, large = (Tensor(rng.standard_normal((2, n)).astype(np.float32)) for n in (4, 4096))

    def rows(x):
        return ops.matmul(x, x.transpose((1, 0)))

    (few,), (many,) = (
        [e for e in ms.diff(rows, rows, x, values=True).nodes if e.node.op == "MatMul"] for x in (small, large)
    )
    assert 20 < (many.tolerance / many.scale) / (few.tolerance / few.scale) < 40


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ms.diff(Small(), Small(), X, values=True),
            ValueError,
            "different weights: 4 of 4|different weights: 2",
        ),
        (lambda: ms.diff(ops.relu, ops.tanh, X, values=True), ValueError, "have no node in common"),
        (lambda: ms.diff(ops.relu, 3, X, values=True), TypeError, "'new' should be a Cell, a function, a file"),
        (
            lambda: ms.diff(ops.relu, ops.relu, X, values=True, rtol=-1),
            ValueError,
            "'rtol' should be a number of at least 0",
        ),
        (lambda: ms.diff(ops.relu, ops.relu, X, rtol=1e-3), ValueError, "'rtol' has an effect on values only"),
        (lambda: ms.diff(ops.relu, ops.relu, X, values=True, pairs=[1]), TypeError, "'pairs' should be a dict"),
        (
            lambda: ms.diff(ops.relu, ops.relu, X, values=True, weights="no"),
            ValueError,
            "'weights' should be 'copy' or",
        ),
        (lambda: ms.diff(ops.relu, "net.ckpt", X, values=True), ValueError, "has Parameters and no graph"),
        (lambda: ms.diff(ops.relu, "no.onnx", X, values=True), FileNotFoundError, "does not exist"),
        (lambda: ms.in_mode("EAGER", ops.relu), ValueError, "'mode' should be 'GRAPH' or 'PYNATIVE'"),
        (lambda: ms.in_dtype("int8", ops.relu), ValueError, "'dtype' should be one of float16, bfloat16"),
        (lambda: ms.on_device("TPU:7", ops.relu), ValueError, "there is no device 'TPU:7'. This process has .*CPU:0"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
