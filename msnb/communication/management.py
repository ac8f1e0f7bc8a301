"""Starting and ending communication, ranks and groups."""

from msnb import context
from msnb.communication import _processes
from msnb.communication._comm_helper import (
    HCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    WORLD_GROUP_OF,
    Backend,
    GlobalComm,
    add_group,
    is_world,
    ranks_of,
    remove_group,
    remove_groups,
    world_rank,
)

__all__ = [
    "GlobalComm",
    "init",
    "release",
    "get_rank",
    "get_local_rank",
    "get_group_size",
    "get_local_rank_size",
    "get_world_rank_from_group_rank",
    "get_group_rank_from_world_rank",
    "create_group",
    "destroy_group",
    "get_process_group_ranks",
    "HCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
]

DEFAULT_WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP


def init(backend_name: str | None = None) -> None:
    """Start communication between processes.

    A process that `python -m msnb launch`, SLURM or Open MPI has started joins the others. Any other is one by itself,
    whatever the backend is called: :func:`get_rank` is 0, :func:`get_group_size` is 1.

    Args:
        backend_name (str): "hccl", "nccl" or "mccl". Default: None, what goes with the context's `device_target`.

    Raises:
        TypeError: If `backend_name` is not a str.
        RuntimeError: If there is no such backend, or something was computed before several processes could join.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore.communication import init, get_rank
        >>> init()
        >>> get_rank()
        0
    """
    if backend_name is None:
        _processes.join()  # first: who asks for the devices has them
        backend_name = {"CPU": "mccl", "GPU": "nccl"}.get(context.get_context("device_target"), "hccl")
    elif not isinstance(backend_name, str):
        raise TypeError(f"'backend_name' should be a str, but got {backend_name!r} ({type(backend_name).__name__}).")
    if backend_name not in WORLD_GROUP_OF:
        raise RuntimeError(f"'backend_name' should be 'hccl', 'nccl' or 'mccl', but got {backend_name!r}.")
    _processes.join()
    GlobalComm.BACKEND = Backend(backend_name)
    GlobalComm.WORLD_COMM_GROUP = WORLD_GROUP_OF[backend_name]
    GlobalComm.INITED = True


def release() -> None:
    """End communication: groups are forgotten, and :func:`init` may be called again.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    remove_groups()
    GlobalComm.BACKEND = Backend(Backend.UNDEFINED)
    GlobalComm.WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    GlobalComm.INITED = False


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of this process in a group.

    Args:
        group (str): Name of the group. Default: all processes.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If there is no such group, or this process is not in it.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _place(ranks_of(group), group)


def _place(ranks, group):
    if world_rank() not in ranks:
        raise ValueError(f"This process is {world_rank()}, which is not in the group {group!r} of {list(ranks)}.")
    return ranks.index(world_rank())


def _on_this_machine(group):
    """World ranks of the members of a group that run on this machine; those of one machine follow one another."""
    here = _processes.world()
    first = here.rank - here.local_rank
    return tuple([rank for rank in ranks_of(group) if first <= rank < first + here.local_size])


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of this process among those of a group on the same machine; see :func:`get_rank`."""
    return _processes.world().local_rank if is_world(group) else _place(_on_this_machine(group), group)


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of processes in a group; arguments and errors as in :func:`get_rank`."""
    return len(ranks_of(group))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of processes of a group on this machine; arguments and errors as in :func:`get_rank`."""
    return _processes.world().local_size if is_world(group) else len(_on_this_machine(group))


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """Ranks, among all processes, of the members of a group; arguments and errors as in :func:`get_rank`."""
    return list(ranks_of(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Rank among all processes of the member `group_rank_id` of `group`.

    Raises:
        TypeError: If `group` is not a str or `group_rank_id` not an int.
        ValueError: If there is no such group or member, or `group` is that of all processes.
    """
    ranks = _ranks_of_subgroup(group, "group_rank_id", group_rank_id)
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(
            f"'group_rank_id' should be in [0, {len(ranks) - 1}] for the group {group!r}, but got {group_rank_id}."
        )
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Rank in `group` of the process whose rank among all is `world_rank_id`.

    Raises:
        TypeError: If `group` is not a str or `world_rank_id` not an int.
        ValueError: If there is no such group or member, or `group` is that of all processes.
    """
    ranks = _ranks_of_subgroup(group, "world_rank_id", world_rank_id)
    if world_rank_id not in ranks:
        raise ValueError(f"'world_rank_id' should be one of the members {ranks} of {group!r}, but got {world_rank_id}.")
    return ranks.index(world_rank_id)


def _ranks_of_subgroup(group, name, rank):
    if not isinstance(rank, int):
        raise TypeError(f"'{name}' should be an int, but got {rank!r} ({type(rank).__name__}).")
    if is_world(group):
        raise ValueError(f"'group' should be a group made by create_group, but got {group!r}, which is all processes.")
    return ranks_of(group)


def create_group(group: str, rank_ids: list[int]) -> None:
    """Make a group of some of the processes, or of some of the devices that one process is spread over.

    Each member makes it; communication operators with its name act among the members. One process that is spread over
    several devices (`device_num`) runs one program on all: there, devices beside the group form groups of the same
    pattern, as they do in MindSpore where each makes its own.

    Args:
        group (str): Name of the new group.
        rank_ids (list): Ranks of its members, in the order of the group.

    Raises:
        TypeError: If `group` is not a str or `rank_ids` not a list.
        ValueError: If `rank_ids` is empty, names a rank twice or one that does not exist, or `group` exists.
    """
    add_group(group, rank_ids)


def destroy_group(group: str) -> None:
    """Remove a group made by :func:`create_group`; ValueError when there is none, or for that of all processes."""
    remove_group(group)
