"""Re-export module for `mindspore.communication.comm_func`: communication as functions of a Tensor."""

from typing import Any

from msnb.common.missing import asked
from msnb.parallel.modes.comm_functions import (
    all_gather_into_tensor,
    all_reduce,
    barrier,
    broadcast,
    gather_into_tensor,
    reduce,
    reduce_scatter_tensor,
    scatter_tensor,
)

__all__ = [
    "all_gather_into_tensor",
    "all_reduce",
    "barrier",
    "broadcast",
    "gather_into_tensor",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
