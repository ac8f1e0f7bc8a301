"""ONNX's own tests of single nodes, by way of its backend interface: one of each operator here, all of them by hand."""

import importlib.util
import os

import numpy as np
import pytest

# Operators whose first test is about texts, sequences or types that msnb does not have are left out by what they take.
OPERATORS = """Add And ArgMax Attention AveragePool BatchNormalization Cast Clip Concat Conv ConvTranspose CumSum Einsum
Expand Flatten GRU Gather GatherElements GatherND Gelu Gemm GroupNormalization HardSigmoid If InstanceNormalization LRN
LSTM LayerNormalization LeakyRelu LogSoftmax MatMul MaxPool Mod OneHot Pad Pow QuantizeLinear RNN Range ReduceL2
ReduceLogSumExp ReduceSum Reshape Resize RotaryEmbedding ScatterElements ScatterND Shape Slice Softmax SpaceToDepth
Split Squeeze Tile TopK Transpose Trilu Unsqueeze Where""".split()


def cases(operator):
    from onnx.backend.test.case.node import collect_testcases

    return [case for case in collect_testcases(operator) if "expanded" not in case.name][:2]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_node_computes_what_onnx_says(operator):
    if importlib.util.find_spec("onnx") is None:
        message = "onnx is not installed; pip install onnx"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    from onnx import TensorProto, numpy_helper

    from msnb.exchange.onnx import backend

    found = cases(operator)
    assert found
    for case in found:
        inputs, outputs = case.data_sets[0]
        given, expected = (
            [numpy_helper.to_array(v) if isinstance(v, TensorProto) else np.asarray(v) for v in values]
            for values in (inputs, outputs)
        )
        results = backend.prepare(case.model).run(given)
        for a, b in zip(results, expected, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), case.name
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=case.rtol, atol=1e-5)


def test_the_backend_runs_on_the_cpu():
    if importlib.util.find_spec("onnx") is None:
        pytest.skip("onnx is not installed; pip install onnx")
    from msnb.exchange.onnx import backend

    assert backend.supports_device("CPU") and not backend.supports_device("ABACUS")
