"""ONNX: networks written as ONNX models (`write`), and ONNX models read as graphs of MindSpore's operators (`read`)."""
