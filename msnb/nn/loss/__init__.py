"""Loss functions; this module re-exports those of its submodules."""

from msnb.nn.loss.classification import BCEWithLogitsLoss, CrossEntropyLoss, DiceLoss, FocalLoss, NLLLoss
from msnb.nn.loss.loss import (
    BCELoss,
    CosineEmbeddingLoss,
    L1Loss,
    LossBase,
    MSELoss,
    SampledSoftmaxLoss,
    SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from msnb.nn.loss.regression import HuberLoss, KLDivLoss, MAELoss, RMSELoss

__all__ = [
    "L1Loss",
    "MSELoss",
    "SmoothL1Loss",
    "SoftmaxCrossEntropyWithLogits",
    "BCELoss",
    "CosineEmbeddingLoss",
    "SampledSoftmaxLoss",
    "LossBase",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "NLLLoss",
    "DiceLoss",
    "FocalLoss",
    "HuberLoss",
    "KLDivLoss",
    "MAELoss",
    "RMSELoss",
]
