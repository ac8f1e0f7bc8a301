"""Optimizers: Cells that update Parameters from their gradients."""

from msnb.nn.optim.ada_grad import Adagrad
from msnb.nn.optim.adadelta import Adadelta
from msnb.nn.optim.adafactor import AdaFactor
from msnb.nn.optim.adam import Adam, AdamOffload, AdamWeightDecay
from msnb.nn.optim.adamax import AdaMax
from msnb.nn.optim.asgd import ASGD
from msnb.nn.optim.ftrl import FTRL
from msnb.nn.optim.lamb import Lamb
from msnb.nn.optim.lars import LARS
from msnb.nn.optim.lazyadam import LazyAdam
from msnb.nn.optim.momentum import Momentum
from msnb.nn.optim.optimizer import Optimizer
from msnb.nn.optim.proximal_ada_grad import ProximalAdagrad
from msnb.nn.optim.rmsprop import RMSProp
from msnb.nn.optim.rprop import Rprop
from msnb.nn.optim.sgd import SGD
from msnb.nn.optim.thor import thor

__all__ = [
    "Optimizer",
    "Momentum",
    "LARS",
    "Adam",
    "AdamWeightDecay",
    "LazyAdam",
    "AdamOffload",
    "Lamb",
    "SGD",
    "FTRL",
    "RMSProp",
    "ProximalAdagrad",
    "Adagrad",
    "thor",
    "Adadelta",
    "AdaMax",
    "AdaFactor",
    "ASGD",
    "Rprop",
]
