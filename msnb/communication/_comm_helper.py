"""Groups of processes and the ranks of their members."""

from typing import Self

from msnb import context
from msnb.communication import _processes
from msnb.core.eager.kernel import live_kernels
from msnb.core.state import trace_state

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
WORLD_GROUP_OF = {"hccl": HCCL_WORLD_COMM_GROUP, "nccl": NCCL_WORLD_COMM_GROUP, "mccl": MCCL_WORLD_COMM_GROUP}


class Backend(str):
    """Name of a communication library, converted to lower case: ``Backend("HCCL") == "hccl"``.

    Raises:
        TypeError: If `name` is not a str.
        ValueError: If there is no such library.
    """

    UNDEFINED = "undefined"
    HCCL = "hccl"
    NCCL = "nccl"
    MCCL = "mccl"

    def __new__(cls, name: str) -> Self:
        if not isinstance(name, str):
            raise TypeError(f"The backend should be a str, but got {name!r} ({type(name).__name__}).")
        if name.lower() not in (*WORLD_GROUP_OF, cls.UNDEFINED):
            raise ValueError(f"The backend should be one of 'hccl', 'nccl' and 'mccl', but got {name!r}.")
        return super().__new__(cls, name.lower())


class GlobalComm:
    """State that ``init`` sets: the backend's name and the name of the group of all processes."""

    BACKEND = Backend(Backend.UNDEFINED)
    WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    INITED = False


# {name: ranks} of the groups that were created. The group of all processes is not stored: it has every rank.
_groups = {}


def _is_initialized() -> bool:
    """Return True if ``init`` was called. MindSpore 2 has this function."""
    return GlobalComm.INITED


def world_size():
    """Return the number of processes that run this program."""
    return _processes.world().size


def world_rank():
    """Return the rank of this process among all processes."""
    return _processes.world().rank


def is_world(group):
    """Return True if `group` names all processes. Raise TypeError if it is not a name."""
    if group is None:
        return True
    if not isinstance(group, str):
        raise TypeError(f"The group should be a str or None, but got {group!r} ({type(group).__name__}).")
    return group in WORLD_GROUP_OF.values()


def ranks_of(group):
    """Return the world ranks of the members of `group`, in the group's order.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If there is no such group.
    """
    if is_world(group):
        return tuple(range(world_size()))
    if group not in _groups:
        existing = ", ".join(map(repr, (GlobalComm.WORLD_COMM_GROUP, *_groups)))
        raise ValueError(f"There is no group {group!r}; create_group makes one. There are: {existing}.")
    return _groups[group]


def _count_available_ranks():
    """Return how many ranks a group may name: the number of processes, or the devices of a single process."""
    return world_size() if world_size() > 1 else max(1, context._parallel.values.device_num)


def partition(ranks: tuple[int, ...], number: int) -> tuple[tuple[int, ...], ...]:
    """Divide the ranks 0 to `number` - 1 into groups, one of which is `ranks`, and return the groups.

    The pattern of `ranks` is repeated wherever all of its ranks are free, as for a grid of devices whose script
    creates one group per row. Each remaining rank forms a group with one member.

    Examples:
        >>> from msnb.communication._comm_helper import partition
        >>> partition((1, 3), 4)
        ((0, 2), (1, 3))
        >>> partition((0, 1, 2), 4)
        ((0, 1, 2), (3,))
    """
    groups, free = [tuple(ranks)], set(range(number)) - set(ranks)
    pattern = [rank - min(ranks) for rank in ranks]
    for first in range(number):
        shifted = tuple([first + step for step in pattern])
        if free.issuperset(shifted):
            groups.append(shifted)
            free.difference_update(shifted)
    return tuple(sorted([*groups, *((rank,) for rank in free)], key=min))


def add_group(group, rank_ids):
    """Store a group. Raise the errors that ``create_group`` documents."""
    if is_world(group) or not group:
        raise ValueError(f"A new group needs a name of its own, but got {group!r}.")
    if not isinstance(rank_ids, list):
        raise TypeError(f"'rank_ids' should be a list of int, but got {rank_ids!r} ({type(rank_ids).__name__}).")
    if not rank_ids or len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"'rank_ids' should name at least one rank, each once, but got {rank_ids!r}.")
    limit = _count_available_ranks()
    wrong = [rank for rank in rank_ids if not isinstance(rank, int) or not 0 <= rank < limit]
    if wrong:
        count = "1 process" if limit == 1 else f"{limit} {'processes' if world_size() > 1 else 'devices'}"
        raise ValueError(
            f"'rank_ids' should be ranks from 0 to {limit - 1}, but got {wrong[0]!r}: this program runs in {count}."
        )
    if group in _groups:
        raise ValueError(f"There is a group {group!r} already; destroy_group removes it.")
    _groups[group] = tuple(rank_ids)
    trace_state.epoch.bump()


def remove_group(group):
    """Remove a group. Raise ValueError for the group of all processes, or if there is no such group."""
    if is_world(group):
        raise ValueError(f"The group of all processes, {group!r}, cannot be destroyed.")
    ranks_of(group)
    _delete_group(group)


def remove_groups():
    """Remove all groups."""
    for group in list(_groups):
        _delete_group(group)


def _delete_group(group):
    """Delete a group and the kernels compiled for its members, because a later group may reuse the name."""
    del _groups[group]
    trace_state.epoch.bump()
    for kernel in live_kernels():
        if kernel.name.meaning.settings.get("group") == group:
            kernel.compiled.clear_cache()


def _get_group_map():
    """Return {group: ranks} of all groups, that of all processes included."""
    everyone = GlobalComm.WORLD_COMM_GROUP
    return {everyone: list(ranks_of(everyone)), **{group: list(ranks) for group, ranks in _groups.items()}}


_remove_group_info = remove_group
