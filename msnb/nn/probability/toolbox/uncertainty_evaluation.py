"""Re-export module: `UncertaintyEvaluation`, which trains networks and is therefore in `msnb.train`."""

from msnb.train._uncertainty_evaluation import UncertaintyEvaluation

__all__ = ["UncertaintyEvaluation"]
