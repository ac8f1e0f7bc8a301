"""How a program is spread over devices, as ``context.set_auto_parallel_context`` says."""

from collections.abc import Hashable

from msnb import context, log
from msnb.context import ParallelMode
from msnb.core import spreading, trace
from msnb.parallel._utils import _check_full_batch
from msnb.parallel.auto import Auto
from msnb.parallel.data_parallel import DataParallel
from msnb.parallel.mesh import ask_for_devices
from msnb.parallel.semi_auto import SemiAuto

_settings = context._parallel.values
_KINDS = {
    ParallelMode.DATA_PARALLEL: DataParallel,
    ParallelMode.HYBRID_PARALLEL: DataParallel,
    ParallelMode.SEMI_AUTO_PARALLEL: SemiAuto,
    ParallelMode.AUTO_PARALLEL: Auto,
}


def _state() -> Hashable:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE:
        return None
    return _settings.parallel_mode, _settings.device_num, _settings.full_batch, _settings.enable_parallel_optimizer


def _begin() -> spreading.Spread | None:
    if _settings.parallel_mode == ParallelMode.STAND_ALONE:
        return None
    _check_full_batch()
    if _settings.device_num == 1:
        return None
    if context._state.mode != context.GRAPH_MODE:
        log.once("Work is spread over devices in GRAPH mode; in PYNATIVE mode one device computes all.")
        return None
    if _settings.strategy_ckpt_save_file and _settings.parallel_mode != ParallelMode.SEMI_AUTO_PARALLEL:
        log.once("strategy_ckpt_save_file: only in semi_auto_parallel mode operators have strategies to write.")
    return _KINDS[_settings.parallel_mode](_settings.device_num, _settings.full_batch)


def follow_context() -> None:
    """Take notice of other settings of ``set_auto_parallel_context``."""
    trace.epoch.bump()
    if _state() is not None and _settings.device_num > 1:
        ask_for_devices(_settings.device_num)


spreading.provide(_state, _begin)
