"""Re-export module: anomaly detection and uncertainty evaluation with probabilistic networks."""

from msnb.nn.probability.toolbox.anomaly_detection import VAEAnomalyDetection
from msnb.nn.probability.toolbox.uncertainty_evaluation import UncertaintyEvaluation

__all__ = ["UncertaintyEvaluation", "VAEAnomalyDetection"]
