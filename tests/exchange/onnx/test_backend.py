"""ONNX's own tests of single nodes, by way of its backend interface: one of each operator here, another one is slow."""

import functools
import importlib
import importlib.util
import os
import pkgutil
import warnings

import numpy as np
import pytest

from msnb import Tensor, context, log

# Operators whose first test is about texts, sequences or types that msnb does not have are left out by what they take.
OPERATORS = """Add And ArgMax Attention AveragePool BatchNormalization Cast CausalConvWithState Clip Col2Im Concat Conv
ConvInteger ConvTranspose CumProd CumSum DFT Einsum Expand Flatten GRU Gather GatherElements GatherND Gelu
Gemm GridSample GroupNormalization HardSigmoid If InstanceNormalization LRN LSTM LayerNormalization
LeakyRelu LinearAttention LogSoftmax MatMul MatMulInteger MaxPool MaxUnpool MelWeightMatrix Mod
NonMaxSuppression OneHot Pad Pow QLinearConv QLinearMatMul QuantizeLinear RNN Range ReduceL2
ReduceLogSumExp ReduceSum Reshape Resize RotaryEmbedding STFT ScatterElements ScatterND Shape Slice
Softmax SpaceToDepth Split Squeeze SwiGLU TensorScatter Tile TopK Transpose Trilu Unique Unsqueeze Where""".split()


@pytest.fixture(autouse=True)
def _in_a_graph():
    """What is read from a file is one program; step by step each of its operators is, which takes longer to compile."""
    context.set_context(mode=context.GRAPH_MODE)


def needs_onnx():
    """Skip the test where onnx is missing, but fail in CI."""
    if importlib.util.find_spec("onnx") is None:
        message = "onnx is not installed; pip install onnx"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


@functools.cache
def collected():
    """The tests of nodes of these operators, and of some functions. onnx collects them as it imports its modules: to
    ask for one operator after another gives those of the first one each time, and to ask for all takes five seconds.
    """
    import onnx.backend.test.case.node as nodes
    from onnx.backend.test.case import base

    wanted = {operator.lower() for operator in OPERATORS} | {"rangeop", "affinegrid", "meanvariancenormalization"}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # casts that overflow are what some are about
        patch.setattr(base, "process_snippet", lambda *_: None)  # the text of a test, for onnx's documentation
        for module in pkgutil.iter_modules(nodes.__path__):
            if module.name.replace("_", "") in wanted or "sequence" in module.name:
                importlib.import_module(f"{nodes.__name__}.{module.name}")
    return nodes._NodeTestCases


def of_tensors(case):
    """Whether a test takes and gives tensors alone."""
    graph = case.model.graph
    return all(value.type.HasField("tensor_type") for value in (*graph.input, *graph.output))


def cases(operator):
    """The tests of one node."""
    found = [case for case in collected() if [n.op_type for n in case.model.graph.node] == [operator]]
    return [case for case in found if of_tensors(case)]


def expanded(name):
    """The tests of the nodes that stand for an operator."""
    return [case for case in collected() if case.name.startswith(f"test_{name}") and "expanded" in case.name]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_node_computes_what_onnx_says(operator):
    needs_onnx()
    check(cases(operator)[0])


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_so_it_does_in_another_of_its_tests(operator):
    needs_onnx()
    for case in cases(operator)[1:2]:
        check(case)


def check(case):
    """The backend computes what a test of onnx expects."""
    from onnx import TensorProto, numpy_helper

    from msnb.exchange.onnx import backend

    inputs, outputs = case.data_sets[0]
    given, expected = (
        [numpy_helper.to_array(v) if isinstance(v, TensorProto) else np.asarray(v) for v in values]
        for values in (inputs, outputs)
    )
    for a, b in zip(backend.prepare(case.model).run(given), expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), case.name
        half = b.dtype.kind in "fV" and b.dtype.itemsize < 4
        tolerance = {"rtol": 1e-2, "atol": 1e-3} if half else {"rtol": case.rtol, "atol": 1e-5}
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), **tolerance)


@pytest.mark.parametrize("name", ["range", "affine_grid", "mvn"])
def test_a_function_written_in_other_operators_computes_the_same(name):
    """A loop among them: how many results it collects is known from the values of inputs."""
    needs_onnx()
    check(expanded(name)[0])


def test_what_is_no_tensor_of_numbers_is_refused_by_name():
    needs_onnx()
    from msnb.exchange.onnx import backend

    case = next(case for case in collected() if case.name.startswith("test_sequence_insert"))
    with pytest.raises(NotImplementedError, match="The input 'sequence' of the model is no Tensor of numbers"):
        backend.prepare(case.model).run(case.data_sets[0][0])


def test_the_backend_runs_on_the_cpu():
    needs_onnx()
    from msnb.exchange.onnx import backend

    assert backend.supports_device("CPU") and not backend.supports_device("ABACUS")


def model_of_nodes(*nodes):
    """A model that takes x of (1, 4, 4, 6) and gives y."""
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 4, 4, 6))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4, 4, 6))
    return helper.make_model(helper.make_graph(nodes, "moved", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])


def loaded(folder, *nodes):
    """The Cell of such a model, which onnx's own checker has not seen."""
    import onnx

    from msnb import load_onnx

    onnx.save(model_of_nodes(*nodes), folder / "model.onnx")
    return load_onnx(folder / "model.onnx")


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_moved_into_the_channels_come_back(mode, tmp_path):
    needs_onnx()
    from onnx import helper

    x = np.arange(96, dtype=np.float32).reshape(1, 4, 4, 6)
    there = helper.make_node("SpaceToDepth", ["x"], ["z"], blocksize=2, mode=mode)
    back = helper.make_node("DepthToSpace", ["z"], ["y"], blocksize=2, mode=mode)
    np.testing.assert_array_equal(loaded(tmp_path, there, back)(Tensor(x)).asnumpy(), x)


def test_an_attribute_that_nobody_asks_for_is_told(tmp_path, monkeypatch):
    needs_onnx()
    from onnx import helper

    told = []
    monkeypatch.setattr(log, "once", told.append)
    odd = helper.make_node("Relu", ["x"], ["y"], slope_of_negatives=0.5)
    loaded(tmp_path, odd)(Tensor(np.ones((1, 4, 4, 6), np.float32)))
    assert set(told) == {"load_onnx: msnb does not know the attribute 'slope_of_negatives' of Relu, and leaves it out."}
