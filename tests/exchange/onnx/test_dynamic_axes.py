"""ONNX models with open axes, as public files have them: shapes are computed in the graph and decide on reshapes."""

import numpy as np
import pytest
from runtime import require_onnx, require_onnxruntime, run

import msnb as ms
from msnb import Tensor, log
from msnb.exchange.onnx import read
from msnb.formats import onnx

MODES = {"GRAPH": ms.GRAPH_MODE, "PYNATIVE": ms.PYNATIVE_MODE}


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def constants(helper, **arrays):
    from onnx import numpy_helper

    return [numpy_helper.from_array(np.asarray(value), name) for name, value in arrays.items()]


def write(path, nodes, inputs, weights, opset=18):
    """Write a model with the output "y". `inputs` has shapes by name; None, a text or -1 leaves an axis open."""
    from onnx import TensorProto, helper, save

    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(
        nodes, "open", infos, [helper.make_value_info("y", helper.make_tensor_type_proto(1, None))]
    )
    graph.initializer.extend(weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)
    return str(path)


def split_heads(helper):
    """Reshape by arithmetic on the shape: (N, S, 8) -> (N, 2, S, 4)."""
    weights = constants(helper, zero=0, one=1, two=[2], four=[4], first=[0], second=[1])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "first", "second"], ["batch"]),
        helper.make_node("Gather", ["shape", "one"], ["length"]),
        helper.make_node("Cast", ["length"], ["length32"], to=6),
        helper.make_node("Cast", ["length32"], ["length64"], to=7),
        helper.make_node("Unsqueeze", ["length64", "first"], ["lengths"]),
        helper.make_node("Concat", ["batch", "lengths", "two", "four"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["split"]),
        helper.make_node("Transpose", ["split"], ["y"], perm=[0, 2, 1, 3]),
    ]
    return nodes, {"x": ["N", "S", 8]}, weights, [(1, 3, 8), (2, 5, 8)]


def add_positions(helper):
    """Add Range(S) / S, expanded to the shape of x, and a ConstantOfShape of half its length."""
    weights = constants(
        helper, zero=np.int64(0), one=np.int64(1), two=np.int64(2), axes=np.array([1]), last=np.array([2])
    )
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["length"], axis=0),
        helper.make_node("Range", ["zero", "length", "one"], ["range"]),
        helper.make_node("Cast", ["range"], ["floats"], to=1),
        helper.make_node("Cast", ["length"], ["count"], to=1),
        helper.make_node("Div", ["floats", "count"], ["positions"]),
        helper.make_node("Unsqueeze", ["positions", "last_axis"], ["columns"]),
        helper.make_node("Expand", ["columns", "shape"], ["expanded"]),
        helper.make_node("Add", ["x", "expanded"], ["sum"]),
        helper.make_node("Div", ["length", "two"], ["half"]),
        helper.make_node("Add", ["half", "one"], ["more"]),
        helper.make_node("Unsqueeze", ["more", "first_axis"], ["rows"]),
        helper.make_node("Shape", ["x"], ["feature"], start=2),
        helper.make_node("Concat", ["rows", "feature"], ["pad_shape"], axis=0),
        helper.make_node("ConstantOfShape", ["pad_shape"], ["pad"]),
        helper.make_node("Shape", ["x"], ["batch"], end=1),
        helper.make_node("Concat", ["batch", "pad_shape"], ["pad_batch"], axis=0),
        helper.make_node("Expand", ["pad", "pad_batch"], ["pads"]),
        helper.make_node("Concat", ["sum", "pads"], ["y"], axis=1),
    ]
    weights += constants(helper, last_axis=np.array([1]), first_axis=np.array([0]))
    return nodes, {"x": ["N", "S", 4]}, weights, [(1, 4, 4), (3, 7, 4)]


def enlarge(helper):
    """Resize to the size of another input."""
    weights = constants(helper, two=np.array([2]), four=np.array([4]), none=np.zeros(0, np.float32))
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], end=2),
        helper.make_node("Shape", ["to"], ["whole"]),
        helper.make_node("Slice", ["whole", "two", "four"], ["size"]),
        helper.make_node("Concat", ["shape", "size"], ["sizes"], axis=0),
        helper.make_node("Resize", ["x", "none", "none", "sizes"], ["y"], mode="linear"),
    ]
    return nodes, {"x": [None, 2, "h", "w"], "to": [None, 1, "H", "W"]}, weights, [(1, 2, 3, 4), (1, 1, 6, 8)]


MODELS = {"split_heads": split_heads, "add_positions": add_positions}


def check(path, mode, *inputs):
    require_onnxruntime()
    expected = run(onnx.load(path), *inputs)[0]
    ms.set_context(mode=MODES[mode])
    np.testing.assert_allclose(read.load_onnx(path)(*map(Tensor, inputs)).asnumpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MODELS)
def test_arithmetic_on_shapes_runs_in_both_modes(name, mode, tmp_path):
    require_onnx()
    from onnx import helper

    nodes, inputs, weights, shapes = MODELS[name](helper)
    path = write(tmp_path / "x.onnx", nodes, inputs, weights)
    for shape in shapes:
        check(path, mode, random(*shape))


@pytest.mark.parametrize("mode", MODES)
def test_resize_to_the_size_of_an_input(mode, tmp_path):
    require_onnx()
    from onnx import helper

    nodes, inputs, weights, shapes = enlarge(helper)
    check(write(tmp_path / "x.onnx", nodes, inputs, weights), mode, *(random(*shape) for shape in shapes))


@pytest.mark.parametrize("mode", MODES)
def test_an_axis_of_length_minus_one_is_open(mode, tmp_path):
    require_onnx()
    from onnx import helper

    vectors = {name: np.abs(random(3 + i)[:3]) for i, name in enumerate(("scale", "bias", "mean", "var"))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"], momentum=0.7),
        helper.make_node("GlobalAveragePool", ["n"], ["y"]),
    ]
    weights = constants(helper, w=random(3, 2, 3, 3), **vectors)
    path = write(tmp_path / "x.onnx", nodes, {"x": [-1, 2, -1, -1]}, weights)
    for shape in ((1, 2, 5, 6), (3, 2, 8, 4)):
        check(path, mode, random(*shape))


def test_attributes_without_effect_are_known(tmp_path, monkeypatch):
    require_onnx()
    from onnx import helper

    messages = []
    monkeypatch.setattr(log, "once", messages.append)
    nodes = [
        helper.make_node("BatchNormalization", ["x", "a", "a", "a", "a"], ["n"], momentum=0.9),
        helper.make_node("ReduceSum", ["n", "axes"], ["s"], noop_with_empty_axes=0),
        helper.make_node("ReduceMean", ["s", "axes"], ["y"], noop_with_empty_axes=1),
    ]
    weights = constants(helper, a=np.ones(2, np.float32), axes=np.array([1]))
    net = read.load_onnx(write(tmp_path / "x.onnx", nodes, {"x": ["N", 2]}, weights))
    assert net(Tensor(random(3, 2))).shape == (3, 1) and not messages


def test_attributes_with_their_default_are_known(tmp_path, monkeypatch):
    """Exporters write attributes that have no effect in the mode of their operator."""
    require_onnx()
    from onnx import helper

    messages = []
    monkeypatch.setattr(log, "once", messages.append)
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], storage_order=0),
        helper.make_node(
            "Resize",
            ["p", "", "twice"],
            ["r"],
            mode="linear",
            extrapolation_value=0.0,
            keep_aspect_ratio_policy="stretch",
        ),
        helper.make_node("Concat", ["r"], ["c"], axis=1),
        helper.make_node("LayerNormalization", ["c", "scale"], ["y"], stash_type=1),
    ]
    weights = constants(helper, twice=np.array([1, 1, 2, 2], np.float32), scale=np.ones(6, np.float32))
    path = write(tmp_path / "x.onnx", nodes, {"x": [1, 2, 4, 4]}, weights)
    check(path, "GRAPH", random(1, 2, 4, 4))
    assert not messages
    nodes[3] = helper.make_node("LayerNormalization", ["c", "scale"], ["y"], stash_type=10)
    read.load_onnx(write(tmp_path / "x.onnx", nodes, {"x": [1, 2, 4, 4]}, weights))
    assert len(messages) == 1 and "'stash_type'" in messages[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_branch_that_does_not_fit_gives_nan(mode, tmp_path, monkeypatch):
    """Branches for inputs of 8 and of 32 features, as a model for two sampling rates has them."""
    require_onnx()
    from onnx import TensorProto, helper

    messages = []
    monkeypatch.setattr(log, "once", messages.append)

    def make_branch(features):
        nodes = [helper.make_node("MatMul", ["x", f"w{features}"], [f"out{features}"])]
        kind = helper.make_tensor_value_info(f"out{features}", TensorProto.FLOAT, None)
        return helper.make_graph(nodes, f"with{features}", [], [kind])

    nodes = [
        helper.make_node("ReduceMax", ["rate"], ["largest"], keepdims=0),
        helper.make_node("Greater", ["largest", "limit"], ["is_wide"]),
        helper.make_node("If", ["is_wide"], ["y"], then_branch=make_branch(32), else_branch=make_branch(8)),
    ]
    weights = constants(helper, limit=np.float32(10), w8=random(8, 2), w32=random(32, 2))
    path = write(tmp_path / "x.onnx", nodes, {"x": ["N", "F"], "rate": [1]}, weights)
    for rate, features in ((8, 8), (16, 32)):
        check(path, mode, random(2, features), np.array([rate], np.float32))
    assert messages and "one branch of the model does not fit inputs of these shapes" in messages[0]
    net = read.load_onnx(path)
    assert np.isnan(net(Tensor(random(2, 32)), Tensor(np.array([8], np.float32))).asnumpy()).all()


@pytest.mark.parametrize("mode", MODES)
def test_weights_in_branches_become_parameters(mode, tmp_path):
    """An initializer, a constant and a constant further inside. Two branches have a name in common."""
    require_onnx()
    from onnx import TensorProto, helper, numpy_helper

    def make_graph(nodes, weights=()):
        return helper.make_graph(
            nodes, "branch", [], [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)], weights
        )

    def make_constant(name, value):
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value)))

    inner = [
        make_graph([make_constant("shift", random(2)), helper.make_node("Add", ["m", "shift"], ["inner1"])]),
        make_graph([make_constant("same", random(2)), helper.make_node("Mul", ["m", "same"], ["inner2"])]),
    ]
    first = [
        make_constant("same", random(2)),
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Add", ["a", "same"], ["out1"]),
    ]
    second = [
        make_constant("v", random(3, 2)),
        make_constant("two", np.float32(2)),
        helper.make_node("MatMul", ["x", "v"], ["b"]),
        helper.make_node("Mul", ["b", "two"], ["m"]),
        helper.make_node("If", ["is_high"], ["out2"], then_branch=inner[0], else_branch=inner[1]),
    ]
    branches = make_graph(first, [numpy_helper.from_array(random(3, 2), "w")]), make_graph(second)
    nodes = [
        helper.make_node("ReduceMax", ["rate"], ["largest"], keepdims=0),
        helper.make_node("Greater", ["largest", "low"], ["is_wide"]),
        helper.make_node("Greater", ["largest", "high"], ["is_high"]),
        helper.make_node("If", ["is_wide"], ["y"], then_branch=branches[0], else_branch=branches[1]),
    ]
    weights = constants(helper, low=np.float32(10), high=np.float32(5))
    path = write(tmp_path / "x.onnx", nodes, {"x": ["N", 3], "rate": [1]}, weights)
    for rate in (2, 7, 12):
        check(path, mode, random(2, 3), np.array([rate], np.float32))
    net = read.load_onnx(path)
    assert {"w", "v", "shift"} == {p.name for p in net.get_parameters()} - {"low", "high"}


def test_a_cell_has_the_texts_of_its_file(tmp_path):
    require_onnx()
    import onnx
    from onnx import helper

    path = write(tmp_path / "x.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": ["N", 2]}, [])
    model = onnx.load(path)
    helper.set_model_props(model, {"character": "北\n京", "unit": ""})
    onnx.save(model, path)
    assert read.load_onnx(path).metadata == {"character": "北\n京", "unit": ""}


def lines_of_text(helper, height):
    """Collapse the height of a picture, `height`, by a fixed reshape."""
    weights = constants(helper, target=np.array([0, 3, -1]), axes=np.array([0]), flat=np.array([0, 3 * height, -1]))
    nodes = [
        helper.make_node("Reshape", ["x", "flat"], ["rows"]),
        helper.make_node("Reshape", ["rows", "target"], ["y"]),
    ]
    return nodes, {"x": ["N", 3, "H", "W"]}, weights


@pytest.mark.parametrize("mode", MODES)
def test_a_height_that_the_weights_imply_is_tried(mode, tmp_path):
    require_onnx()
    from onnx import helper

    nodes, inputs, weights = lines_of_text(helper, 48)
    check(write(tmp_path / "x.onnx", nodes, inputs, weights), mode, random(2, 3, 48, 10))


def test_shapes_are_asked_for_where_no_length_fits(tmp_path):
    require_onnx()
    from onnx import helper

    nodes, inputs, weights = lines_of_text(helper, 41)
    nodes[0] = helper.make_node("MatMul", ["x", "wide"], ["rows"])
    nodes[1] = helper.make_node("Relu", ["rows"], ["y"])
    path = write(tmp_path / "x.onnx", nodes, inputs, weights + constants(helper, wide=random(41, 2)))
    with pytest.raises(ValueError, match=r"load_onnx\(path, shapes=\{'x': \(64, 3, 64, 64\)\}\)"):
        read.load_onnx(path)
    x = random(2, 3, 5, 41)
    result = read.load_onnx(path, shapes={"x": x.shape})(Tensor(x)).asnumpy()
    np.testing.assert_allclose(result, run(onnx.load(path), x)[0], rtol=1e-5, atol=1e-5)
