"""Cells that gather the slices of a Parameter from all devices, used by MindSpore's `save_checkpoint`."""

from typing import NoReturn


def get_allgather_cell(group: str, need_merge_twice: bool = False) -> NoReturn:
    """Raise NotImplementedError: a sharded Parameter is one array here, and other functions gather it.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "A Parameter that is cut over devices is one array here, of which no Cell gathers slices: save_checkpoint "
        "writes it whole, msnb.parallel.whole(parameter) brings it to each process, ops.AllGather gathers Tensors."
    )


def destroy_allgather_cell() -> None:
    """Do nothing: :func:`get_allgather_cell` stores no Cell."""
