"""Explainers: methods that compute a saliency map, the importance of each pixel of an image for a label."""

from msnb.explainer.explanation._grad_cam import GradCAM
from msnb.explainer.explanation._gradient import Deconvolution, Gradient, GuidedBackprop
from msnb.explainer.explanation._occlusion import Occlusion
from msnb.explainer.explanation._rise import RISE

__all__ = ["RISE", "Deconvolution", "GradCAM", "Gradient", "GuidedBackprop", "Occlusion"]
