"""Labelling with active learning: questions, answers, learning between them, and exports."""

from msnb.labelling.acquisition import STRATEGIES, Candidates, Strategy
from msnb.labelling.learning_curve import LearningCurve
from msnb.labelling.session import Fault, Item, Session

__all__ = ["STRATEGIES", "Candidates", "Fault", "Item", "LearningCurve", "Session", "Strategy"]
