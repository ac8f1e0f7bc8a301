"""Benchmarks: scores of explainers. A higher score is better."""

from msnb.explainer.benchmark._class_sensitivity import ClassSensitivity
from msnb.explainer.benchmark._faithfulness import Faithfulness
from msnb.explainer.benchmark._localization import Localization
from msnb.explainer.benchmark._robustness import Robustness

__all__ = ["ClassSensitivity", "Faithfulness", "Localization", "Robustness"]
