"""Re-export module for ``mindspore.communication``: the public names of ``management``."""

from typing import Any

from msnb.common.missing import asked
from msnb.communication._comm_helper import HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, GlobalComm
from msnb.communication.management import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
    init,
    release,
)

__all__ = [
    "GlobalComm",
    "init",
    "release",
    "get_rank",
    "get_group_size",
    "get_world_rank_from_group_rank",
    "get_group_rank_from_world_rank",
    "create_group",
    "HCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "get_local_rank",
    "get_local_rank_size",
    "destroy_group",
    "get_process_group_ranks",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
