"""onnxruntime for the tests. It is optional locally and required in CI."""

import importlib.util
import os

import numpy as np
import pytest

from msnb.exchange.onnx import write
from msnb.formats import onnx, protobuf

HAS = importlib.util.find_spec("onnxruntime") is not None


def require_onnxruntime():
    """Skip the test if onnxruntime is missing, but fail in CI."""
    if not HAS:
        message = "onnxruntime is not installed; pip install onnxruntime"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


def require_onnx():
    """Skip the test if onnx is missing, but fail in CI."""
    if importlib.util.find_spec("onnx") is None:
        message = "onnx is not installed; pip install onnx"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


def model_of(net, *inputs):
    """Return the Model message of a network."""
    return write.model_of(write.graph_of(net, inputs))


def run(model, *inputs):
    """Return the results of onnxruntime as a list of arrays."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(protobuf.encode(onnx.SCHEMA, "Model", model), options)
    names = [info["name"] for info in model["graph"]["input"]]
    return session.run(None, {name: np.asarray(x) for name, x in zip(names, inputs, strict=True)})
