"""Networks as ONNX models: onnxruntime computes the same results, and so does the Cell loaded from the file."""

from collections import Counter

import numpy as np
import pytest
from runtime import model_of, require_onnxruntime, run

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.exchange.onnx import read
from msnb.formats import onnx


def randoms(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


class Image(nn.Cell):
    """Convolutions, normalisation, pooling of every mode, and a dense layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, has_bias=True)
        self.deep = nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, group=2)
        self.norm, self.act, self.pool = nn.BatchNorm2d(4), nn.LeakyReLU(0.3), nn.MaxPool2d(3, 2, "same")
        self.flat, self.drop, self.out = nn.Flatten(), nn.Dropout(0.5), nn.Dense(16, 3)

    def construct(self, x):
        x = self.pool(self.act(self.norm(self.deep(self.conv(x)))))
        return self.out(self.drop(self.flat(x))) * 0.5


class Words(nn.Cell):
    """An embedding, a bidirectional LSTM of two layers, and its last step."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.norm, self.out = nn.LayerNorm((10,)), nn.Dense(10, 3, has_bias=False)

    def construct(self, x):
        start = ops.Zeros()((4, 2, 5), ms.float32)
        y, _ = self.lstm(self.table(x), (start, start))
        return self.out(self.norm(y)[:, -1]), ops.ReduceMax()(y, 1)


class Rounds(nn.Cell):
    """A loop that contains a branch, and a branch after it."""

    def construct(self, x, rounds):
        turn = 0
        while turn < rounds:
            x = x * 2 + 1
            if x.sum() > 100:
                x = x / 3
            turn += 1
        if x.mean() > 0:
            y = x - 1
        else:
            y = ops.exp(x)
        return y, x[1, ::-1]


class Half(nn.Cell):
    """Layers in float16, and a reversed sequence."""

    def __init__(self):
        super().__init__()
        self.out, self.cast = nn.Dense(4, 3).to_float(ms.float16), ops.Cast()
        self.turn = ops.ReverseSequence(seq_dim=1, batch_dim=0)
        self.back = ops.ReverseSequence(seq_dim=2, batch_dim=1)

    def construct(self, x, lengths):
        x = self.back(self.turn(x, lengths), lengths)
        return self.cast(self.out(x), ms.float32)


class Attention(nn.Cell):
    """Multi-head attention."""

    def __init__(self):
        super().__init__()
        self.query, self.out, self.softmax = nn.Dense(8, 8), nn.Dense(8, 8), nn.Softmax(-1)
        self.across, self.matmul, self.gelu = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul(), nn.GELU()

    def construct(self, x):
        heads = self.query(x).reshape(x.shape[0], x.shape[1], 2, 4).transpose(0, 2, 1, 3)
        mixed = self.matmul(self.softmax(self.across(heads, heads) * 0.5), heads)
        return self.gelu(x + self.out(mixed.transpose(0, 2, 1, 3).reshape(x.shape)))


NETWORKS = {
    "image": (Image, [randoms(2, 3, 8, 8)]),
    "words": (Words, [np.array([[1, 2, 9], [0, 4, 4]], np.int32)]),
    "rounds": (Rounds, [randoms(2, 3), np.array(5, np.int32)]),
    "no round": (Rounds, [randoms(2, 3) - 3, np.array(0, np.int32)]),
    "half": (Half, [(randoms(3, 3, 4) * 8).round() / 8, np.array([2, 3, 1], np.int32)]),
    "attention": (Attention, [randoms(2, 5, 8)]),
}


def build(name):
    """Return a network, its inputs, its Model message and its results."""
    kind, arrays = NETWORKS[name]
    net = kind().set_train(False)
    inputs = [Tensor(x) for x in arrays]
    results = net(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    return net, inputs, model_of(net, *inputs), [r.asnumpy() for r in results]


def assert_close(actual, expected, tolerance=1e-5):
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        a = a.asnumpy() if isinstance(a, Tensor) else a
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NETWORKS)
def test_onnxruntime_gives_the_same_results(name):
    require_onnxruntime()
    _, inputs, model, expected = build(name)
    assert_close(run(model, *(x.asnumpy() for x in inputs)), expected)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", NETWORKS)
def test_loaded_cell_gives_the_same_results(name, mode):
    _, inputs, model, expected = build(name)
    ms.set_context(mode=mode)
    results = read.cell_of(model)(*inputs)
    assert_close(results if isinstance(results, tuple) else (results,), expected)


def test_export_and_load_keep_training_mode(tmp_path):
    net = Image().set_train()
    x = Tensor(randoms(2, 3, 8, 8))
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="ONNX")
    assert net.training and net.drop.training
    cell = ms.load_onnx(tmp_path / "net.onnx")
    assert_close([cell(x)], [net.set_train(False)(x).asnumpy()])


def test_names_follow_cells_and_parameters():
    net, _, model, _ = build("image")
    graph = model["graph"]
    assert {p.name for p in net.get_parameters()} <= {t["name"] for t in graph["initializer"]}
    names = [node["name"] for node in graph["node"]]
    assert "/conv/Conv2D" in names and "/norm/BatchNorm" in names
    assert [info["name"] for info in graph["input"]] == ["x"]


def test_calls_are_scopes_and_constants_are_descriptive():
    graph = build("attention")[2]["graph"]
    names = [node["name"] for node in graph["node"]]
    assert {"/gelu/GeLU/Tanh", "/gelu/GeLU/Mul", "/softmax/Softmax", "float32(0.5)", "int64[2,5,8]"} <= set(names)
    assert len(set(names)) == len(names)


def test_loop_and_branch_are_named_after_their_call():
    class Net(nn.Cell):
        def construct(self, x, y):
            while ops.reduce_sum(x) < 50:
                x, y = x * 2, x
            if ops.reduce_sum(y) > 0:
                x, y = y, x
            return x, y

    one = Tensor(np.ones((2, 3), np.float32))
    graph = model_of(Net(), one, one)["graph"]
    names = {node["op_type"]: node["name"] for node in graph["node"]}
    assert names["Loop"] == "/while(x, y)/While" and names["If"] == "/Switch"


def test_layer_in_a_loop_is_one_node():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.Dense(3, 3)

        def construct(self, x):
            while ops.reduce_sum(x) < 50:
                x = self.layer(x) + 20
            return x

    one = Tensor(np.ones((2, 3), np.float32))
    net = Net()
    model = model_of(net, one)
    (body,) = (a["g"] for n in model["graph"]["node"] for a in n["attribute"] if n["op_type"] == "Loop" and "g" in a)
    inputs_by_op = {node["op_type"]: node["input"] for node in body["node"]}
    assert inputs_by_op["Gemm"][1:] == ["layer.weight", "layer.bias"]
    np.testing.assert_allclose(run(model, one.asnumpy())[0], net(one).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (lambda i: (slice(None), i), ["Gather"]),
        (lambda i: (None, i, ..., None), ["Gather", "Reshape"]),
        (lambda i: (Tensor([1, 0]), Tensor([[1], [2]])), ["GatherND"]),
        (lambda i: (slice(None, None, -1), i, Tensor([[1], [2]])), ["GatherND", "Slice"]),
        (lambda i: (i, slice(None), Tensor([1, -1])), ["GatherND", "Where"]),
    ],
    ids=["one", "new axes", "two", "behind a slice", "apart"],
)
def test_index_tensors(index, names):
    x, i = Tensor(randoms(3, 4, 5, 2)), Tensor([0, -2], ms.int32)
    model = model_of(lambda x, i: x[index(i)], x, i)
    expected = x[index(i)].asnumpy()
    np.testing.assert_array_equal(run(model, x.asnumpy(), i.asnumpy())[0], expected)
    np.testing.assert_array_equal(read.cell_of(model)(x, i).asnumpy(), expected)
    assert set(names) <= set(count_operators(model))


def count_operators(model):
    """Count the nodes of each operator, without constants."""
    return Counter(node["op_type"] for node in model["graph"]["node"] if node["op_type"] != "Constant")


def test_layer_with_bias_is_one_node():
    _, _, model, _ = build("image")
    counts = count_operators(model)
    assert counts["BatchNormalization"] == 1 and counts["Gemm"] == 1 and counts["Conv"] == 2 and not counts["Add"]
    inputs = {node["name"]: node["input"] for node in model["graph"]["node"]}
    assert inputs["/conv/Conv2D"][1:] == ["conv.weight", "conv.bias"]
    assert inputs["/deep/Conv2D"] == ["/conv/Conv2D", "deep.weight"]
    assert inputs["/out/MatMul"][1:] == ["out.weight", "out.bias"]


class Biases(nn.Cell):
    """Sums that are biases of a layer, and others that only resemble one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.up = nn.Conv2dTranspose(3, 2, 2, stride=2, has_bias=True)
        self.one = ms.Parameter(Tensor(np.array([2.0], np.float32)), name="one")
        self.bias = ms.Parameter(Tensor(np.array([1.0, 2.0, 3.0], np.float32)), name="bias")
        self.weight = ms.Parameter(Tensor(randoms(4, 3)), name="weight")
        self.add = ops.BiasAdd()

    def construct(self, x, y):
        image = self.conv(x)
        biased = self.add(image, self.bias * 2)  # a bias that is computed after the convolution
        wide = self.conv(x) + self.one  # one number is none
        return (
            self.up(biased),
            image,
            wide,
            ops.matmul(y, self.weight) + self.bias,
            ops.matmul(y, self.weight) + self.one,
        )


def test_sums_that_are_no_biases_stay_sums():
    require_onnxruntime()
    net, x, y = Biases().set_train(False), randoms(1, 2, 4, 4), randoms(5, 4)
    model = model_of(net, Tensor(x), Tensor(y))
    assert_close(run(model, x, y), [v.asnumpy() for v in net(Tensor(x), Tensor(y))])
    counts = count_operators(model)
    assert counts["Gemm"] == 1 and counts["MatMul"] == 1 and counts["Add"] >= 3


class Padding(nn.Cell):
    """Padding with zeros before layers: the layer can pad itself, or its result would be another one."""

    def __init__(self):
        super().__init__()
        self.pad = nn.Pad(((0, 0), (0, 0), (1, 1), (2, 1)))
        self.channels = nn.Pad(((0, 0), (1, 0), (1, 1), (1, 1)))
        self.pool, self.narrow = nn.MaxPool2d(3, 2, "valid"), nn.MaxPool2d(2, 2, "valid")
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
        self.relu, self.relu6 = nn.ReLU(), nn.ReLU6()

    def construct(self, x):
        folded = self.pool(self.pad(self.relu(x))), self.pool(self.pad(self.relu6(x))), self.conv(self.pad(x))
        negative, wide = self.pool(self.pad(x)), self.narrow(self.pad(self.relu(x)))
        shared = self.pad(self.relu(x - 1))
        return *folded, negative, wide, self.pool(shared), shared, self.pool(self.channels(self.relu(x)))


def test_layers_pad_with_zeros_themselves():
    require_onnxruntime()
    net, x = Padding(), randoms(2, 3, 7, 8)
    model = model_of(net, Tensor(x))
    assert_close(run(model, x), [v.asnumpy() for v in net(Tensor(x))])
    counts = count_operators(model)
    assert counts["Pad"] == 4, "negative images, windows of padding, several readers, and channels stay padded"
    pads = [onnx.attributes(n).get("pads") for n in model["graph"]["node"] if n["op_type"] in ("Conv", "MaxPool")]
    assert pads.count([1, 2, 1, 1]) == 2 and [2, 3, 2, 2] in pads


def test_loaded_cell_has_parameters_and_trains():
    net, (x,), model, _ = build("image")
    cell = read.cell_of(model)
    expected = {p.name: p.asnumpy() for p in net.get_parameters()}
    for parameter in cell.get_parameters():
        np.testing.assert_array_equal(parameter.asnumpy(), expected[parameter.name])
    assert {p.name for p in cell.trainable_params()} == {p.name for p in net.trainable_params()}
    label = Tensor(np.array([0, 2], np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    steps = nn.TrainOneStepCell(nn.WithLossCell(cell, loss), nn.Momentum(cell.trainable_params(), 0.05, 0.9))
    steps.set_train()
    losses = [float(steps(x, label).asnumpy()) for _ in range(5)]
    assert losses[-1] < losses[0]


def test_loaded_cell_gives_the_same_gradient():
    net, (x,), model, _ = build("attention")
    cell = read.cell_of(model)
    expected = ops.GradOperation()(lambda v: net(v).sum())(x).asnumpy()
    assert_close([ops.GradOperation()(lambda v: cell(v).sum())(x)], [expected], 1e-4)


def test_open_axis_accepts_any_length():
    net = Attention().set_train(False)
    model = model_of(net, Tensor(shape=[None, None, 8], dtype=ms.float32))
    dims = model["graph"]["input"][0]["type"]["tensor_type"]["shape"]["dim"]
    assert [d.get("dim_param") for d in dims] == ["x_0", "x_1", None]
    cell = read.cell_of(model)
    for shape in ((1, 3, 8), (4, 2, 8)):
        expected = [net(Tensor(randoms(*shape))).asnumpy()]
        assert_close([cell(Tensor(randoms(*shape)))], expected)
        if shape[0] == 4:
            require_onnxruntime()
            assert_close(run(model, randoms(*shape)), expected)


def test_bidirectional_lstm_without_biases_survives_export():
    lstm = nn.LSTM(3, 2, has_bias=False, bidirectional=True)

    class Both(nn.Cell):
        def __init__(self):
            super().__init__()
            self.lstm = lstm

        def construct(self, x, h):
            return self.lstm(x, (h, h))[0]

    net, x, h = Both(), randoms(4, 1, 3), randoms(2, 1, 2)
    model, expected = model_of(net, Tensor(x), Tensor(h)), [net(Tensor(x), Tensor(h)).asnumpy()]
    assert_close([read.cell_of(model)(Tensor(x), Tensor(h))], expected)
    require_onnxruntime()
    assert_close(run(model, x, h), expected)


def test_random_operator_raises():
    class Noisy(nn.Cell):
        def construct(self, x):
            return x + ops.UniformReal()((2,))

    with pytest.raises(NotImplementedError, match="UniformReal in .*: it draws random numbers"):
        model_of(Noisy(), Tensor(randoms(2)))


class Masked(nn.Cell):
    """Word embeddings and a mask, like the inputs of BERT."""

    def __init__(self):
        super().__init__()
        self.words, self.kinds = nn.Embedding(7, 4), nn.Embedding(2, 4)

    def construct(self, words, kinds, mask):
        return (self.words(words) + self.kinds(kinds)) * ops.expand_dims(ops.cast(mask, ms.float32), -1)


def test_open_axes_of_many_inputs_may_have_equal_lengths():
    net = Masked().set_train(False)
    model = model_of(net, *[Tensor(shape=[None, None], dtype=ms.int32)] * 3)
    dims = [value["type"]["tensor_type"]["shape"]["dim"] for value in model["graph"]["input"]]
    assert [[d["dim_param"] for d in each] for each in dims] == [["words_0", "words_1"]] * 3
    arrays = [np.arange(6, dtype=np.int32).reshape(2, 3) % n for n in (7, 2, 2)]
    expected = [net(*map(Tensor, arrays)).asnumpy()]
    assert_close([read.cell_of(model)(*map(Tensor, arrays))], expected)
    require_onnxruntime()
    assert_close(run(model, *arrays), expected)


def test_dependence_on_an_open_length_raises():
    class Long(nn.Cell):
        def construct(self, x):
            return x * 2 if x.shape[0] > 8 else x + 1

    with pytest.raises(NotImplementedError, match=r"an axis that is None has to be of any length.*Mul or Add|Add or"):
        model_of(Long(), Tensor(shape=[None, 2], dtype=ms.float32))


def test_tensor_with_open_axes_cannot_compute():
    x = Tensor(shape=[None, 2], dtype=ms.float32)
    assert x.shape == (None, 2) and x.dtype == ms.float32 and repr(x) == "Tensor(shape=[None, 2], dtype=Float32)"
    with pytest.raises(TypeError, match="For 'ReLU', a Tensor of shape .None, 2. has no values"):
        nn.ReLU()(x)
    with pytest.raises(TypeError, match="has no values"):
        x.asnumpy()
    with pytest.raises(TypeError, match="give 'input_data', or"):
        Tensor(shape=[2, 2], dtype=ms.float32)


def test_export_error_names_all_operators():
    class Odd(nn.Cell):
        def construct(self, x):
            return ops.Cholesky()(x), ops.Lgamma()(x)

    said = r"(?s)no form here for Cholesky, Lgamma.*Cholesky.*test_networks.*Lgamma"
    with pytest.raises(NotImplementedError, match=said):
        model_of(Odd(), Tensor(np.eye(2, dtype=np.float32)))


def test_load_error_names_all_operators():
    node = {"input": ["x"], "output": ["y"], "name": "first", "op_type": "Optional", "attribute": []}
    other = {"input": ["y"], "output": ["z"], "name": "second", "op_type": "StringSplit", "attribute": []}
    graph = {
        "node": [node, other],
        "name": "g",
        "input": [onnx.value_info("x", "float32", (2,))],
        "output": [onnx.value_info("z", "float32", (2,))],
    }
    model = {"graph": graph, "opset_import": [{"domain": "", "version": 20}]}
    with pytest.raises(NotImplementedError, match=r"(?s)Optional \(first\).*StringSplit \(second\)"):
        read.cell_of(model)
    with pytest.raises(NotImplementedError, match="ONNX 5, msnb reads those from 7"):
        read.cell_of({**model, "opset_import": [{"domain": "", "version": 5}]})


def test_wrong_inputs_raise():
    _, _, model, _ = build("image")
    cell = read.cell_of(model)
    with pytest.raises(ValueError, match="The input 'x' of the model should be a Tensor of Float32 with 4 dimensions"):
        cell(Tensor(randoms(2, 3)))
    with pytest.raises(ValueError, match="no input 'image'; it takes x"):
        read.cell_of(model, shapes={"image": (1, 3, 8, 8)})


def test_indices_wrapped_by_a_model_are_not_wrapped_again():
    ids, table = Tensor([[3, 0], [1, 1]], ms.int32), Tensor(randoms(4, 2))

    def picked(x, ids):
        return ops.gather(table, ids, 0) + ops.gather_nd(x, ids)

    again = model_of(read.cell_of(model_of(picked, table, ids)), table, ids)
    assert count_operators(again)["Where"] == 2
    assert count_operators(model_of(read.cell_of(again), table, ids)) == count_operators(again)


def add_unused_node(model):
    """Prepend a node whose result is not used to a model."""
    graph = model["graph"]
    node = {"op_type": "Exp", "input": [graph["input"][0]["name"]], "output": ["nobody's"], "name": "/first/Exp"}
    return {**model, "graph": {**graph, "node": [node, *graph["node"]]}}


@pytest.mark.parametrize("name", ["image", "rounds"])
def test_nodes_are_numbered_in_order(name, tmp_path):
    graph = read.graph_of(add_unused_node(build(name)[2]), None, read.input_types(build(name)[2], {}, 1))
    assert [node.id for node in graph.all_nodes()] == list(range(len(graph)))
    assert "Exp" not in [node.op for node in graph.nodes if node.scope == "Default/first"]
    ms.view(graph).save(tmp_path / "page.html")


def test_view_does_not_run_the_model(tmp_path):
    _, _, model, _ = build("image")
    onnx.save(model, tmp_path / "image.onnx")
    assert {"Conv2D", "BatchNorm", "MatMul"} <= {node.op for node in read.look(tmp_path / "image.onnx").nodes}
    assert repr(ms.view(str(tmp_path / "image.onnx"))).startswith("GraphView(Image")
