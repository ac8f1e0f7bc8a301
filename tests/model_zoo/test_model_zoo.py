"""`msnb.model_zoo`: names of Parameters, weights of packages and folders, and MindSpore Hub."""

import ast
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb
import msnb.alias
from msnb import Tensor, model_zoo
from msnb.model_zoo import _load
from msnb.nn.utils import no_init_parameters
from msnb.train.weights import align, rules, save
from msnb.train.weights.slots import list_slots

GOLDEN = json.loads(gzip.decompress((Path(__file__).parent.parent / "golden" / "model_zoo.json.gz").read_bytes()))
SMALL = {"bert_base": {"layers": 2}, "gpt2": {"layers": 2}}
TORCH = {
    **SMALL,
    "vgg16_bn": {"batch_norm": True},
    "transformer": {"vocab_size": 100, "size": 64, "layers": 2, "heads": 4, "inner": 128},
}
TINY = {"vocab_size": 100, "size": 64, "layers": 2, "heads": 4, "max_length": 16}
MINDSPORE = {"bert_base": TINY, "gpt2": TINY, "transformer": TINY | {"inner": 128}}


def create(name, options):
    """Return a network whose values are not computed."""
    with no_init_parameters():
        return _load.NETWORKS[name.partition(" ")[0].removesuffix("_bn")](**options)


@pytest.mark.parametrize("name", GOLDEN["torch"])
def test_names_and_shapes_of_torch_load(name):
    net = create(name, TORCH.get(name, {}))
    arrays = {key: np.broadcast_to(np.float32(0), shape) for key, shape in GOLDEN["torch"][name]}
    arrays = align.split_packed_arrays(arrays, net.weight_rules)
    alignment = align.align(list_slots(net), arrays, net.weight_rules)
    assert not align.describe_problems(alignment, arrays, name)
    assert len(alignment.matches) == len(list(net.get_parameters()))
    assert align.GUESSED not in {match.how for match in alignment.matches}


SAVED = [name for name in GOLDEN["torch"] if name not in ("gpt2", "transformer", "efficientnet_lite0 of PyPI")]


@pytest.mark.parametrize("name", SAVED)
def test_weights_are_saved_with_the_names_of_torch(name, tmp_path):
    net = create(name, TORCH.get(name, {}))
    arrays = save._list_torch_arrays(net)
    shapes = {key: list(array.shape) for key, array in arrays.items()}
    assert shapes == {
        key: shape
        for key, shape in GOLDEN["torch"][name]
        if not key.startswith("aux") and not key.endswith("num_batches_tracked")
    }
    if name in ("resnet18", "mobilenet_v3_small"):
        msnb.save_weights(net, tmp_path / "net.safetensors", names="torch")
        table = msnb.load_weights(create(name, {}), tmp_path / "net.safetensors")
        assert table.is_complete and len(table) == len(shapes)


def test_rules_without_an_inverse_raise(tmp_path):
    with pytest.raises(ValueError, match=r"The rule .*c_attn.* has no inverse"):
        msnb.save_weights(create("gpt2", TINY), tmp_path / "net.npz", names="torch")
    assert rules.invert_rules([(r"^a\.(\d+)\.(x|y)", r"\2.b\1."), (r"^c\.", None), (r"^module\.", "")]) == [
        (r"^(x|y)\.b(\d+)\.", r"a.\2.\1")
    ]
    for rule in ((r"a\d", "b"), (r"a(\d)", "b"), (r"a.", "b"), (r"(a)(b)", r"\1")):
        with pytest.raises(ValueError, match="has no inverse"):
            rules.invert_rules([rule])
    with pytest.raises(ValueError, match="no list have no inverse"):
        rules.invert_rules(str)


@pytest.mark.parametrize("name", GOLDEN["mindspore"])
def test_names_and_shapes_are_those_of_mindspores_zoo(name):
    options = dict(MINDSPORE.get(name, {}))
    if "variant" in _load.get_options(name):
        options["variant"] = "mindspore"
    net = create(name, options)
    own = sorted((parameter.name, tuple(parameter.shape)) for parameter in net.get_parameters())
    assert own == sorted((key, tuple(shape)) for key, shape in GOLDEN["mindspore"][name])
    rules = getattr(net, "weight_rules", None) or []
    arrays = {key: np.broadcast_to(np.float32(0), shape) for key, shape in GOLDEN["mindspore"][name]}
    alignment = align.align(list_slots(net), arrays, rules)
    assert {match.how for match in alignment.matches} == {align.BY_NAME}, "a rule changes a name of MindSpore"


def test_the_files_are_short():
    folder = Path(_load.__file__).parent / "networks"
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 150 for path in folder.glob("*.py"))


IMAGES = {
    "alexnet": 224,
    "resnet18": 32,
    "resnet50": 32,
    "mobilenet_v2": 32,
    "mobilenet_v3_small": 32,
    "googlenet": 32,
    "efficientnet_lite0": 32,
}


@pytest.mark.parametrize("variant", ["torch", "mindspore"])
@pytest.mark.parametrize("name", IMAGES)
def test_networks_compute_logits(name, variant):
    options = {"variant": variant} if "variant" in _load.get_options(name) else {}
    if variant == "mindspore" and not options:
        return
    net = _load.NETWORKS[name](num_classes=3, **options)
    assert net(Tensor(np.ones((1, 3, IMAGES[name], IMAGES[name]), np.float32))).shape == (1, 3)


def test_a_position_sees_no_later_tokens():
    ids, mask = np.arange(24).reshape(2, 12).astype(np.int32), Tensor(np.ones((2, 12), np.float32))
    later = np.where(np.arange(12) < 6, ids, 7).astype(np.int32)
    gpt = model_zoo.Gpt(**TINY)
    one, two = (gpt(Tensor(x), mask).asnumpy() for x in (ids, later))
    np.testing.assert_allclose(one[:, :6], two[:, :6], atol=1e-5)
    assert np.abs(one[:, 6:] - two[:, 6:]).max() > 1e-3
    transformer = model_zoo.Transformer(**TINY, inner=128)
    one, two = (transformer(Tensor(ids), mask, Tensor(x), mask).asnumpy() for x in (ids, later))
    np.testing.assert_allclose(one[:, :6], two[:, :6], atol=1e-4)


def test_padding_changes_nothing():
    bert = model_zoo.Bert(**TINY)
    ids, zeros = np.arange(12).reshape(1, 12).astype(np.int32), np.zeros((1, 12), np.int32)
    mask = (np.arange(12) < 7).astype(np.float32)[None]
    results = [
        bert(Tensor(x), Tensor(zeros), Tensor(mask)) for x in (ids, np.where(mask > 0, ids, 99).astype(np.int32))
    ]
    np.testing.assert_allclose(results[0][0].asnumpy()[:, :7], results[1][0].asnumpy()[:, :7], atol=1e-5)
    np.testing.assert_allclose(results[0][1].asnumpy(), results[1][1].asnumpy(), atol=1e-5)


def test_lenet_reads_the_digits():
    sys.path.insert(0, str(Path(__file__).parent.parent / "golden"))
    from make_lenet5_digits import read_digits

    images, labels = read_digits("test")
    net = model_zoo.load("lenet5", pretrained=True)
    assert (net(Tensor(images)).asnumpy().argmax(1) == labels).mean() > 0.99


def test_weights_come_from_a_folder(tmp_path, monkeypatch):
    net = model_zoo.mobilenet_v3_small(num_classes=4)
    msnb.save_weights(net, tmp_path / "mobilenet_v3_small-0a1b.safetensors")
    monkeypatch.setenv("MSNB_WEIGHTS", str(tmp_path))
    loaded = model_zoo.load("mobilenet_v3_small", pretrained=True, num_classes=4)
    np.testing.assert_array_equal(loaded.output.weight.asnumpy(), net.output.weight.asnumpy())
    other = model_zoo.load("mobilenet_v3_small", source=tmp_path, strict=False, num_classes=5)
    assert other.output.weight.shape[0] == 5
    first, key = next(iter(net.get_parameters())), "features.0.weight"
    np.testing.assert_array_equal({p.name: p for p in other.get_parameters()}[key].asnumpy(), first.asnumpy())
    (tmp_path / "mobilenet_v3_small").mkdir()
    (tmp_path / "mobilenet_v3_small-0a1b.safetensors").rename(tmp_path / "mobilenet_v3_small" / "model.safetensors")
    assert model_zoo.load("mobilenet_v3_small", pretrained=True, num_classes=4).output.weight.shape[0] == 4


def test_a_checkpoint_selects_the_variant_of_mindspore(tmp_path):
    net = model_zoo.mobilenet_v3_small(variant="mindspore")
    msnb.save_weights(net, tmp_path / "net.ckpt")
    assert model_zoo.load("mobilenet_v3_small", source=tmp_path / "net.ckpt").output.in_channels == 1280


def test_errors_teach(tmp_path, monkeypatch):
    monkeypatch.delenv("MSNB_WEIGHTS", raising=False)
    with pytest.raises(ValueError, match=r"no network 'resnet'. Did you mean 'resnet50'\? It has alexnet"):
        model_zoo.load("resnet")
    with pytest.raises(FileNotFoundError, match="MSNB_WEIGHTS=FOLDER names a folder with resnet50"):
        model_zoo.load("resnet50", pretrained=True)
    with pytest.raises(FileNotFoundError, match="no file or folder 'nowhere.pth'"):
        model_zoo.load("resnet50", source="nowhere.pth")
    monkeypatch.setitem(_load._PACKAGES, "resnet50", _load._Package("some-weights", "no_such_module", "*.pth"))
    with pytest.raises(FileNotFoundError, match="pip install some-weights"):
        model_zoo.load("resnet50", pretrained=True)
    for ending in ("pth", "ckpt"):
        (tmp_path / f"resnet50.{ending}").touch()
    with pytest.raises(ValueError, match="several files for 'resnet50': resnet50.ckpt, resnet50.pth"):
        model_zoo.load("resnet50", source=tmp_path)
    with pytest.raises(ValueError, match="should be 'torch' or 'mindspore', but got 'r1.1'"):
        model_zoo.resnet18(variant="r1.1")


HUB = {
    "mindspore/1.1/mobilenetv2_imagenet2012": "MobileNetV2",
    "mindspore/ascend/1.0/googlenet_v1_cifar10": "GoogLeNet",
    "resnet50_cifar10": "ResNet",
    "mindspore/1.10/lenet_mnist": "LeNet5",
}


@pytest.mark.parametrize("name", HUB)
def test_mindspore_hub_answers_from_the_zoo(name):
    msnb.alias.install(warn=False)
    try:
        import mindspore_hub as hub

        net = hub.load(name, pretrained=False, num_classes=10)
        assert type(net).__name__ == HUB[name] and hub.load is model_zoo.hub.load
        with pytest.raises(ValueError, match="no network 'yolo"):
            hub.load("yolo_coco")
    finally:
        msnb.alias.uninstall()
    assert "mindspore_hub" not in sys.modules


@pytest.mark.parametrize(
    "line", ["import mindspore_hub as hub", "from mindspore_hub import load", "import mindspore_hub"]
)
def test_a_cell_imports_mindspore_hub(line):
    from msnb.notebook.kernel.rewrite_imports import Imports

    names = {}
    exec(compile(ast.fix_missing_locations(Imports(1).visit(ast.parse(line))), "cell", "exec"), names)
    bound = next(value for name, value in names.items() if name in ("hub", "load", "mindspore_hub"))
    assert getattr(bound, "load", bound) is model_zoo.hub.load


def test_a_rule_with_several_texts_splits_an_array():
    net = msnb.nn.SequentialCell(*(msnb.nn.Dense(4, 4) for _ in range(2)))
    weight, bias = np.arange(32, dtype=np.float32).reshape(8, 4), np.arange(8, dtype=np.float32)
    rules = [(r"^in_proj_(\w+)$", (r"0.\1", r"1.\1"))]
    table = msnb.load_weights(net, {"in_proj_weight": weight, "in_proj_bias": bias}, rename=rules)
    assert table.is_complete and {row.source for row in table} == {
        f"in_proj_{kind} piece {index}" for kind in ("weight", "bias") for index in (0, 1)
    }
    np.testing.assert_array_equal(net[1].weight.asnumpy(), weight[4:])
    msnb.load_weights(net, {"in_proj_weight": weight.T, "in_proj_bias": bias}, rename=rules)
    np.testing.assert_array_equal(net[1].weight.asnumpy(), weight[4:])
    with pytest.raises(ValueError, match="splits 'in_proj_bias' into 2 equal pieces, but its shape is \\(7,\\)"):
        msnb.load_weights(net, {"in_proj_weight": weight, "in_proj_bias": bias[:7]}, rename=rules)
