"""Tuning of operators of an Ascend. The settings have no effect."""

from msnb import log
from msnb.common.kinds import Bool, PositiveInt, Str, checked

__all__ = ["aclnn_cache", "aoe_job_type", "aoe_tune_mode", "op_compile"]

_WHY = "XLA has no backend for an Ascend"


@checked
def op_compile(value: Bool) -> None:
    """Choose between compiled operators and stored ones. It has no effect.

    Args:
        value (bool): True to compile.

    Raises:
        TypeError: If `value` is not a bool.
    """
    log.unused("op_compile", _WHY, value=value)


@checked
def aoe_tune_mode(tune_mode: Str) -> None:
    """Choose when operators are tuned. It has no effect.

    Args:
        tune_mode (str): "online" or "offline".

    Raises:
        TypeError: If `tune_mode` is not a str.
    """
    log.unused("aoe_tune_mode", _WHY, tune_mode=tune_mode)


@checked
def aoe_job_type(config: Str) -> None:
    """Choose what is tuned. It has no effect.

    Args:
        config (str): "1" for graphs, "2" for operators.

    Raises:
        TypeError: If `config` is not a str.
    """
    log.unused("aoe_job_type", _WHY, config=config)


@checked
def aclnn_cache(enable_global_cache: Bool = False, cache_queue_length: PositiveInt = 10000) -> None:
    """Set the cache of Ascend's operators. It has no effect.

    Args:
        enable_global_cache (bool): One cache for all. Default: False.
        cache_queue_length (int): Length of the cache. Default: 10000.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `cache_queue_length` is not positive.
    """
    log.unused(
        "aclnn_cache",
        _WHY,
        enable_global_cache=enable_global_cache,
        cache_queue_length=cache_queue_length != 10000,
    )
