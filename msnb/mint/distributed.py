"""The rank of this process; the communication functions of mint are placeholders that raise an error when used."""

from msnb._util.placeholders import fill
from msnb.communication.management import GlobalComm, get_group_size
from msnb.communication.management import get_rank as _get_rank

__all__ = ["get_rank", "get_world_size", "is_available", "is_initialized"]


def get_rank(group: str | None = None) -> int:
    """Return the rank of this process in a group.

    Args:
        group (Union[str, None]): Name of the group. Default: all processes.

    Returns:
        int, 0 in a single process.
    """
    return _get_rank(GlobalComm.WORLD_COMM_GROUP if group is None else group)


def get_world_size(group: str | None = None) -> int:
    """Return the number of processes in a group.

    Args:
        group (Union[str, None]): Name of the group. Default: all processes.

    Returns:
        int, 1 in a single process.
    """
    return get_group_size(GlobalComm.WORLD_COMM_GROUP if group is None else group)


def is_available() -> bool:
    """Return False: processes cannot communicate through this module.

    Returns:
        bool, False.
    """
    return False


def is_initialized() -> bool:
    """Return False: there is no communication to initialise.

    Returns:
        bool, False.
    """
    return False


fill(
    globals(),
    """
    P2POp all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object all_reduce all_to_all
    all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather
    gather_object get_backend get_global_rank get_group_rank get_process_group_ranks
    init_process_group irecv isend new_group recv reduce reduce_scatter
    recv_object_list reduce_scatter_tensor reduce_scatter_tensor_uneven scatter scatter_object_list send
    send_object_list
    """,
    "it is of several processes: `mindspore.parallel` computes over several devices within one",
)
