"""Re-export module for ``mindspore.parallel``, with msnb's tools for communication counts, plans and sharded
checkpoints.
"""

import importlib
from typing import Any

from msnb.common.missing import asked
from msnb.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from msnb.parallel.graph.collective_stats import communication_of as communication_of
from msnb.parallel.graph.collective_stats import memory_of as memory_of
from msnb.parallel.modes.multiprocess_mesh import whole as whole
from msnb.parallel.modes.sharded_checkpoint import load_sharded as load_sharded
from msnb.parallel.modes.sharded_checkpoint import save_sharded as save_sharded
from msnb.parallel.planning import Plan as Plan
from msnb.parallel.planning import Plans as Plans
from msnb.parallel.planning import plan as plan
from msnb.parallel.shard import shard as shard
from msnb.parallel.sharding.named_layout import Layout as Layout

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]


_CHECKPOINT_FUNCTIONS = ("build_searched_strategy", "load_distributed_checkpoint", "merge_sliced_parameter")


def __getattr__(name: str) -> Any:
    if name in _CHECKPOINT_FUNCTIONS:  # imported late: that module imports this one
        return getattr(importlib.import_module(f"{__name__}.checkpoint_transform"), name)
    return asked(__name__, name)
