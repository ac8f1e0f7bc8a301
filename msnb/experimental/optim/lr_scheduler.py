"""Re-export module: learning rate schedulers for `experimental.optim`, called once per epoch or step."""

from msnb.experimental.optim._factor_schedulers import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from msnb.experimental.optim._other_schedulers import ReduceLROnPlateau, SequentialLR
from msnb.experimental.optim._scheduler import LRScheduler
from msnb.experimental.optim._wave_schedulers import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR

__all__ = [
    "StepLR",
    "LinearLR",
    "LRScheduler",
    "ExponentialLR",
    "PolynomialLR",
    "MultiplicativeLR",
    "ConstantLR",
    "MultiStepLR",
    "LambdaLR",
    "SequentialLR",
    "ReduceLROnPlateau",
    "CyclicLR",
    "CosineAnnealingWarmRestarts",
    "CosineAnnealingLR",
]
