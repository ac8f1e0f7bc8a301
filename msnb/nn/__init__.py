"""Networks: Cells, layers, loss functions, optimizers, metrics. This module re-exports the names of its
submodules."""

from typing import Any

from msnb.common.missing import asked
from msnb.nn import (
    dynamic_lr,
    grad,
    layer,
    learning_rate_schedule,
    loss,
    metrics,
    optim,
    probability,
    sparse,
    utils,
    wrap,
)
from msnb.nn._cell import legacy_attributes
from msnb.nn.cell import Cell, GraphKernel
from msnb.nn.dynamic_lr import *  # noqa: F403
from msnb.nn.grad import *  # noqa: F403
from msnb.nn.graph_cell import GraphCell
from msnb.nn.layer import *  # noqa: F403
from msnb.nn.learning_rate_schedule import *  # noqa: F403
from msnb.nn.loss import *  # noqa: F403
from msnb.nn.metrics import *  # noqa: F403
from msnb.nn.optim import *  # noqa: F403
from msnb.nn.sparse import *  # noqa: F403
from msnb.nn.utils import *  # noqa: F403
from msnb.nn.wrap import *  # noqa: F403

_MODULES = (layer, loss, optim, metrics, wrap, sparse, learning_rate_schedule, dynamic_lr, grad, utils)
__all__ = sorted(["Cell", "GraphCell", "GraphKernel", *(name for module in _MODULES for name in module.__all__)])


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
