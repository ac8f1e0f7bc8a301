"""Re-export module: loss functions and their base class, at MindSpore's path."""

from msnb.nn.loss import *  # noqa: F403
from msnb.nn.loss import LossBase
from msnb.nn.loss import __all__ as __all__

_Loss = LossBase  # r1.1's name; programs derive loss classes from it
