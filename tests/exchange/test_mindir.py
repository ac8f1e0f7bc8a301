"""MINDIR: files of MindSpore compute the same results here, and files of msnb are read back unchanged."""

import os
import pickle
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from damage import mutate
from make_files import KEY, MODES, X, values
from mindir_files import FILES, GOLDEN, assert_close, load_golden, results

import msnb as ms
from msnb import Parameter, Tensor, context, ir, nn, ops
from msnb.exchange.mindir.operators import FUNCTIONS, Function, forms
from msnb.exchange.mindir.read import reader
from msnb.exchange.mindir.write import writer
from msnb.exchange.tracing import traced
from msnb.formats import mindir, protobuf
from msnb.formats.text_files import BadFileError
from msnb.ir.compare import compare


# ---------------------------------------------------------------------- files of MindSpore
def test_each_network_has_a_golden_file(networks):
    assert {path.stem for path in FILES} == set(networks)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_mindspore_file_gives_mindspore_results(path, mode):
    context.set_context(mode=mode)
    inputs, outputs, _ = load_golden(path)
    assert_close(results(nn.GraphCell(ms.load(str(path))), inputs), outputs)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_mindspore_file_gives_mindspore_gradients(path):
    inputs, _, gradients = load_golden(path)
    cell = nn.GraphCell(ms.load(str(path)))
    weights = {p.name: p for p in cell.trainable_params()}
    assert set(weights) == set(gradients)
    if not weights:
        return

    def first_result_sum(*inputs):
        out = cell(*inputs)
        return (out[0] if isinstance(out, tuple) else out).sum()

    actual = ms.grad(first_result_sum, None, [weights[name] for name in gradients])(*map(Tensor, inputs))
    for name, gradient in zip(gradients, actual, strict=True):
        scale = max(1.0, np.abs(gradients[name]).max())
        np.testing.assert_allclose(gradient.asnumpy() / scale, gradients[name] / scale, atol=1e-5, err_msg=name)


def test_loaded_graph_has_scopes_and_can_be_pickled():
    path = GOLDEN / "mindir" / "loop.mindir"
    graph = ms.load(str(path))
    assert graph.name == "Loop"
    assert [node.op for node in graph.nodes][-1] == "Switch"
    dense = next(node for node in graph.all_nodes() if node.op == "MatMul")
    assert dense.scope == "Default/dense-Dense"
    assert "While" in ir.text(graph) and "dense.weight" in ir.text(graph)
    unpickled = pickle.loads(pickle.dumps(graph))
    assert unpickled == graph
    inputs, outputs, _ = load_golden(path)
    assert_close(
        results(nn.GraphCell(unpickled, {n: Tensor(np.array(v)) for n, v in graph.weights.items()}), inputs), outputs
    )


def test_loaded_graph_can_be_trained():
    path = GOLDEN / "mindir" / "lenet.mindir"
    inputs, _, _ = load_golden(path)
    cell = nn.GraphCell(ms.load(str(path)))
    loss = nn.WithLossCell(cell, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(cell.trainable_params(), 0.05, 0.9)).set_train()
    labels = Tensor(np.array([1, 3], np.int32))
    losses = [float(step(Tensor(inputs[0]), labels).asnumpy()) for _ in range(8)]
    assert losses[-1] < losses[0]


# ---------------------------------------------------------------------- export and load
@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_exported_file_gives_the_same_results(name, networks, tmp_path):
    make, inputs = networks[name]
    net = make().set_train(False)
    ms.export(net, *map(Tensor, inputs), file_name=str(tmp_path / name), file_format="MINDIR")
    graph = ms.load(str(tmp_path / f"{name}.mindir"))
    assert_close(results(nn.GraphCell(graph), inputs), results(net, inputs))
    used = {p.name for p in traced(net, *map(Tensor, inputs)).parameters if p.is_weight}
    assert set(graph.weights) == used


@pytest.mark.parametrize("name", ["attention", "gpt", "inverted", "lenet", "residual", "unet", "whole"])
def test_loaded_graph_equals_exported_graph(name, networks, tmp_path):
    make, inputs = networks[name]
    net = make().set_train(False)
    ms.export(net, *map(Tensor, inputs), file_name=str(tmp_path / name), file_format="MINDIR")
    graph = traced(net, *map(Tensor, inputs))
    counts = compare(reader.read(str(tmp_path / f"{name}.mindir")), graph).counts()
    assert counts == {"same": len(graph), "changed": 0, "fused": 0, "removed": 0, "added": 0}


def test_export_keeps_the_training_mode_of_each_cell(tmp_path):
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Dropout(0.5), nn.Dense(4, 2)])
    net.set_train()
    net[0].set_train(False)
    ms.export(net, Tensor(np.ones((2, 3), np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert [cell.training for cell in net] == [False, True, True]
    assert "Dropout" not in {node.op for node in ms.load(str(tmp_path / "net.mindir")).all_nodes()}


def test_numbers_are_promoted_to_the_operand_type(tmp_path):
    def mixed(a, b):
        return a * 2 + b, b > 1, a - 0.5

    inputs = [np.arange(3, dtype=np.int32), np.arange(3, dtype=np.float32)]
    ms.export(mixed, *map(Tensor, inputs), file_name=str(tmp_path / "mixed"), file_format="MINDIR")
    graph = ms.load(str(tmp_path / "mixed.mindir"))
    assert_close(results(nn.GraphCell(graph), inputs), [o.asnumpy() for o in mixed(*map(Tensor, inputs))])
    for node in graph.all_nodes():
        types = {source.types[slot].dtype for source, slot in node.uses if node.op != "Cast"}
        assert len(types) < 2, (node, types)  # MindSpore does not convert what is in a file


@pytest.mark.parametrize(
    ("layers", "both", "bias"), [(1, True, True), (2, True, True), (2, False, False), (1, True, False)]
)
def test_lstm_is_exported_layer_by_layer(layers, both, bias, tmp_path):
    net = nn.LSTM(3, 4, num_layers=layers, bidirectional=both, has_bias=bias).set_train(False)
    rng = np.random.default_rng(3)
    state = (layers * (2 if both else 1), 2, 4)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in ((5, 2, 3), state, state)]

    def run(x, h, c):
        y, (h, c) = net(x, (h, c))
        return y, h, c

    ms.export(run, *map(Tensor, inputs), file_name=str(tmp_path / "lstm"), file_format="MINDIR")
    graph = ms.load(str(tmp_path / "lstm.mindir"))
    assert [node.attrs["num_layers"] for node in graph.nodes if node.op == "LSTM"] == [1] * layers
    assert_close(results(nn.GraphCell(graph), inputs), [o.asnumpy() for o in run(*map(Tensor, inputs))])


def test_basic_indices_are_exported(tmp_path):
    def pieces(x, i):
        return x[None, 1:, ::2], x[:, None, 2], x[..., None], x[-1], x[:, -2:], ops.gather(x, i, 0)

    inputs = [np.arange(24, dtype=np.float32).reshape(2, 4, 3), np.array([1, 0], np.int32)]
    ms.export(pieces, *map(Tensor, inputs), file_name=str(tmp_path / "pieces"), file_format="MINDIR")
    cell = nn.GraphCell(ms.load(str(tmp_path / "pieces.mindir")))
    assert_close(results(cell, inputs), [o.asnumpy() for o in pieces(*map(Tensor, inputs))])


@pytest.mark.parametrize("mode", [None, "AES-GCM", "SM4-CBC"])
def test_large_weights_are_stored_in_a_separate_file(mode, tmp_path, monkeypatch):
    monkeypatch.setattr(mindir, "SPLIT", 64)
    net = nn.Dense(7, 5)
    x = np.ones((2, 7), np.float32)
    encryption = {} if mode is None else {"enc_key": b"0" * 16, "enc_mode": mode}
    ms.export(net, Tensor(x), file_name=str(tmp_path / "net"), file_format="MINDIR", **encryption)
    assert sorted(os.listdir(tmp_path)) == ["net_graph.mindir", "net_variables"]
    assert os.listdir(tmp_path / "net_variables") == ["data_0"]
    key = {} if mode is None else {"dec_key": b"0" * 16, "dec_mode": mode}
    graph = ms.load(str(tmp_path / "net_graph.mindir"), **key)
    assert_close(results(nn.GraphCell(graph), [x]), results(net, [x]))
    assert (net.weight.asnumpy().tobytes() in (tmp_path / "net_variables" / "data_0").read_bytes()) == (mode is None)


# ---------------------------------------------------------------------- encryption
@pytest.mark.parametrize("mode", MODES)
def test_encrypted_mindspore_file_gives_the_same_results(mode):
    graph = ms.load(str(GOLDEN / "files" / f"{mode}.mindir"), dec_key=KEY[: MODES[mode]], dec_mode=mode)
    assert_close(results(nn.GraphCell(graph), [X]), [X @ values()["weight"].T + values()["bias"]])


def test_encrypted_file_needs_the_right_key(tmp_path):
    path = str(tmp_path / "net.mindir")
    ms.export(nn.Dense(3, 4), Tensor(X), file_name=path, file_format="MINDIR", enc_key=b"0" * 16)
    with pytest.raises(ValueError, match="encrypted with AES-GCM; pass its key as dec_key"):
        ms.load(path)
    with pytest.raises(ValueError, match="the key is another one"):
        ms.load(path, dec_key=b"1" * 16)
    with pytest.raises(ValueError, match="'load': A key should be bytes, but got str"):
        ms.load(path, dec_key="0" * 16)
    with pytest.raises(ValueError, match="no option 'key'"):
        ms.load(path, key=b"0" * 16)


@pytest.mark.parametrize("file_format", ["MINDIR", "ONNX"])
def test_custom_encryption_functions(file_format, tmp_path):
    def xor(data, key):
        return bytes(byte ^ key[0] for byte in data)

    path = str(tmp_path / f"net.{file_format.lower()}")
    net = nn.Dense(3, 4)
    ms.export(net, Tensor(X), file_name=path, file_format=file_format, enc_key=b"k", enc_mode=xor)
    ms.export(net, Tensor(X), file_name=str(tmp_path / "plain"), file_format=file_format)
    plain = (tmp_path / f"plain.{file_format.lower()}").read_bytes()
    assert xor(Path(path).read_bytes(), b"k") == plain
    if file_format == "MINDIR":
        graph = ms.load(path, dec_key=b"k", dec_mode=lambda name, key: xor(Path(name).read_bytes(), key))
        assert_close(results(nn.GraphCell(graph), [X]), results(net, [X]))


# ---------------------------------------------------------------------- early exits, axes of any length
@pytest.mark.parametrize("name", ["left", "nested"])
def test_loop_with_early_exit_gives_the_same_results(name, networks):
    make, (x, _) = networks[name]
    net = make()
    graph = ms.load(str(GOLDEN / "mindir" / f"{name}.mindir"))
    for p in net.get_parameters():
        p.set_data(Tensor(np.array(graph.weights[p.name])))
    cell = nn.GraphCell(graph)
    for scale, rounds in ((0, 0), (0, 1), (1, 5), (4, 9), (0, 30), (-300, 6)):
        loop_inputs = [x * np.float32(scale), np.array(rounds, np.int32)]
        assert_close(results(cell, loop_inputs), results(net, loop_inputs))


def test_indexed_choice_of_cells_gives_the_same_results(networks):
    make, (x, _, _) = networks["layers"]
    net = make()
    graph = ms.load(str(GOLDEN / "mindir" / "layers.mindir"))
    for p in net.get_parameters():
        p.set_data(Tensor(np.array(graph.weights[p.name])))
    cell = nn.GraphCell(graph)
    for which, act in ((0, 0), (0, 3), (1, 1), (1, 2)):
        choice_inputs = [x, np.array(which, np.int32), np.array(act, np.int32)]
        assert_close(results(cell, choice_inputs), results(net, choice_inputs))


@pytest.fixture
def lengths(networks):
    """Return a network with axes of any length, its shapes, and inputs of two sizes."""
    make, inputs = networks["lengths"]
    other = [np.ones((5, 3, 4), np.float32), np.ones((1, 2, 9, 4), np.float32)]
    return make(), sys.modules["mindir_networks"].OPEN["lengths"], [inputs, other]


def test_export_with_open_axes_runs_for_each_length(lengths, tmp_path):
    net, shapes, sizes = lengths
    open_inputs = [Tensor(shape=list(shape), dtype=ms.float32) for shape in shapes]
    ms.export(net, *open_inputs, file_name=str(tmp_path / "net"), file_format="MINDIR")
    graph = ms.load(str(tmp_path / "net.mindir"))
    cell = nn.GraphCell(graph)
    for inputs in sizes:
        assert_close(results(cell, inputs), results(net, inputs))
    assert [p.types[0].shape for p in graph.parameters if not p.is_weight] == [(-1, -1, 4), (-1, 2, -1, 4)]
    assert repr(ms.view(graph)) and "Shape" in ir.text(graph) and pickle.loads(pickle.dumps(graph)) == graph
    with pytest.raises(ValueError, match=r"'x' of '.*net.mindir' has the shape \(any, any, 4\), but got \(2, 4\)"):
        cell(Tensor(np.ones((2, 4), np.float32)), Tensor(sizes[0][1]))
    ms.export(
        lambda x, y: x + y, *[Tensor(shape=[None], dtype=ms.float32)] * 2, file_name=str(tmp_path / "sum"),
        file_format="MINDIR",
    )  # fmt: skip
    total = nn.GraphCell(ms.load(str(tmp_path / "sum.mindir")))
    with pytest.raises(ValueError, match=r"does not take inputs of the shapes \(2,\), \(3,\): For 'Add'"):
        total(Tensor(np.ones(2, np.float32)), Tensor(np.ones(3, np.float32)))


def test_mindspore_file_with_open_axes_runs_for_each_length(lengths):
    net, _, sizes = lengths
    graph = ms.load(str(GOLDEN / "mindir" / "lengths.mindir"))
    for p in net.get_parameters():
        p.set_data(Tensor(np.array(graph.weights[p.name])))
    cell = nn.GraphCell(graph)
    for inputs in sizes:
        assert_close(results(cell, inputs), results(net, inputs))


def test_export_raises_if_a_needed_length_is_unknown(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.tile(x[:1], (ops.concat((x, x[:1])).shape[0], 1))

    with pytest.raises(NotImplementedError, match="Tile"):
        x = Tensor(shape=[None, 3], dtype=ms.float32)
        ms.export(Net(), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not os.listdir(tmp_path)


def randoms(*shape):
    return Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("form", ["MINDIR", "ONNX"])
def test_nested_inputs_are_flattened(form, tmp_path):
    def net(pair, named):
        return pair[0] @ named["w"][0] + pair[1]

    nested_inputs = [randoms(2, 3), randoms(4)], {"w": (randoms(3, 4),)}
    path = str(tmp_path / f"net.{form.lower()}")
    ms.export(net, *nested_inputs, file_name=path, file_format=form)
    cell = nn.GraphCell(ms.load(path)) if form == "MINDIR" else ms.load_onnx(path)
    assert_close(
        results(cell, [x.asnumpy() for x in (*nested_inputs[0], *nested_inputs[1]["w"])]),
        [net(*nested_inputs).asnumpy()],
    )
    np.testing.assert_allclose(cell(*nested_inputs).asnumpy(), net(*nested_inputs).asnumpy(), atol=1e-5)


@pytest.mark.parametrize("form", ["MINDIR", "ONNX"])
def test_unknown_length_can_be_a_result(form, tmp_path):
    def net(x):
        return x * x.shape[0], x.shape[0] * 2, x.shape[1]

    path = str(tmp_path / f"net.{form.lower()}")
    ms.export(net, Tensor(shape=[None, 2], dtype=ms.float32), file_name=path, file_format=form)
    cell = nn.GraphCell(ms.load(path)) if form == "MINDIR" else ms.load_onnx(path)
    x = randoms(5, 2)
    assert_close(results(cell, [x.asnumpy()]), [x.asnumpy() * 5, np.int64(10), np.int64(2)])


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((3, 4), lambda i: (Tensor([2, 0, -1]),)),
        ((3, 4), lambda i: (slice(None), i)),
        ((3, 4, 2), lambda i: (i, Tensor([[1], [0]]))),
        ((3, 4, 5, 2), lambda i: (slice(1, None), Tensor([0, 1]), Tensor([[1], [2]]))),
        ((3, 4), lambda i: (None, Tensor([1, 0]), ..., None)),
        ((3, 4), lambda i: (0, Tensor([1, 0]))),
    ],
    ids=["row", "computed", "two", "behind a slice", "new axes", "number"],
)
def test_index_tensors_are_exported(shape, index, tmp_path):
    x, i = randoms(*shape), Tensor([0, -2], ms.int32)
    ms.export(lambda x, i: x[index(i)], x, i, file_name=str(tmp_path / "net"), file_format="MINDIR")
    cell = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    np.testing.assert_array_equal(cell(x, i).asnumpy(), x[index(i)].asnumpy())


def test_separated_index_tensors_raise(tmp_path):
    with pytest.raises(NotImplementedError, match="stand apart"):
        index = Tensor([0, 1]), slice(None), Tensor([1, 0])
        ms.export(lambda x: x[index], randoms(2, 3, 2), file_name=str(tmp_path / "net"), file_format="MINDIR")


# ---------------------------------------------------------------------- the first versions
def test_legacy_mindir_file_is_read(tmp_path):
    """In the format of r1.1 a text describes attributes, and operators are part of nodes."""
    kind = {"dims": [2, 3], "data_type": 1, "name": "shape1"}
    result_type = {"tensors": [kind], "ref_attr_name": "shape:shape1,"}
    transposed_type = {"tensors": [{**kind, "dims": [3, 2]}], "ref_attr_name": "shape:shape1,"}
    names = {"name": "input_names", "strings": [b"x", b"y"], "ref_attr_name": "scalar:List[value1,value2,],", "type": 8}
    order = {"name": "value", "ints": [1, 0], "ref_attr_name": "scalar:Tuple[value1,value2,],", "type": 7}
    two = np.float32(2).reshape(()).tobytes()
    number = {"name": "value", "tensors": [{"data_type": 1, "raw_data": two}], "ref_attr_name": "tensor:value0"}
    axis = {"name": "axis", "i": 1, "ref_attr_name": "scalar:value0", "type": 7}
    nodes = [
        {"output": ["perm"], "op_type": "Constant", "attribute": [order]},
        {"output": ["two"], "op_type": "Constant", "attribute": [number]},
        {"output": ["u"], "op_type": "Constant", "attribute": [{"name": "value", "ref_attr_name": "Monad:UMonad"}]},
        {"input": ["g:w", "u"], "output": ["g:l"], "op_type": "Load", "attribute": [result_type]},
        {"input": ["g:x", "g:l"], "output": ["g:a"], "op_type": "TensorAdd", "attribute": [result_type, names]},
        {"input": ["g:a", "two"], "output": ["g:m"], "op_type": "Mul", "attribute": [result_type, names]},
        {"input": ["g:m", "g:x"], "output": ["g:c"], "op_type": "Concat", "attribute": [
            {"tensors": [{**kind, "dims": [2, 6]}], "ref_attr_name": "shape:shape1,"}, axis]},
        {"input": ["g:m", "perm"], "output": ["g:t"], "op_type": "Transpose", "attribute": [transposed_type]},
    ]  # fmt: skip
    nodes[6]["input"] = ["g:both"]
    both = {"tensors": [kind, {**kind, "name": "shape2"}], "ref_attr_name": "shape:Tuple[shape1,shape2,],"}
    nodes.insert(6, {"input": ["g:m", "g:x"], "output": ["g:both"], "op_type": "MakeTuple", "attribute": [both]})
    nodes.append({"input": ["g:t", "g:c"], "output": ["g:r"], "op_type": "MakeTuple", "attribute": [both]})
    weight = {"name": "g:w", "dims": [2, 3], "data_type": 1, "raw_data": np.arange(6, dtype=np.float32).tobytes()}
    graph = {
        "node": nodes, "name": "g", "parameter": [weight], "output": [{"name": "g:r"}],
        "input": [{"name": "g:x", "tensor": [{"dims": [2, 3], "data_type": 1}]}],
    }  # fmt: skip
    model = {"ir_version": "0.1.0", "producer_name": "MindSpore", "model_version": "1.1.0", "graph": graph}
    (tmp_path / "a.mindir").write_bytes(protobuf.encode(mindir.SCHEMA, "Model", model))
    total = (X + np.arange(6, dtype=np.float32).reshape(2, 3)) * 2
    assert_close(
        results(nn.GraphCell(ms.load(str(tmp_path / "a.mindir"))), [X]),
        [total.T, np.concatenate([total, X], 1)],
    )
    axis["ref_attr_name"] = "riddle:value0"
    (tmp_path / "a.mindir").write_bytes(protobuf.encode(mindir.SCHEMA, "Model", model))
    with pytest.raises(BadFileError, match="an attribute is a 'riddle'"):
        ms.load(str(tmp_path / "a.mindir"))


def test_view_shows_a_file_with_unknown_operators(tmp_path):
    path = GOLDEN / "mindir" / "lenet.mindir"
    assert repr(ms.view(str(path))).startswith("GraphView(LeNet: ")

    def change(model):
        next(p for p in model["primitives"] if p["op_type"] == "MaxPool")["op_type"] = "Unheard"

    (tmp_path / "a.mindir").write_bytes(modify_golden("lenet", change))
    view = ms.view(tmp_path / "a.mindir")
    assert "Unheard" in {node.op for node in view.graph.all_nodes()}
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ms.view("missing.mindir")
    with pytest.raises(ValueError, match="end in"):
        ms.view("model.txt")


def test_load_mindir_returns_messages(tmp_path):
    model = ms.load_mindir(str(GOLDEN / "mindir" / "lenet.mindir"))
    assert model.producer_name == "MindSpore" and model.model_version == "2.7.1"
    assert model.graph.parameter[0].dims and model.graph.node[0].op_type
    assert model.user_info == []
    with pytest.raises(AttributeError, match="no field 'nodes'"):
        model.graph.nodes  # noqa: B018


# ---------------------------------------------------------------------- errors
def test_error_lists_all_operators_without_a_form(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(np.ones(3, np.float32)), name="weight")

        def construct(self, x):
            return ops.cross(x, self.weight) + ops.kron(x, x)[:3]

    with pytest.raises(NotImplementedError) as error:
        ms.export(Net(), Tensor(np.ones(3, np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert "Kron" in str(error.value) and "test_mindir.py" in str(error.value)
    assert not os.listdir(tmp_path)


def test_error_names_the_unsupported_attribute(tmp_path):
    net = nn.MaxPool2d(2, 2, data_format="NHWC")
    ones = Tensor(np.ones((1, 4, 4, 3), np.float32))
    with pytest.raises(NotImplementedError, match=r"MaxPool in .*: data_format='NHWC'"):
        ms.export(net, ones, file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (NotImplementedError, "Ascend's own", {"file_format": "AIR"}),
        (ValueError, "'file_format' should be", {"file_format": "PB"}),
        (ValueError, "no option 'enc_kye'", {"file_format": "MINDIR", "enc_kye": b"0" * 16}),
        (ValueError, "should be bytes, but got str", {"file_format": "MINDIR", "enc_key": "0" * 16}),
        (ValueError, "has no encryption of its own", {"file_format": "ONNX", "enc_key": b"0" * 16}),
        (ValueError, "STABLEHLO is not encrypted", {"file_format": "STABLEHLO", "enc_key": b"0" * 16}),
        (ValueError, "'quant_mode' should be", {"file_format": "MINDIR", "quant_mode": "auto"}),
    ],
)
def test_invalid_options_raise(error, message, options, tmp_path):
    with pytest.raises(error, match=message):
        ms.export(nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32)), file_name=str(tmp_path / "net"), **options)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("function", [ms.load, ms.load_mindir])
def test_invalid_files_raise(function, tmp_path):
    for name, message in (("net.onnx", "end in"), ("net.mindir", "does not exist")):
        with pytest.raises(ValueError, match=message):
            function(str(tmp_path / name))
    with pytest.raises(ValueError, match="string"):
        function(3)
    for data in (b"", b"hello, this is a text", b"\x0a\x05"):
        (tmp_path / "a.mindir").write_bytes(data)
        with pytest.raises(BadFileError, match=r"a\.mindir"):
            function(str(tmp_path / "a.mindir"))


def modify_golden(name, change):
    """Return the bytes of a golden file whose model was modified by `change`."""
    model = protobuf.decode(mindir.SCHEMA, "Model", memoryview((GOLDEN / "mindir" / f"{name}.mindir").read_bytes()))
    change(model)
    return protobuf.encode(mindir.SCHEMA, "Model", model)


def test_error_names_all_unknown_operators(tmp_path):
    def change(model):
        for primitive in model["primitives"]:
            if primitive["op_type"] in ("ReLU", "MatMul"):
                primitive["op_type"] += "Unheard"

    (tmp_path / "a.mindir").write_bytes(modify_golden("lenet", change))
    with pytest.raises(NotImplementedError, match=r"MatMulUnheard .*; ReLUUnheard "):
        ms.load(str(tmp_path / "a.mindir"))


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "", ".", "link"])
def test_weights_outside_the_folder_are_not_read(location, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(4096))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")

    def change(model):
        for weight in model["graph"]["parameter"]:
            external_data = {"location": location, "offset": 0, "length": len(weight.pop("raw_data"))}
            weight["external_data"] = external_data

    (folder / "a.mindir").write_bytes(modify_golden("lenet", change))
    with pytest.raises(BadFileError, match="not in the folder"):
        nn.GraphCell(ms.load(str(folder / "a.mindir")))


def test_huge_shape_allocates_no_memory(tmp_path):
    def change(model):
        model["graph"]["parameter"][0]["dims"] = [1 << 40, 1 << 20]

    (tmp_path / "a.mindir").write_bytes(modify_golden("lenet", change))
    with pytest.raises(BadFileError, match="damaged"):
        nn.GraphCell(ms.load(str(tmp_path / "a.mindir")))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_read_or_raise(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.mindir"
    for _ in range(60):
        path.write_bytes(mutate(rng.choice(FILES).read_bytes(), rng, mindir.SCHEMA))
        try:
            graph = ms.load(str(path))
            ir.text(graph)
            dict(graph.weights)
        except (BadFileError, NotImplementedError) as error:
            assert str(error)


# ---------------------------------------------------------------------- the table
def test_table_covers_functions_with_equal_arguments():
    operator_names = forms.coverage().present
    assert {"MatMul", "Softmax", "Conv2D", "StridedSlice", "LayerNorm", "TensorGetItem"} <= {
        k.lstrip("_") for k in operator_names
    }
    assert all(isinstance(declaration, str) and declaration.count("|") == 1 for declaration in FUNCTIONS.values())
    softmax = forms[ops.Softmax]
    assert isinstance(softmax, Function) and softmax.read_arguments([1.5, (0,)])["axis"] == (0,)


def test_control_flow_survives_writing_and_reading(networks):
    make, inputs = networks["loop"]
    graph = traced(make().set_train(False), *map(Tensor, inputs))
    model = protobuf.decode(
        mindir.SCHEMA, "Model", memoryview(protobuf.encode(mindir.SCHEMA, "Model", writer.model_of(graph)))
    )
    loaded = reader.Reader(model, "memory").graph()
    assert [n.op for n in loaded.all_nodes() if n.op in ("While", "Switch")] == ["While", "Switch"]
    while_node = next(n for n in loaded.nodes if n.op == "While")
    assert len(while_node.types) == 2  # x and turn; weights and rounds do not change
