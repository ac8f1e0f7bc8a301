"""A face: the base of loss functions and r1.1's own, whose path this is."""

from msnb.nn.loss._base import LossBase
from msnb.nn.loss.classification import BCELoss, SoftmaxCrossEntropyWithLogits
from msnb.nn.loss.regression import L1Loss, MSELoss, SmoothL1Loss
from msnb.nn.loss.sampled import SampledSoftmaxLoss
from msnb.nn.loss.similarity import CosineEmbeddingLoss

_Loss = LossBase  # its name in r1.1, from which programs derive their own

__all__ = [
    "LossBase",
    "L1Loss",
    "MSELoss",
    "SmoothL1Loss",
    "SoftmaxCrossEntropyWithLogits",
    "SampledSoftmaxLoss",
    "BCELoss",
    "CosineEmbeddingLoss",
]
