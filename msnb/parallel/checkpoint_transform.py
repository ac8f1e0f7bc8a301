"""Face of ``mindspore.parallel.checkpoint_transform``: checkpoints whose Parameters are in parts."""

from typing import Any

from msnb.common.missing import asked
from msnb.train.serialization import build_searched_strategy, load_distributed_checkpoint, merge_sliced_parameter

__all__ = ["build_searched_strategy", "load_distributed_checkpoint", "merge_sliced_parameter"]


def __getattr__(name: str) -> Any:
    return asked("msnb.parallel", name)  # which has the same names
