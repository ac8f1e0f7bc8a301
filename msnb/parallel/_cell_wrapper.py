"""Cells that collect the slices of a Parameter from all devices, for checkpoints of sharded networks."""

from msnb._later import not_yet

_allgather_cell = None


def get_allgather_cell(group, need_merge_twice=False):
    """A Cell that gathers slices over `group`: later, together with sharded Parameters."""
    raise not_yet(
        "Gathering the slices of a sharded Parameter",
        "in one process no Parameter is sharded, so save_checkpoint needs no integrated_save",
    )


def destroy_allgather_cell():
    """Drop the Cell that :func:`get_allgather_cell` keeps."""
    global _allgather_cell
    _allgather_cell = None
