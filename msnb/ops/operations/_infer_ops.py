"""Names of `mindspore.ops.operations._infer_ops`: kernels of Ascend for inference."""

from msnb.common.missing import asked


def __getattr__(name):
    return asked(__name__, name)
