"""Re-export module: optimizers with parameter groups that are dicts, and learning rate schedulers."""

from msnb.experimental.optim import lr_scheduler
from msnb.experimental.optim.adaptive import Adadelta, Adagrad, RMSprop
from msnb.experimental.optim.moments import Adam, Adamax, AdamW, NAdam, RAdam
from msnb.experimental.optim.optimizer import Optimizer
from msnb.experimental.optim.plain import ASGD, SGD, Rprop

__all__ = [
    "Optimizer",
    "Adam",
    "AdamW",
    "SGD",
    "Adadelta",
    "Adagrad",
    "ASGD",
    "Adamax",
    "RMSprop",
    "Rprop",
    "RAdam",
    "NAdam",
]
