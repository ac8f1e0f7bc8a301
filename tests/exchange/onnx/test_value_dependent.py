"""ONNX models whose shapes depend on values, as those of object detectors do, and samples of image regions."""

import numpy as np
import pytest
from runtime import require_onnx, require_onnxruntime, run
from test_dynamic_axes import MODES, constants, random, write

import msnb as ms
from msnb import Tensor, nn
from msnb.exchange.onnx import backend, read
from msnb.formats import onnx


def detect(helper, steps=1):
    """Score 6 boxes by a network with `steps` additions, and return the boxes that non-maximum suppression selects."""
    corners = np.abs(random(6, 2)).astype(np.float32)
    weights = constants(
        helper,
        boxes=np.concatenate([corners, corners + 1], 1)[None],
        most=np.array([4]),
        overlap=np.array([0.3], np.float32),
        score=np.array([0.5], np.float32),
        last=np.array([2]),
        first=np.array([0]),
    )
    nodes = [
        *(helper.make_node("Add", [f"x{i}" if i else "x"] * 2, [f"x{i + 1}"]) for i in range(steps)),
        helper.make_node("Sigmoid", [f"x{steps}"], ["scores"]),
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["selected"]),
        helper.make_node("Gather", ["selected", "last"], ["index"], axis=1),
        helper.make_node("Squeeze", ["index", "axis"], ["indices"]),
        helper.make_node("Squeeze", ["boxes", "first"], ["all"]),
        helper.make_node("Gather", ["all", "indices"], ["y"], axis=0),
    ]
    return nodes, {"x": [1, 1, 6]}, [*weights, *constants(helper, axis=np.array([1]))]


@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_detections_depends_on_values(mode, tmp_path):
    require_onnx(), require_onnxruntime()
    from onnx import helper

    path = write(tmp_path / "x.onnx", *detect(helper))
    net = read.load_onnx(path)
    ms.set_context(mode=MODES[mode])
    counts = set()
    for shift in (-9, 0, 2):
        x = random(1, 1, 6) + np.float32(shift)
        result = net(Tensor(x)).asnumpy()
        np.testing.assert_allclose(result, run(onnx.load(path), x)[0], atol=1e-6)
        counts.add(len(result))
    assert len(counts) > 1 and 0 in counts


def test_a_value_on_which_shapes_depend_is_computed_once_for_each_node(tmp_path):
    """Each addition has the same operand twice, so a recursion without memory takes 2 ** 400 calls."""
    require_onnx(), require_onnxruntime()
    from onnx import helper

    path = write(tmp_path / "x.onnx", *detect(helper, 400))
    x = random(1, 1, 6) * np.float32(2.0**-400)
    np.testing.assert_allclose(read.load_onnx(path)(Tensor(x)).asnumpy(), run(onnx.load(path), x)[0], atol=1e-6)


def test_shapes_follow_the_parameters_after_training(tmp_path):
    require_onnx()
    from onnx import helper

    nodes = [helper.make_node("Mul", ["x", "w"], ["m"]), helper.make_node("NonZero", ["m"], ["n"])]
    nodes += [helper.make_node("Cast", ["n"], ["y"], to=1)]
    weights = constants(helper, w=np.array([1, 0, 1], np.float32))
    net = read.load_onnx(write(tmp_path / "x.onnx", nodes, {"x": [3]}, weights))
    x = Tensor(np.ones(3, np.float32))
    assert net(x).asnumpy().tolist() == [[0, 2]]
    net.parameters_dict()["w"].set_data(Tensor(np.array([0, 1, 0], np.float32)))
    assert net(x).asnumpy().tolist() == [[1]]


def test_a_network_around_it_runs_operator_by_operator(tmp_path):
    require_onnx()
    from onnx import helper

    class Net(nn.Cell):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def construct(self, x):
            return self.inner(x) * 2

    nodes, inputs, weights = detect(helper)
    net = read.load_onnx(write(tmp_path / "x.onnx", nodes, inputs, weights))
    x = Tensor(random(1, 1, 6))
    ms.set_context(mode=ms.GRAPH_MODE)
    np.testing.assert_array_equal(Net(net)(x).asnumpy(), net(x).asnumpy() * 2)


@pytest.mark.parametrize("mode", MODES)
def test_branches_of_different_shapes_are_selected_by_the_value(mode, tmp_path):
    require_onnx(), require_onnxruntime()
    from onnx import TensorProto, helper

    def make_branch(op):
        return helper.make_graph(
            [helper.make_node(op, ["x", "axes"], [op])],
            op,
            [],
            [helper.make_tensor_value_info(op, TensorProto.FLOAT, None)],
        )

    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["is_high"]),
        helper.make_node(
            "If", ["is_high"], ["y"], then_branch=make_branch("ReduceMax"), else_branch=make_branch("Unsqueeze")
        ),
    ]
    weights = constants(helper, zero=np.float32(0), axes=np.array([0]))
    path = write(tmp_path / "x.onnx", nodes, {"x": [2, 3]}, weights)
    net = read.load_onnx(path)
    ms.set_context(mode=MODES[mode])
    for shift in (-9, 9):
        x = random(2, 3) + np.float32(shift)
        np.testing.assert_allclose(net(Tensor(x)).asnumpy(), run(onnx.load(path), x)[0], atol=1e-6)


def pool_regions(x, **attributes):
    """Return the results of RoiAlign for two regions of an image."""
    from onnx import helper

    node = helper.make_node("RoiAlign", ["x", "rois", "images"], ["y"], output_height=2, output_width=2, **attributes)
    infos = [helper.make_tensor_value_info("x", 1, x.shape), helper.make_tensor_value_info("rois", 1, (2, 4))]
    infos.append(helper.make_tensor_value_info("images", 7, (2,)))
    graph = helper.make_graph([node], "pool", infos, [helper.make_tensor_value_info("y", 1, (2, 1, 2, 2))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    return backend.prepare(model).run([x, np.array([[1, 2, 7, 5], [2, 2, 2.5, 3]], np.float32), np.zeros(2, np.int64)])[
        0
    ]


@pytest.mark.parametrize("samples", [0, 1, 3])
def test_means_of_regions_of_a_ramp_are_its_values_at_the_centres(samples):
    """The mean of samples that are symmetric around a centre, on a linear ramp, is the value there."""
    require_onnx()
    rows, columns = np.arange(8, dtype=np.float32)[:, None], np.arange(9, dtype=np.float32)
    ramp = (rows * 10 + columns)[None, None]
    for mode, shift in {"half_pixel": -0.5, "output_half_pixel": 0}.items():
        results = pool_regions(ramp, coordinate_transformation_mode=mode, sampling_ratio=samples)
        y = np.array([[2.75, 4.25], [2.25, 2.75]]) + shift  # y and x of the centres of cells
        x = np.array([[2.5, 5.5], [2.125, 2.375]]) + shift
        if not shift:  # a region is at least one pixel large
            x[1] = [2.25, 2.75]
        expected = y[:, :, None] * 10 + x[:, None, :]
        np.testing.assert_allclose(results[:, 0], expected, rtol=1e-5)


def test_the_largest_product_with_a_weight():
    require_onnx()
    with pytest.raises(NotImplementedError, match="pools by 'max' with sampling_ratio=0"):
        pool_regions(random(1, 1, 6, 8), mode="max")
    assert pool_regions(np.ones((1, 1, 6, 8), np.float32), mode="max", sampling_ratio=1).max() <= 1


def test_a_shape_that_no_trial_value_fits_is_an_error_with_advice(tmp_path):
    require_onnx()
    from onnx import helper

    nodes = [helper.make_node("NonZero", ["x"], ["n"]), helper.make_node("Reshape", ["x", "n"], ["y"])]
    path = write(tmp_path / "x.onnx", nodes, {"x": [3]}, [])
    with pytest.raises(
        NotImplementedError, match="The input 'x' of the model decides on shapes; make it an initializer"
    ):
        read.load_onnx(path)
