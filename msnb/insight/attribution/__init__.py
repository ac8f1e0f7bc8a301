"""Attributions: the contribution of each element of an input, or of the value of a node, to a score."""

from msnb.insight.attribution.grad_cam import grad_cam, grad_cam_plus_plus
from msnb.insight.attribution.gradients import gradient, modified_relu_gradient
from msnb.insight.attribution.methods import METHODS, compute_attribution
from msnb.insight.attribution.result import Attribution

__all__ = [
    "METHODS",
    "Attribution",
    "compute_attribution",
    "grad_cam",
    "grad_cam_plus_plus",
    "gradient",
    "modified_relu_gradient",
]
