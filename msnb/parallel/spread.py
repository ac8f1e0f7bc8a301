"""How a program is spread over devices, as ``context.set_auto_parallel_context`` says."""

from collections.abc import Hashable

from msnb import context, log
from msnb.communication._comm_helper import _groups, is_world, partition, ranks_of, world_rank, world_size
from msnb.communication._processes import world_of_environment
from msnb.context import ParallelMode
from msnb.core import spreading, trace
from msnb.parallel._cost_model_context import _costs
from msnb.parallel._utils import _check_full_batch, _get_device_num
from msnb.parallel.auto import Auto, clear_plan
from msnb.parallel.data_parallel import DataParallel
from msnb.parallel.mesh import all_devices, request_devices
from msnb.parallel.processes import Processes, run_in_all_processes
from msnb.parallel.semi_auto import SemiAuto

_settings = context._parallel.values
_PYNATIVE = "Work is spread over devices in GRAPH mode; in PYNATIVE mode one device computes all."
_REPLICAS = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)


def _state() -> Hashable:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE and world_size() == 1:
        return None
    cut = _settings.full_batch, _settings.enable_parallel_optimizer, _settings.pipeline_stages
    file = _settings.strategy_ckpt_load_file, _settings.dataset_strategy
    search = _settings.auto_parallel_search_mode, _costs.values.device_memory_capacity, tuple(_groups.items())
    return _settings.parallel_mode, _get_device_num(), world_size(), *cut, *search, *file


def _begin() -> spreading.Spread | None:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE and world_size() == 1:
        return None
    _check_full_batch()
    _check_stages()
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
        return _of_processes()
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
    return _searched_or_said(mode, number)


def _check_stages():
    """Stages are of one mode, and have as many devices each.

    Raises:
        NotImplementedError: In another mode.
        ValueError: If they do not divide the devices.
    """
    stages, number = _settings.pipeline_stages, _get_device_num()
    if stages > 1 and _settings.parallel_mode != ParallelMode.SEMI_AUTO_PARALLEL:
        raise NotImplementedError(
            f"pipeline_stages={stages} works in parallel_mode 'semi_auto_parallel', but the mode is "
            f"'{_settings.parallel_mode}'. Set that, or pipeline_stages=1."
        )
    if number % stages:
        raise ValueError(f"pipeline_stages={stages} should divide the number of devices, but device_num is {number}.")


def _of_processes():
    """How a program is spread over several processes.

    Raises:
        ValueError: If the context speaks of another number of them.
    """
    mode, number = _settings.parallel_mode, _get_device_num()
    if mode in (ParallelMode.STAND_ALONE, *_REPLICAS):
        if mode != ParallelMode.STAND_ALONE and number != world_size():
            raise ValueError(f"device_num is {number}, but {world_size()} processes run this program; leave it out.")
        return Processes()
    there = len(all_devices())
    if number != there:
        raise ValueError(
            f"device_num is {number}, but the {world_size()} processes of this program have {there} devices; leave it "
            f"out."
        )
    if context._state.mode != context.GRAPH_MODE:
        log.once(_PYNATIVE)
        return Processes()
    return _searched_or_said(mode, number)


def _searched_or_said(mode, number):
    return (Auto if mode == ParallelMode.AUTO_PARALLEL else SemiAuto)(number, _settings.full_batch)


def _ranks(group):
    """Ranks of a group; raises RuntimeError where there is none, or this process is not in it."""
    try:
        ranks = ranks_of(group)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    if world_size() > 1 and world_rank() not in ranks:
        raise RuntimeError(f"This process is {world_rank()}, which is not in the group {group!r} of {list(ranks)}.")
    return ranks


def _processes_of(group):
    if world_size() == 1:
        return 1
    return len(_told(group) if isinstance(group, spreading.Groups) else _ranks(group))


def _told(group):
    """The ranks of the group, of those that are told with their name, that this process is in: the first, where one
    program runs on all."""
    own = [ranks for ranks in group.ranks if world_size() == 1 or world_rank() in ranks]
    if not own:
        raise RuntimeError(f"This process is {world_rank()}, which is in none of the {group}.")
    return own[0]


def _members(axis, group):
    """The devices of a group, see `core.spreading.Provider`."""
    told = isinstance(group, spreading.Groups)
    ranks, several = _told(group) if told else _ranks(group), world_size() > 1
    if len(ranks) == 1 and (several or not is_world(group)):
        return None  # its own values, whoever else there is
    if axis is not None:
        name, number = axis
        if is_world(group):
            return spreading.Members(name, tuple(range(number)), None, world_rank() if several else None)
        if max(ranks) >= number:
            raise RuntimeError(f"The group {group!r} is of {list(ranks)}, but {number} devices run this program.")
        groups = group.ranks if told else partition(ranks, number)
        if not several and any(len(part) < len(ranks) for part in groups):
            raise RuntimeError(
                f"The group {group!r} of {list(ranks)} leaves some of the {number} devices without a group, and all "
                f"run one program; use groups that divide them, or a process for each device."
            )
        return spreading.Members(name, ranks, groups, ranks.index(world_rank()) if several else None)
    if several:
        raise RuntimeError(
            f"What is traced for one device cannot communicate with the {len(ranks)} processes of {group!r}: call it "
            f"as an operator, or inside of a Cell or function of GRAPH mode."
        )
    return None


def _outside() -> None:
    """Say once that an operator's strategy does nothing in PYNATIVE mode."""
    automatic = _settings.parallel_mode in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
    if automatic and context._state.mode != context.GRAPH_MODE and _get_device_num() > 1:
        log.once(_PYNATIVE)


def follow_context() -> None:
    """Take notice of other settings of ``set_auto_parallel_context``."""
    trace.epoch.bump()
    if _settings.parallel_mode != ParallelMode.AUTO_PARALLEL:
        clear_plan()  # the plan that was applied
    if _settings.device_num > 1 and world_of_environment().size == 1:  # whatever the mode: it may be said later
        request_devices(_settings.device_num)


spreading.provide(_state, _begin, _members, run_in_all_processes, _processes_of, _outside)
