"""ONNX's own tests of single nodes through its backend interface: one per operator, and a second one marked slow."""

import functools
import importlib
import pkgutil
import warnings

import numpy as np
import pytest
from runtime import require_onnx

from msnb import Tensor, context, log

# Operators whose first test needs strings, sequences or types that msnb does not have are not listed.
OPERATORS = """Add And ArgMax Attention AveragePool BatchNormalization BitCast Cast CausalConvWithState Clip Col2Im
Concat Conv ConvInteger ConvTranspose CumProd CumSum DFT DeformConv Einsum Expand Flatten GRU Gather
GatherElements GatherND Gelu Gemm GridSample GroupNormalization HardSigmoid If InstanceNormalization LRN
LSTM LayerNormalization LeakyRelu LinearAttention LogSoftmax MatMul MatMulInteger MaxPool MaxUnpool
MelWeightMatrix Mod NonMaxSuppression OneHot Pad Pow QLinearConv QLinearMatMul QuantizeLinear RNN Range
ReduceL2 ReduceLogSumExp ReduceSum Reshape Resize RoiAlign RotaryEmbedding STFT ScatterElements
ScatterND Shape Slice Softmax SpaceToDepth Split Squeeze SwiGLU TensorScatter Tile TopK Transpose Trilu
Unique Unsqueeze Where""".split()


@pytest.fixture(autouse=True)
def use_graph_mode():
    """Use GRAPH mode: one program per file compiles faster than one program per operator."""
    context.set_context(mode=context.GRAPH_MODE)


@functools.cache
def collect_cases():
    """Return the test cases of nodes of these operators, and of some functions.

    onnx collects cases when their modules are imported. Its own query per operator returns only the cases of the first
    operator, and a query for all operators takes five seconds.
    """
    import onnx.backend.test.case.node as nodes
    from onnx.backend.test.case import base

    module_names = {operator.lower() for operator in OPERATORS} | {"rangeop", "affinegrid", "meanvariancenormalization"}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # some cases test casts that overflow
        patch.setattr(
            base, "process_snippet", lambda *_: None
        )  # it extracts the text of a test for onnx's documentation
        for module in pkgutil.iter_modules(nodes.__path__):
            if module.name.replace("_", "") in module_names or "sequence" in module.name:
                importlib.import_module(f"{nodes.__name__}.{module.name}")
    return nodes._NodeTestCases


def has_only_tensors(case):
    """Return True if all inputs and outputs of a case are Tensors."""
    graph = case.model.graph
    return all(value.type.HasField("tensor_type") for value in (*graph.input, *graph.output))


def cases(operator):
    """Return the cases of one node."""
    matches = [case for case in collect_cases() if [n.op_type for n in case.model.graph.node] == [operator]]
    return [case for case in matches if has_only_tensors(case)]


def expanded_cases(name):
    """Return the cases of the function body of an operator."""
    return [case for case in collect_cases() if case.name.startswith(f"test_{name}") and "expanded" in case.name]


@pytest.mark.parametrize("operator", OPERATORS)
def test_first_case_of_operator(operator):
    require_onnx()
    check_case(cases(operator)[0])


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_second_case_of_operator(operator):
    require_onnx()
    for case in cases(operator)[1:2]:
        check_case(case)


def check_case(case):
    """Check that the backend computes the expected outputs of a case."""
    from onnx import TensorProto, numpy_helper

    from msnb.exchange.onnx import backend

    inputs, outputs = case.data_sets[0]
    inputs_of_case, expected = (
        [numpy_helper.to_array(v) if isinstance(v, TensorProto) else np.asarray(v) for v in values]
        for values in (inputs, outputs)
    )
    for a, b in zip(backend.prepare(case.model).run(inputs_of_case), expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), case.name
        half = b.dtype.kind in "fV" and b.dtype.itemsize < 4
        tolerance = {"rtol": 1e-2, "atol": 1e-3} if half else {"rtol": case.rtol, "atol": 1e-5}
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), **tolerance)


@pytest.mark.parametrize("name", ["range", "affine_grid", "mvn"])
def test_function_body_gives_the_same_results(name):
    """One of the bodies has a loop whose number of rounds depends on the values of inputs."""
    require_onnx()
    check_case(expanded_cases(name)[0])


def test_sequence_input_raises():
    require_onnx()
    from msnb.exchange.onnx import backend

    case = next(case for case in collect_cases() if case.name.startswith("test_sequence_insert"))
    with pytest.raises(NotImplementedError, match="The input 'sequence' of the model is no Tensor of numbers"):
        backend.prepare(case.model).run(case.data_sets[0][0])


def test_backend_supports_cpu_only():
    require_onnx()
    from msnb.exchange.onnx import backend

    assert backend.supports_device("CPU") and not backend.supports_device("ABACUS")


def model_of_nodes(*nodes):
    """Return a model with the input x of (1, 4, 4, 6) and the output y."""
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 4, 4, 6))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4, 4, 6))
    return helper.make_model(helper.make_graph(nodes, "moved", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])


def load_model(folder, *nodes):
    """Return the Cell of such a model, without onnx's own check."""
    import onnx

    from msnb import load_onnx

    onnx.save(model_of_nodes(*nodes), folder / "model.onnx")
    return load_onnx(folder / "model.onnx")


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_inverts_space_to_depth(mode, tmp_path):
    require_onnx()
    from onnx import helper

    x = np.arange(96, dtype=np.float32).reshape(1, 4, 4, 6)
    there = helper.make_node("SpaceToDepth", ["x"], ["z"], blocksize=2, mode=mode)
    back = helper.make_node("DepthToSpace", ["z"], ["y"], blocksize=2, mode=mode)
    np.testing.assert_array_equal(load_model(tmp_path, there, back)(Tensor(x)).asnumpy(), x)


def test_unknown_attribute_is_logged(tmp_path, monkeypatch):
    require_onnx()
    from onnx import helper

    messages = []
    monkeypatch.setattr(log, "once", messages.append)
    odd = helper.make_node("Relu", ["x"], ["y"], slope_of_negatives=0.5)
    load_model(tmp_path, odd)(Tensor(np.ones((1, 4, 4, 6), np.float32)))
    assert set(messages) == {
        "load_onnx: msnb does not know the attribute 'slope_of_negatives' of Relu, and leaves it out."
    }
