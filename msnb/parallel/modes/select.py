"""Select the partitioner of a program from the settings of ``context.set_auto_parallel_context``."""

from collections.abc import Hashable

from msnb import context, log
from msnb.communication._comm_helper import (
    _groups,
    is_world,
    partition,
    ranks_of,
    world_rank,
    world_size,
)
from msnb.communication._processes import world_of_environment
from msnb.context import ParallelMode
from msnb.core.sharding import partitioner
from msnb.core.state import trace_state
from msnb.parallel._cost_model_context import _costs
from msnb.parallel._utils import _check_full_batch, _get_device_num
from msnb.parallel.modes.auto import Auto, clear_plan
from msnb.parallel.modes.data_parallel import DataParallel
from msnb.parallel.modes.multiprocess_data_parallel import Processes, run_in_all_processes
from msnb.parallel.modes.semi_auto import SemiAuto
from msnb.parallel.sharding.mesh import all_devices, request_devices

_settings = context._parallel.values
_PYNATIVE = "Work is spread over devices in GRAPH mode; in PYNATIVE mode one device computes all."
_REPLICAS = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)


def _read_partition_settings() -> Hashable:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE and world_size() == 1:
        return None
    sharding = _settings.full_batch, _settings.enable_parallel_optimizer, _settings.pipeline_stages
    strategies = _settings.strategy_ckpt_load_file, _settings.dataset_strategy
    search = (
        _settings.auto_parallel_search_mode,
        _costs.values.device_memory_capacity,
        tuple(_groups.items()),
    )
    return _settings.parallel_mode, _get_device_num(), world_size(), *sharding, *search, *strategies


def _create_partitioner() -> partitioner.Partitioner | None:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE and world_size() == 1:
        return None
    _check_full_batch()
    _check_pipeline_stages()
    if _settings.enable_parallel_optimizer and _settings.parallel_mode != ParallelMode.SEMI_AUTO_PARALLEL:
        log.once(
            f"enable_parallel_optimizer has no effect in '{_settings.parallel_mode}' mode: 'semi_auto_parallel' cuts "
            f"what an optimizer keeps, and 'auto_parallel' does where its search finds that better."
        )
    if isinstance(_settings.dataset_strategy, tuple):
        if world_size() > 1 or _settings.parallel_mode != ParallelMode.SEMI_AUTO_PARALLEL:
            log.once(
                f"dataset_strategy={_settings.dataset_strategy} has no effect: how arguments are cut can be said in "
                f"one process of the mode 'semi_auto_parallel'; several processes bring rows, or with full_batch=True "
                f"all, and 'auto_parallel' searches for it."
            )
    if world_size() > 1:
        return _create_multiprocess_partitioner()
    if _get_device_num() == 1:
        return None
    if context._state.mode != context.GRAPH_MODE:
        log.once(_PYNATIVE)
        return None
    mode, number = _settings.parallel_mode, _get_device_num()
    if mode in _REPLICAS:
        if _settings.strategy_ckpt_save_file:
            log.once(f"strategy_ckpt_save_file: in {mode} mode operators have no strategies to write.")
        return DataParallel(number)
    return _create_mesh_partitioner(mode, number)


def _check_pipeline_stages():
    """Check the mode and the number of devices for pipeline stages.

    Raises:
        NotImplementedError: If the mode does not support stages.
        ValueError: If the stages do not divide the devices.
    """
    stages, number = _settings.pipeline_stages, _get_device_num()
    if stages > 1 and _settings.parallel_mode != ParallelMode.SEMI_AUTO_PARALLEL:
        raise NotImplementedError(
            f"pipeline_stages={stages} works in parallel_mode 'semi_auto_parallel', but the mode is "
            f"'{_settings.parallel_mode}'. Set that, or pipeline_stages=1."
        )
    if number % stages:
        raise ValueError(f"pipeline_stages={stages} should divide the number of devices, but device_num is {number}.")


def _create_multiprocess_partitioner():
    """Return the partitioner of a program over several processes.

    Raises:
        ValueError: If `device_num` of the context differs from the number of available devices.
    """
    mode, number = _settings.parallel_mode, _get_device_num()
    if mode in (ParallelMode.STAND_ALONE, *_REPLICAS):
        if mode != ParallelMode.STAND_ALONE and number != world_size():
            raise ValueError(f"device_num is {number}, but {world_size()} processes run this program; leave it out.")
        return Processes()
    available = len(all_devices())
    if number != available:
        raise ValueError(
            f"device_num is {number}, but the {world_size()} processes of this program have {available} devices; "
            f"leave it out."
        )
    if context._state.mode != context.GRAPH_MODE:
        log.once(_PYNATIVE)
        return Processes()
    return _create_mesh_partitioner(mode, number)


def _create_mesh_partitioner(mode, number):
    return (Auto if mode == ParallelMode.AUTO_PARALLEL else SemiAuto)(number, _settings.full_batch)


def _find_group_ranks(group):
    """Return the ranks of the processes in `group`.

    Raises:
        RuntimeError: If there is no such group, or this process is not in it.
    """
    try:
        ranks = ranks_of(group)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    if world_size() > 1 and world_rank() not in ranks:
        raise RuntimeError(f"This process is {world_rank()}, which is not in the group {group!r} of {list(ranks)}.")
    return ranks


def _count_processes(group):
    if world_size() == 1:
        return 1
    return len(_find_own_ranks(group) if isinstance(group, partitioner.Groups) else _find_group_ranks(group))


def _find_own_ranks(group):
    """Return the ranks of this process's group among the groups `group`; in a single process, of the first group."""
    candidates = [ranks for ranks in group.ranks if world_size() == 1 or world_rank() in ranks]
    if not candidates:
        raise RuntimeError(f"This process is {world_rank()}, which is in none of the {group}.")
    return candidates[0]


def _find_device_group(axis, group):
    """Return the devices of a group, see `core.sharding.partitioner.Provider`."""
    has_explicit_ranks = isinstance(group, partitioner.Groups)
    ranks, has_processes = (
        _find_own_ranks(group) if has_explicit_ranks else _find_group_ranks(group),
        world_size() > 1,
    )
    if len(ranks) == 1 and (has_processes or not is_world(group)):
        return None  # a group of one device uses its own values
    if axis is not None:
        name, number = axis
        if is_world(group):
            return partitioner.DeviceGroup(name, tuple(range(number)), None, world_rank() if has_processes else None)
        if max(ranks) >= number:
            raise RuntimeError(f"The group {group!r} is of {list(ranks)}, but {number} devices run this program.")
        groups = group.ranks if has_explicit_ranks else partition(ranks, number)
        if not has_processes and any(len(members) < len(ranks) for members in groups):
            raise RuntimeError(
                f"The group {group!r} of {list(ranks)} leaves some of the {number} devices without a group, and all "
                f"run one program; use groups that divide them, or a process for each device."
            )
        return partitioner.DeviceGroup(name, ranks, groups, ranks.index(world_rank()) if has_processes else None)
    if has_processes:
        raise RuntimeError(
            f"What is traced for one device cannot communicate with the {len(ranks)} processes of {group!r}: call it "
            f"as an operator, or inside of a Cell or function of GRAPH mode."
        )
    return None


def _warn_of_ignored_strategy() -> None:
    """Log once that an operator's strategy has no effect in PYNATIVE mode."""
    automatic = _settings.parallel_mode in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
    if automatic and context._state.mode != context.GRAPH_MODE and _get_device_num() > 1:
        log.once(_PYNATIVE)


def follow_context() -> None:
    """Apply changed settings of ``set_auto_parallel_context``."""
    trace_state.epoch.bump()
    if _settings.parallel_mode != ParallelMode.AUTO_PARALLEL:
        clear_plan()  # a plan applies only in AUTO_PARALLEL mode
    if _settings.device_num > 1 and world_of_environment().size == 1:  # in every mode: a parallel mode may be set later
        request_devices(_settings.device_num)


partitioner.provide(
    _read_partition_settings,
    _create_partitioner,
    _find_device_group,
    run_in_all_processes,
    _count_processes,
    _warn_of_ignored_strategy,
)
