"""Saliency explanations of image classifiers: explainers, benchmarks that score them, and a runner that writes both to
files for MindInsight and `%ms_explain`."""

from msnb.explainer import benchmark, explanation
from msnb.explainer._image_classification_runner import ImageClassificationRunner

__all__ = ["ImageClassificationRunner", "benchmark", "explanation"]
