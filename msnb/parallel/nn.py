"""Re-export module for ``mindspore.parallel.nn`` of MindSpore 2.5 and later: networks that process a batch in parts.

Two of them have other names than in ``mindspore.nn``.
"""

from msnb.nn import GradAccumulationCell as GradAccumulation
from msnb.nn import MicroBatchInterleaved, PipelineCell, PipelineGradReducer

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]

Pipeline = PipelineCell
