"""Face of ``mindspore.parallel.nn`` of 2.5 and later: networks that get a batch in parts, two under
other names than in ``mindspore.nn``."""

from msnb.nn import GradAccumulationCell as GradAccumulation
from msnb.nn import MicroBatchInterleaved, PipelineCell, PipelineGradReducer

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]

Pipeline = PipelineCell
