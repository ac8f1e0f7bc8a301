"""The view of explanations: pictures with saliency maps, predictions and scores."""

from msnb.notebook.explainer.view import ExplanationsView, explanations

__all__ = ["ExplanationsView", "explanations"]
