"""Re-export module of ``mindspore.ops._selected_ops``: operators that MindSpore's graph kernels may replace. XLA fuses
operators, so these are the operators of ``mindspore.ops.operations``.
"""

from msnb.ops.operations import (
    ApplyMomentum,
    BiasAdd,
    FastGeLU,
    FusedBatchNorm,
    GeLU,
    LayerNorm,
    LogSoftmax,
    ReduceMean,
    ReLU,
    Softmax,
    SoftmaxCrossEntropyWithLogits,
    Tanh,
)

FastGelu, Gelu = FastGeLU, GeLU  # r1.1's names

__all__ = [
    "ApplyMomentum",
    "BiasAdd",
    "FastGelu",
    "FusedBatchNorm",
    "Gelu",
    "LayerNorm",
    "LogSoftmax",
    "ReLU",
    "ReduceMean",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "Tanh",
]
