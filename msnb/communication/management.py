"""Start and end communication; ranks and groups of processes."""

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

    A process that `python -m msnb launch`, SLURM or Open MPI has started joins the others. Any other process runs alone
    with any backend: :func:`get_rank` is 0 and :func:`get_group_size` is 1.

    Args:
        backend_name (str): "hccl", "nccl" or "mccl". Default: None, the backend of the context's `device_target`.

    Raises:
        TypeError: If `backend_name` is not a str.
        RuntimeError: If there is no such backend, or something was computed before several processes could join.

    Examples:
        >>> from mindspore.communication import init, get_rank
        >>> init()
        >>> get_rank()
        0
    """
    if backend_name is None:
        _processes.join()  # before reading device_target, which initializes the devices
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
    """End communication and remove all groups. :func:`init` may be called again."""
    remove_groups()
    GlobalComm.BACKEND = Backend(Backend.UNDEFINED)
    GlobalComm.WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    GlobalComm.INITED = False


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the rank of this process in a group.

    Args:
        group (str): Name of the group. Default: all processes.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If there is no such group, or this process is not in it.
    """
    return _find_own_rank(ranks_of(group), group)


def _find_own_rank(ranks, group):
    if world_rank() not in ranks:
        raise ValueError(f"This process is {world_rank()}, which is not in the group {group!r} of {list(ranks)}.")
    return ranks.index(world_rank())


def _list_ranks_on_this_machine(group):
    """Return the world ranks of a group's members on this machine. Processes of one machine have consecutive ranks."""
    here = _processes.world()
    first = here.rank - here.local_rank
    return tuple([rank for rank in ranks_of(group) if first <= rank < first + here.local_size])


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the rank of this process among a group's members on the same machine; see :func:`get_rank`."""
    return (
        _processes.world().local_rank if is_world(group) else _find_own_rank(_list_ranks_on_this_machine(group), group)
    )


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the number of processes in a group; arguments and errors as in :func:`get_rank`."""
    return len(ranks_of(group))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the number of a group's processes on this machine; arguments and errors as in :func:`get_rank`."""
    return _processes.world().local_size if is_world(group) else len(_list_ranks_on_this_machine(group))


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """Return the world ranks of a group's members; arguments and errors as in :func:`get_rank`."""
    return list(ranks_of(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Return the world rank of the member `group_rank_id` of `group`.

    Raises:
        TypeError: If `group` is not a str or `group_rank_id` not an int.
        ValueError: If there is no such group or member, or `group` is that of all processes.
    """
    ranks = _check_and_get_subgroup_ranks(group, "group_rank_id", group_rank_id)
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(
            f"'group_rank_id' should be in [0, {len(ranks) - 1}] for the group {group!r}, but got {group_rank_id}."
        )
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Return the rank in `group` of the process whose world rank is `world_rank_id`.

    Raises:
        TypeError: If `group` is not a str or `world_rank_id` not an int.
        ValueError: If there is no such group or member, or `group` is that of all processes.
    """
    ranks = _check_and_get_subgroup_ranks(group, "world_rank_id", world_rank_id)
    if world_rank_id not in ranks:
        raise ValueError(f"'world_rank_id' should be one of the members {ranks} of {group!r}, but got {world_rank_id}.")
    return ranks.index(world_rank_id)


def _check_and_get_subgroup_ranks(group, name, rank):
    if not isinstance(rank, int):
        raise TypeError(f"'{name}' should be an int, but got {rank!r} ({type(rank).__name__}).")
    if is_world(group):
        raise ValueError(f"'group' should be a group made by create_group, but got {group!r}, which is all processes.")
    return ranks_of(group)


def create_group(group: str, rank_ids: list[int]) -> None:
    """Create a group of some processes, or of some devices of a single process.

    Every member calls this function. Communication operators with the name of the group act among its members.

    A single process with several devices (`device_num`) runs one program on all of them. The devices outside `rank_ids`
    then form groups of the same pattern: in MindSpore, each device would create its own group.

    Args:
        group (str): Name of the new group.
        rank_ids (list): Ranks of its members, in the order of the group.

    Raises:
        TypeError: If `group` is not a str or `rank_ids` not a list.
        ValueError: If `rank_ids` is empty, names a rank twice or one that does not exist, or `group` exists.
    """
    add_group(group, rank_ids)


def destroy_group(group: str) -> None:
    """Remove a group of :func:`create_group`. Raise ValueError if there is none, or for the group of all processes."""
    remove_group(group)
