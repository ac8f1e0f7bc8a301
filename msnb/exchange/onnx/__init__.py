"""ONNX: `write` exports networks as ONNX models, `read` loads ONNX models as graphs of MindSpore's operators."""
