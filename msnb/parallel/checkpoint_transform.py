"""Re-export module for ``mindspore.parallel.checkpoint_transform``: checkpoints with sliced Parameters."""

from typing import Any

from msnb.common.missing import asked
from msnb.train.serialization import build_searched_strategy, load_distributed_checkpoint, merge_sliced_parameter

__all__ = ["build_searched_strategy", "load_distributed_checkpoint", "merge_sliced_parameter"]


def __getattr__(name: str) -> Any:
    return asked("msnb.parallel", name)  # that module has the same missing names
