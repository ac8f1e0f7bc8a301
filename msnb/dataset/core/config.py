"""Settings of the data engine: ``mindspore.dataset.config``."""

import inspect
import os
import random
from enum import IntEnum
from typing import Any

import numpy as np

from msnb import log
from msnb.common.seed import on_seed
from msnb.formats import text_files

__all__ = [
    "set_seed",
    "get_seed",
    "set_prefetch_size",
    "get_prefetch_size",
    "set_num_parallel_workers",
    "get_num_parallel_workers",
    "set_monitor_sampling_interval",
    "get_monitor_sampling_interval",
    "load",
    "get_callback_timeout",
    "set_callback_timeout",
    "set_auto_num_workers",
    "get_auto_num_workers",
    "set_numa_enable",
    "get_numa_enable",
    "set_cache_budget",
    "get_cache_budget",
    "set_max_pixels",
    "get_max_pixels",
    "set_enable_autotune",
    "get_enable_autotune",
    "set_dynamic_shape",
    "get_dynamic_shape",
    "set_auto_offload",
    "get_auto_offload",
    "set_enable_watchdog",
    "get_enable_watchdog",
    "set_fast_recovery",
    "get_fast_recovery",
    "set_multiprocessing_timeout_interval",
    "get_multiprocessing_timeout_interval",
    "set_autotune_interval",
    "get_autotune_interval",
    "ErrorSamplesMode",
    "set_error_samples_mode",
    "get_error_samples_mode",
    "set_enable_shared_mem",
    "get_enable_shared_mem",
    "set_sending_batches",
    "set_debug_mode",
    "get_debug_mode",
    "set_iterator_mode",
    "get_iterator_mode",
    "set_multiprocessing_start_method",
    "get_multiprocessing_start_method",
]

INT32_MAX = 2147483647
UINT32_MAX = 4294967295
UNSEEDED = 5489  # the default seed of C++'s mt19937; MindSpore treats it as "no seed is set"


class ErrorSamplesMode(IntEnum):
    """Treatment by ``map`` of a sample for which one of its functions fails.

    ``RETURN`` raises the error, ``REPLACE`` puts one of the good samples at the end of the epoch instead, ``SKIP``
    omits the sample.
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


class _Settings:
    """The current settings of the data engine. All modules share one instance."""

    def __init__(self):
        self.seed = UNSEEDED
        self.workers: int = 8
        self.prefetch: int = 16
        self.callback_timeout: int = 60
        self.cache_budget: Any = None
        self.max_pixels: int = 30_000_000  # decoders need up to ten bytes a pixel (progressive JPEG): under 300 MB
        self.error_samples_mode: ErrorSamplesMode = ErrorSamplesMode.RETURN
        self.extra: dict[Any, Any] = {}


settings = _Settings()


def _check_range(value, low, high, name):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} should be an int, but got {value!r} ({type(value).__name__}).")
    if not low <= value <= high:
        raise ValueError(f"{name} given is not within the required range: expected {low} to {high}, but got {value}.")
    return value


def _check_bool(value, name):
    if not isinstance(value, bool):
        raise TypeError(f"{name} isn't of type bool: got {value!r} ({type(value).__name__}).")
    return value


def set_seed(seed: int) -> None:
    """Seed ``random``, ``numpy.random``, and the random operators and samplers of pipelines that are created later.

    Args:
        seed (int): From 0 to 2**32 - 1.

    Raises:
        ValueError: If `seed` is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_seed(1000)
    """
    _check_range(seed, 0, UINT32_MAX, "Seed")
    settings.seed = seed
    random.seed(seed)
    np.random.seed(seed)


def get_seed() -> int:
    """Return the seed in use: 5489 if none was set."""
    return settings.seed


def fresh_seed() -> int:
    """Return a seed for a new random stream: the seed that was set, or a random one from the operating system."""
    if settings.seed == UNSEEDED:
        return int.from_bytes(os.urandom(4), "little")
    return settings.seed


@on_seed
def _apply_global_seed(seed):
    settings.seed = seed
    random.seed(seed)


def set_prefetch_size(size: int) -> None:
    """Set the number of batches that may be prepared ahead of the consumer.

    Args:
        size (int): At least 1.

    Raises:
        ValueError: If `size` is not a positive 32-bit number.
    """
    settings.prefetch = _check_range(size, 1, INT32_MAX, "Prefetch size")


def get_prefetch_size() -> int:
    """Return the number of batches that may be prepared ahead of the consumer."""
    return settings.prefetch


def set_num_parallel_workers(num: int) -> None:
    """Set the number of workers of an operator that does not specify one.

    Args:
        num (int): At least 1.

    Raises:
        ValueError: If `num` is not a positive 32-bit number.
    """
    settings.workers = _check_range(num, 1, INT32_MAX, "Number of parallel workers")


def get_num_parallel_workers() -> int:
    """Return the number of workers of an operator that does not specify one."""
    return settings.workers


def set_callback_timeout(timeout: int) -> None:
    """Set how many seconds a callback or ``sync_wait`` waits for the training before it times out.

    Args:
        timeout (int): At least 1.
    """
    settings.callback_timeout = _check_range(timeout, 1, INT32_MAX, "Timeout")


def get_callback_timeout() -> int:
    """Return how many seconds a callback or ``sync_wait`` waits for the training before it times out."""
    return settings.callback_timeout


def set_cache_budget(size: int | None) -> None:
    """Set how many bytes of memory may be used to cache samples after their deterministic transforms (msnb only).

    Args:
        size (Union[int, None]): 0 switches the cache off; None is a quarter of the free memory, at most 2 GiB.
    """
    settings.cache_budget = None if size is None else _check_range(size, 0, 1 << 62, "Cache budget")


def get_cache_budget() -> int:
    """Return how many bytes the engine may use to cache decoded and resized samples."""
    if settings.cache_budget is not None:
        return settings.cache_budget
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 512 << 20
    return min(free // 4, 2 << 30)


def set_max_pixels(num: int) -> None:
    """Set the size of the largest image that is decoded (msnb only).

    If the header of an image has a larger size, an error is raised before memory is allocated for the image.

    Args:
        num (int): Width times height, at least 1. The default is 30,000,000 (6000 x 5000), which the decoders of JPEG,
            PNG and BMP process in 300 MB.

    Raises:
        TypeError: If `num` is not an int.
        ValueError: If `num` is not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_max_pixels(50000 * 30000)  # satellite images
    """
    settings.max_pixels = _check_range(num, 1, 1 << 62, "Max pixels")


def get_max_pixels() -> int | None:
    """Return width times height of the largest image that is decoded."""
    return settings.max_pixels


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Set the treatment by ``map`` of a sample for which one of its functions fails.

    Args:
        error_samples_mode (ErrorSamplesMode): ``RETURN``, ``REPLACE`` or ``SKIP``.

    Raises:
        TypeError: If `error_samples_mode` is not an ErrorSamplesMode.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(f"error_samples_mode should be an ErrorSamplesMode, but got {error_samples_mode!r}.")
    settings.error_samples_mode = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """Return the treatment of failing samples by ``map``. The default is ``ErrorSamplesMode.RETURN``."""
    return settings.error_samples_mode


_FILE_KEYS = {  # (setting, minimum, maximum); further keys of MindSpore's files have no effect here
    "numParallelWorkers": ("workers", 1, INT32_MAX),
    "opConnectorSize": ("prefetch", 1, INT32_MAX),
    "seed": ("seed", 0, UINT32_MAX),
    "monitorSamplingInterval": ("monitor_sampling_interval", 1, INT32_MAX),
}


def load(file: str) -> None:
    """Read settings from a JSON file. If one of them is invalid, none is changed.

    Args:
        file (str): Path of the file; its keys are MindSpore's (``numParallelWorkers``, ``seed``, ``opConnectorSize``,
            ...).

    Raises:
        RuntimeError: If the file cannot be read, is not JSON, or has a setting of the wrong type or out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.load("config.json")
    """
    try:
        values = text_files.json_file(file)
    except OSError as error:
        raise RuntimeError(f"The settings file {file!r} cannot be read: {error.strerror}.") from None
    if not isinstance(values, dict):
        raise text_files.BadFileError(f"The settings file {file!r} should hold an object, but got {values!r:.80}.")
    changes = {}
    for key, (name, low, high) in _FILE_KEYS.items():
        value = values.get(key, low)
        if type(value) is not int or not low <= value <= high:
            raise text_files.BadFileError(
                f"The settings file {file!r} has {value!r:.80} as {key}, but it should be a whole number from {low} to "
                f"{high}."
            )
        if key in values:
            changes[name] = value
    set_monitor_sampling_interval(changes.pop("monitor_sampling_interval", get_monitor_sampling_interval()))
    vars(settings).update(changes)
    ignored = dict.fromkeys(values.keys() - _FILE_KEYS, True)
    log.unused("dataset.config.load", "the engine has no such setting", **ignored)


# --- settings without effect: the value is stored for the getter, and a message is logged once


def _make_setting_without_effect(name, arguments, default, check, reason):
    """Return (setter, getter) functions of a setting that has no effect. `reason` explains that in their docstrings.

    `arguments` are the names of the setter's parameters. The first is the value; the others are optional.
    """
    argument, *more = arguments.split()
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(argument, positional), *(inspect.Parameter(a, positional, default=None) for a in more)]
    )

    def setter(*args, **kwargs):
        bound = signature.bind(*args, **kwargs).arguments
        value = check(bound[argument], argument)
        log.unused("dataset.config", reason, **{name: value != default or len(bound) > 1})
        settings.extra[name] = value

    def getter():
        return settings.extra.get(name, default)

    setter.__name__, getter.__name__ = f"set_{name}", f"get_{name}"
    setter.__signature__ = signature
    setter.__doc__ = f"Store `{argument}` for :func:`get_{name}`. It has no effect: {reason}."
    getter.__doc__ = f"Return the value set by :func:`set_{name}`. The default is {default}."
    return setter, getter


def _check_positive(value, name):
    return _check_range(value, 1, INT32_MAX, name)


def _check_not_negative(value, name):
    return _check_range(value, 0, INT32_MAX, name)


def _check_start_method(value, name):
    if not isinstance(value, str):
        raise TypeError(f"{name} should be a str, but got {value!r} ({type(value).__name__}).")
    if value not in ("fork", "spawn"):
        raise ValueError(f"{name} should be 'fork' or 'spawn', but got {value!r}.")
    return value


_MEMORY_IS_SHARED = "workers share memory, so that there is nothing to bind"
_MEASURED_ON_DEMAND = "a pipeline is measured while somebody looks, at every batch"
_WORKERS_ARE_FIXED = "each operator has the number of workers that it names, or that of set_num_parallel_workers"
_PLAN_IS_OPTIMISED = "the engine makes a plan of every pipeline; dataset.explain() shows it"
_NO_WATCHDOG = "the error of a worker is raised where its rows are asked for"

set_numa_enable, get_numa_enable = _make_setting_without_effect(
    "numa_enable", "numa_enable", False, _check_bool, _MEMORY_IS_SHARED
)
set_monitor_sampling_interval, get_monitor_sampling_interval = _make_setting_without_effect(
    "monitor_sampling_interval", "interval", 1000, _check_positive, _MEASURED_ON_DEMAND
)
set_auto_num_workers, get_auto_num_workers = _make_setting_without_effect(
    "auto_num_workers", "enable", False, _check_bool, _WORKERS_ARE_FIXED
)
set_enable_autotune, get_enable_autotune = _make_setting_without_effect(
    "enable_autotune", "enable filepath_prefix", False, _check_bool, _PLAN_IS_OPTIMISED
)
set_autotune_interval, get_autotune_interval = _make_setting_without_effect(
    "autotune_interval", "interval", 0, _check_not_negative, _PLAN_IS_OPTIMISED
)
set_auto_offload, get_auto_offload = _make_setting_without_effect(
    "auto_offload", "offload", False, _check_bool, _PLAN_IS_OPTIMISED
)
set_dynamic_shape, get_dynamic_shape = _make_setting_without_effect(
    "dynamic_shape", "is_dynamic", False, _check_bool, "batches may differ in shape in any case"
)
set_enable_watchdog, get_enable_watchdog = _make_setting_without_effect(
    "enable_watchdog", "enable", True, _check_bool, _NO_WATCHDOG
)
set_fast_recovery, get_fast_recovery = _make_setting_without_effect(
    "fast_recovery", "fast_recovery", True, _check_bool, "a pipeline that was left is made anew"
)
set_multiprocessing_timeout_interval, get_multiprocessing_timeout_interval = _make_setting_without_effect(
    "multiprocessing_timeout_interval", "interval", 300, _check_positive, "nothing is logged while a worker is at work"
)
set_enable_shared_mem, get_enable_shared_mem = _make_setting_without_effect(
    "enable_shared_mem", "enable", True, _check_bool, "arrays come from worker processes through pipes"
)
set_sending_batches, get_sending_batches = _make_setting_without_effect(
    "sending_batches", "batch_num", 0, _check_not_negative, "a loop takes each batch when it wants it"
)
set_debug_mode, get_debug_mode = _make_setting_without_effect(
    "debug_mode",
    "debug_mode_flag debug_hook_list",
    False,
    _check_bool,
    "every error names the operator, the sample and the user's line in any case",
)
set_multiprocessing_start_method, get_multiprocessing_start_method = _make_setting_without_effect(
    "multiprocessing_start_method",
    "start_method",
    "fork",
    _check_start_method,
    "processes are forked where the system can",
)


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Store `do_copy` and `parallel_convert` for :func:`get_iterator_mode`.

    They have no effect: values never share memory with the pipeline.

    Args:
        do_copy (bool): True if iterators are to copy arrays. Default: False.
        parallel_convert (bool): True if a thread is to convert rows to Tensors. Default: False.
    """
    mode = {
        "do_copy": _check_bool(do_copy, "do_copy"),
        "parallel_convert": _check_bool(parallel_convert, "parallel_convert"),
    }
    reason = "values never share memory with the pipeline"
    log.unused("dataset.config", reason, iterator_mode=do_copy or parallel_convert)
    settings.extra["iterator_mode"] = mode


def get_iterator_mode() -> dict[str, bool]:
    """Return the values set by :func:`set_iterator_mode`. Both are False by default."""
    return dict(settings.extra.get("iterator_mode", {"do_copy": False, "parallel_convert": False}))
