"""A face: `UncertaintyEvaluation`, which trains networks and therefore stands with what trains."""

from msnb.train._uncertainty_evaluation import UncertaintyEvaluation

__all__ = ["UncertaintyEvaluation"]
