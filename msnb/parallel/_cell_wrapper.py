"""Cells that collect the slices of a Parameter from all devices, as MindSpore's `save_checkpoint` does it."""

from typing import NoReturn


def get_allgather_cell(group: str, need_merge_twice: bool = False) -> NoReturn:
    """Refused: what lies on devices of several processes is one array, which other functions bring together.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "A Parameter that is cut over devices is one array here, of which no Cell gathers slices: save_checkpoint "
        "writes it whole, msnb.parallel.whole(parameter) brings it to each process, ops.AllGather gathers Tensors."
    )


def destroy_allgather_cell() -> None:
    """Nothing: there is no Cell that :func:`get_allgather_cell` keeps."""
