"""Placeholders for the communication functions of mint, which need several processes: using them raises an error."""

from msnb._util.placeholders import fill

__all__ = ["is_available", "is_initialized"]


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
    gather_object get_backend get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size
    init_process_group irecv isend new_group recv reduce reduce_scatter
    reduce_scatter_tensor reduce_scatter_tensor_uneven scatter scatter_object_list send
    """,
    "it is of several processes: `mindspore.parallel` computes over several devices within one",
)
