"""Cells around networks: loss, gradient, one training step, loss scale, evaluation."""

from msnb.nn.wrap._micro_batches import (
    ForwardValueAndGrad,
    GradAccumulationCell,
    MicroBatchInterleaved,
    PipelineCell,
)
from msnb.nn.wrap._pipeline_gradients import PipelineGradReducer
from msnb.nn.wrap.cell_wrapper import (
    GetNextSingleOp,
    ParameterUpdate,
    TrainOneStepCell,
    VirtualDatasetCellTriple,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from msnb.nn.wrap.grad_reducer import DistributedGradReducer
from msnb.nn.wrap.loss_scale import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
)

__all__ = [
    "TrainOneStepCell",
    "WithLossCell",
    "WithGradCell",
    "WithEvalCell",
    "GetNextSingleOp",
    "TrainOneStepWithLossScaleCell",
    "DistributedGradReducer",
    "ParameterUpdate",
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "VirtualDatasetCellTriple",
    "ForwardValueAndGrad",
    "GradAccumulationCell",
    "MicroBatchInterleaved",
    "PipelineCell",
    "PipelineGradReducer",
]
