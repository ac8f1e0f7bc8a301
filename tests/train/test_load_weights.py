"""`load_weights` and `save_weights`: names, layouts, errors and the table."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, nn
from msnb.formats import onnx
from msnb.notebook.display.formatters import mime


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


class Net(nn.Cell):
    def __init__(self, classes=2):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3, has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.norm = nn.LayerNorm((4,))
        self.table = nn.Embedding(5, 4)
        self.act = nn.PReLU(4)
        self.fc = nn.Dense(4, classes)


def make_torch_arrays():
    return {
        "conv.weight": random(4, 3, 3),
        "conv.bias": random(4),
        "bn.weight": random(1, 4)[0],
        "bn.bias": random(2, 4)[0],
        "bn.running_mean": random(3, 4)[0],
        "bn.running_var": random(4, 4)[0] ** 2,
        "bn.num_batches_tracked": np.array(7),
        "norm.weight": random(5, 4)[0],
        "norm.bias": random(6, 4)[0],
        "table.weight": random(5, 4),
        "act.weight": random(7, 4)[0] ** 2,
        "fc.weight": random(2, 4),
        "fc.bias": random(2),
    }


def check(net, arrays):
    np.testing.assert_array_equal(net.conv.weight.asnumpy()[:, :, 0], arrays["conv.weight"])
    np.testing.assert_array_equal(net.bn.gamma.asnumpy(), arrays["bn.weight"])
    np.testing.assert_array_equal(net.bn.beta.asnumpy(), arrays["bn.bias"])
    np.testing.assert_array_equal(net.bn.moving_mean.asnumpy(), arrays["bn.running_mean"])
    np.testing.assert_array_equal(net.bn.moving_variance.asnumpy(), arrays["bn.running_var"])
    np.testing.assert_array_equal(net.norm.gamma.asnumpy(), arrays["norm.weight"])
    np.testing.assert_array_equal(net.table.embedding_table.asnumpy(), arrays["table.weight"])
    np.testing.assert_array_equal(net.act.w.asnumpy(), arrays["act.weight"])
    np.testing.assert_array_equal(net.fc.weight.asnumpy(), arrays["fc.weight"])


@pytest.mark.parametrize("prefix", ["", "module.", "a.b."])
def test_names_by_the_kind_of_cell(prefix):
    arrays = make_torch_arrays()
    net = Net()
    table = msnb.load_weights(net, {prefix + name: array for name, array in arrays.items()})
    check(net, arrays)
    assert table.is_complete and not table.has_guesses and table.loaded == 12 and len(table) == 13
    (gamma,) = [row for row in table if row.parameter == net.bn.gamma.name]
    assert gamma.source == f"{prefix}bn.weight" and gamma.how.startswith("kind of Cell")
    assert table.rows[-1].how == "left out: MindSpore has no such counter"


@pytest.mark.parametrize("ending", ["safetensors", "npz", "ckpt"])
@pytest.mark.parametrize("names", ["torch", "mindspore"])
def test_saved_weights_are_loaded(tmp_path, ending, names):
    net, other = Net(), Net()
    msnb.load_weights(net, make_torch_arrays())
    msnb.save_weights(net, tmp_path / f"x.{ending}", names=names)
    assert msnb.load_weights(other, str(tmp_path / f"x.{ending}")).is_complete
    check(other, make_torch_arrays())


def test_torch_names_of_a_saved_file(tmp_path):
    msnb.save_weights(Net(), tmp_path / "x.npz", names="torch")
    with np.load(tmp_path / "x.npz") as file:
        shapes = {name: file[name].shape for name in file.files}
    arrays = make_torch_arrays()
    del arrays["bn.num_batches_tracked"]
    assert shapes == {name: array.shape for name, array in arrays.items()}


def test_initializers_of_an_onnx_file(tmp_path):
    weight, bias = random(2, 3), random(2)
    graph = {"name": "g", "initializer": [onnx.tensor(weight, "fc.weight"), onnx.tensor(bias, "fc.bias")]}
    onnx.save({"ir_version": 8, "opset_import": [{"domain": "", "version": 13}], "graph": graph}, tmp_path / "x.onnx")
    net = nn.SequentialCell(nn.Dense(3, 2))
    msnb.load_weights(net, tmp_path / "x.onnx", rename={"fc": "0"})
    np.testing.assert_array_equal(net[0].weight.asnumpy(), weight)


@pytest.mark.parametrize("directions", [1, 2])
def test_packed_lstm_has_torchs_names(tmp_path, directions):
    net = nn.LSTM(3, 5, 2, bidirectional=directions == 2)
    names = [f"l{layer}{way}" for layer in (0, 1) for way in ("", "_reverse")[:directions]]
    arrays = {}
    for end in names:
        arrays[f"weight_ih_{end}"] = random(20, 3 if "l0" in end else 5 * directions)
        arrays[f"weight_hh_{end}"] = random(20, 5)
        arrays[f"bias_ih_{end}"], arrays[f"bias_hh_{end}"] = random(20), random(20)
    msnb.load_weights(net, arrays)
    x = Tensor(random(4, 1, 3))
    zeros = Tensor(np.zeros((2 * directions, 1, 5), np.float32))
    outputs, (h, c) = net(x, (zeros, zeros))
    if directions == 1:
        np.testing.assert_allclose(outputs.asnumpy(), compute_lstm(arrays, x.asnumpy()), atol=1e-5)
    msnb.save_weights(net, tmp_path / "x.safetensors", names="torch")
    again = nn.LSTM(3, 5, 2, bidirectional=directions == 2)
    msnb.load_weights(again, tmp_path / "x.safetensors")
    np.testing.assert_array_equal(again.weight.asnumpy(), net.weight.asnumpy())


def compute_lstm(arrays, x):
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    for layer in (0, 1):
        w, v, b, d = (arrays[f"{kind}_l{layer}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        h = c = np.zeros((x.shape[1], 5), np.float32)
        outputs = []
        for step in x:
            i, f, g, o = np.split(step @ w.T + h @ v.T + b + d, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            outputs.append(h)
        x = np.stack(outputs)
    return x


def test_transposed_matrices_and_the_square_ones_beside_them():
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.attn = Proj(4, 4)
            self.mlp = Proj(8, 4)
            self.head = nn.Dense(4, 4, has_bias=False)

    class Proj(nn.Cell):
        def __init__(self, features, outputs):
            super().__init__()
            self.c_proj = nn.Dense(features, outputs, has_bias=False)

    arrays = {"attn.c_proj.weight": random(4, 4), "mlp.c_proj.weight": random(8, 4), "head.weight": random(4, 4)}
    net = Block()
    table = msnb.load_weights(net, arrays)
    np.testing.assert_array_equal(net.attn.c_proj.weight.asnumpy(), arrays["attn.c_proj.weight"].T)
    np.testing.assert_array_equal(net.mlp.c_proj.weight.asnumpy(), arrays["mlp.c_proj.weight"].T)
    np.testing.assert_array_equal(net.head.weight.asnumpy(), arrays["head.weight"])
    assert [row.how.endswith("transposed") for row in table] == [True, True, False]


RULES = {
    "dict": {"0": "fc", "1": "norm"},
    "list": [(r"^0\.", "fc."), (r"^1\.", "norm.")],
    "function": lambda name: name.replace("0.", "fc.").replace("1.", "norm."),
}


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 4)
        self.norm = nn.LayerNorm((4,))


SMALL = {"0.weight": random(4, 3), "0.bias": random(4), "1.weight": random(9, 4)[0], "1.bias": random(8, 4)[1]}


@pytest.mark.parametrize("kind", RULES)
def test_rename(kind):
    net = Small()
    table = msnb.load_weights(net, SMALL, rename=RULES[kind])
    assert {row.how for row in table} == {"rename"} and table.is_complete
    np.testing.assert_array_equal(net.norm.gamma.asnumpy(), SMALL["1.weight"])


def test_order_is_a_guess(caplog):
    net = Small()
    table = msnb.load_weights(net, SMALL)
    assert table.has_guesses and "guess" in repr(table) and "a guess" in table.totals()
    np.testing.assert_array_equal(net.norm.beta.asnumpy(), SMALL["1.bias"])
    with pytest.raises(ValueError, match="has no values in the file"):
        msnb.load_weights(net, {**SMALL, "2.weight": random(3)})
    with pytest.raises(ValueError, match="nothing was loaded"):
        msnb.load_weights(net, {**SMALL, "0.weight": random(4, 5)})


def test_errors_name_what_is_left_and_change_nothing():
    net, arrays = Net(3), make_torch_arrays()
    arrays["other.scale"] = arrays.pop("norm.weight")
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    with pytest.raises(ValueError) as error:
        msnb.load_weights(net, arrays)
    text = str(error.value)
    assert "'fc.weight' has shape (3, 4) in the network, but the file has 'fc.weight' (2, 4)" in text
    assert "'norm.gamma' (4,) has no values in the file; the nearest names there: 'other.scale'" in text
    assert "'other.scale' (4,) of the file has no Parameter" in text and "strict=False" in text
    assert all(np.array_equal(a, p.asnumpy()) for a, p in zip(before, net.get_parameters(), strict=True))
    table = msnb.load_weights(net, arrays, strict=False)
    assert not table.is_complete
    np.testing.assert_array_equal(net.bn.gamma.asnumpy(), arrays["bn.weight"])
    assert any(row.how == "shape does not fit fc.weight" for row in table)


def test_wrong_arguments(tmp_path):
    net = Small()
    for rename in (5, [("[", "x")], lambda name: 3):
        with pytest.raises((TypeError, ValueError)):
            msnb.load_weights(net, SMALL, rename=rename)
    with pytest.raises(ValueError, match="maps both"):
        msnb.load_weights(net, SMALL, rename=lambda name: "x")
    with pytest.raises(TypeError, match="'source'"):
        msnb.load_weights(net, 5)
    with pytest.raises(TypeError, match="'net'"):
        msnb.load_weights(SMALL, SMALL)
    with pytest.raises(ValueError, match=r"\.pth"):
        msnb.load_weights(net, tmp_path / "x.h5")
    with pytest.raises(ValueError, match=r"\.safetensors"):
        msnb.save_weights(net, tmp_path / "x.pt")
    with pytest.raises(ValueError, match="cannot hold"):
        msnb.load_weights(net, {**SMALL, "0.bias": np.zeros(4, np.complex64)}, rename=RULES["dict"])


def test_shared_parameters():
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 4)
            self.head = nn.Dense(4, 5, has_bias=False)
            self.head.weight = self.table.embedding_table

    arrays = {"table.weight": random(5, 4), "head.weight": random(5, 4)}
    table = msnb.load_weights(Tied(), arrays)
    assert table.is_complete and table.rows[-1].how == "left out: a shared Parameter"


def test_table_as_html():
    kind, html = mime(msnb.load_weights(Small(), SMALL, rename=RULES["dict"]))
    assert kind == "text/html" and "norm.gamma" in html and "Matched by" in html


def test_other_element_types():
    import ml_dtypes

    net = Small()
    arrays = {name: array.astype(ml_dtypes.bfloat16) for name, array in SMALL.items()}
    msnb.load_weights(net, arrays, rename=RULES["dict"])
    np.testing.assert_array_equal(net.fc.weight.asnumpy(), arrays["0.weight"].astype(np.float32))


def test_an_npz_file_refuses_bfloat16_and_names_the_files_that_hold_it(tmp_path):
    net = nn.Cell()
    net.weight = msnb.Parameter(Tensor(np.ones((2, 2)), msnb.bfloat16), name="weight")
    with pytest.raises(ValueError, match="bfloat16, which an .npz file cannot hold; .safetensors and .ckpt can"):
        msnb.save_weights(net, tmp_path / "net.npz")
    assert not (tmp_path / "net.npz").exists()
