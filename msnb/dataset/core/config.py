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
UNSEEDED = 5489  # the default seed of C++'s mt19937, which MindSpore takes to mean "nobody chose a seed"


class ErrorSamplesMode(IntEnum):
    """What ``map`` does with a sample that its functions fail on.

    ``RETURN`` raises the error, ``REPLACE`` puts one of the good samples at the end of the epoch instead, ``SKIP``
    leaves it out.
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


class _Settings:
    """The current values; one object, so that every module sees a change at once."""

    def __init__(self):
        self.seed = UNSEEDED
        self.workers: int = 8
        self.prefetch: int = 16
        self.callback_timeout: int = 60
        self.cache_budget: Any = None
        self.max_pixels: int = 30_000_000  # decoders take up to ten bytes a pixel (progressive JPEG): under 300 MB
        self.error_samples_mode: ErrorSamplesMode = ErrorSamplesMode.RETURN
        self.extra: dict[Any, Any] = {}


settings = _Settings()


def _in_range(value, low, high, what):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} should be an int, but got {value!r} ({type(value).__name__}).")
    if not low <= value <= high:
        raise ValueError(f"{what} given is not within the required range: expected {low} to {high}, but got {value}.")
    return value


def _boolean(value, what):
    if not isinstance(value, bool):
        raise TypeError(f"{what} isn't of type bool: got {value!r} ({type(value).__name__}).")
    return value


def set_seed(seed: int) -> None:
    """Seed every random operator and sampler of pipelines made from now on, and Python's ``random`` and
    ``numpy.random``.

    Args:
        seed (int): From 0 to 2**32 - 1.

    Raises:
        ValueError: If `seed` is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_seed(1000)
    """
    _in_range(seed, 0, UINT32_MAX, "Seed")
    settings.seed = seed
    random.seed(seed)
    np.random.seed(seed)


def get_seed() -> int:
    """The seed in use; 5489 when none was set."""
    return settings.seed


def fresh_seed() -> int:
    """Seed for a new random stream: the one that was set, or one from the operating system."""
    if settings.seed == UNSEEDED:
        return int.from_bytes(os.urandom(4), "little")
    return settings.seed


@on_seed
def _global_seed_was_set(seed):
    settings.seed = seed
    random.seed(seed)


def set_prefetch_size(size: int) -> None:
    """How many batches may be prepared ahead of the consumer.

    Args:
        size (int): At least 1.

    Raises:
        ValueError: If `size` is not a positive 32-bit number.
    """
    settings.prefetch = _in_range(size, 1, INT32_MAX, "Prefetch size")


def get_prefetch_size() -> int:
    """How many batches may be prepared ahead of the consumer."""
    return settings.prefetch


def set_num_parallel_workers(num: int) -> None:
    """Default number of workers of an operator that names none.

    Args:
        num (int): At least 1.

    Raises:
        ValueError: If `num` is not a positive 32-bit number.
    """
    settings.workers = _in_range(num, 1, INT32_MAX, "Number of parallel workers")


def get_num_parallel_workers() -> int:
    """Default number of workers of an operator."""
    return settings.workers


def set_callback_timeout(timeout: int) -> None:
    """Seconds that a waiting callback or ``sync_wait`` lets pass before it gives up.

    Args:
        timeout (int): At least 1.
    """
    settings.callback_timeout = _in_range(timeout, 1, INT32_MAX, "Timeout")


def get_callback_timeout() -> int:
    """Seconds that a waiting callback lets pass."""
    return settings.callback_timeout


def set_cache_budget(size: int | None) -> None:
    """Bytes of memory in which the engine may keep the deterministic part of pipelines (msnb only).

    Args:
        size (Union[int, None]): 0 switches it off; None is a quarter of the free memory, at most 2 GiB.
    """
    settings.cache_budget = None if size is None else _in_range(size, 0, 1 << 62, "Cache budget")


def get_cache_budget() -> int:
    """Bytes that the engine may use to keep decoded and resized samples."""
    if settings.cache_budget is not None:
        return settings.cache_budget
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 512 << 20
    return min(free // 4, 2 << 30)


def set_max_pixels(num: int) -> None:
    """The greatest image that is decoded; an image whose header claims more is an error, before memory is taken for it
    (msnb only).

    Args:
        num (int): Width times height, at least 1. Until it is set it is 30,000,000 (6000 x 5000), which decoders of
            JPEG, PNG and BMP manage in 300 MB.

    Raises:
        TypeError: If `num` is no int.
        ValueError: If `num` is not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_max_pixels(50000 * 30000)  # satellite images
    """
    settings.max_pixels = _in_range(num, 1, 1 << 62, "Max pixels")


def get_max_pixels() -> int | None:
    """Width times height of the greatest image that is decoded."""
    return settings.max_pixels


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """What ``map`` does with a sample that its functions fail on.

    Args:
        error_samples_mode (ErrorSamplesMode): ``RETURN``, ``REPLACE`` or ``SKIP``.

    Raises:
        TypeError: If `error_samples_mode` is no ErrorSamplesMode.

    Examples:
        >>> import mindspore.dataset as ds
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(f"error_samples_mode should be an ErrorSamplesMode, but got {error_samples_mode!r}.")
    settings.error_samples_mode = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """What ``map`` does with a sample that its functions fail on; ``ErrorSamplesMode.RETURN`` until it is set."""
    return settings.error_samples_mode


_FILE_KEYS = {  # the setting, its least and its largest value; MindSpore's files have more keys, without effect here
    "numParallelWorkers": ("workers", 1, INT32_MAX),
    "opConnectorSize": ("prefetch", 1, INT32_MAX),
    "seed": ("seed", 0, UINT32_MAX),
    "monitorSamplingInterval": ("monitor_sampling_interval", 1, INT32_MAX),
}


def load(file: str) -> None:
    """Read settings from a JSON file. When one of them is wrong, none is changed.

    Args:
        file (str): Path of the file; its keys are MindSpore's (``numParallelWorkers``, ``seed``, ``opConnectorSize``,
            ...).

    Raises:
        RuntimeError: If the file cannot be read, is not JSON, or holds a setting of the wrong type or out of range.

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
    found = {}
    for key, (name, low, high) in _FILE_KEYS.items():
        value = values.get(key, low)
        if type(value) is not int or not low <= value <= high:
            raise text_files.BadFileError(
                f"The settings file {file!r} has {value!r:.80} as {key}, but it should be a whole number from {low} to "
                f"{high}."
            )
        if key in values:
            found[name] = value
    set_monitor_sampling_interval(found.pop("monitor_sampling_interval", get_monitor_sampling_interval()))
    vars(settings).update(found)
    others = dict.fromkeys(values.keys() - _FILE_KEYS, True)
    log.unused("dataset.config.load", "the engine has no such setting", **others)


# --- settings that have no effect here: kept, given back, and said once to have none ---------------------------------


def _pair(name, arguments, default, check, why):
    """(setter, getter) of a setting that changes nothing, because of `why`.

    The setter takes `arguments`, of which the first is the value and the others may be left out.
    """
    argument, *more = arguments.split()
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(argument, positional), *(inspect.Parameter(a, positional, default=None) for a in more)]
    )

    def setter(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        value = check(given[argument], argument)
        log.unused("dataset.config", why, **{name: value != default or len(given) > 1})
        settings.extra[name] = value

    def getter():
        return settings.extra.get(name, default)

    setter.__name__, getter.__name__ = f"set_{name}", f"get_{name}"
    setter.__signature__ = signature
    setter.__doc__ = f"Keep `{argument}` for :func:`get_{name}`; no effect here: {why}."
    getter.__doc__ = f"The value given to :func:`set_{name}`; {default} before."
    return setter, getter


def _positive(value, what):
    return _in_range(value, 1, INT32_MAX, what)


def _not_negative(value, what):
    return _in_range(value, 0, INT32_MAX, what)


def _fork_or_spawn(value, what):
    if not isinstance(value, str):
        raise TypeError(f"{what} should be a str, but got {value!r} ({type(value).__name__}).")
    if value not in ("fork", "spawn"):
        raise ValueError(f"{what} should be 'fork' or 'spawn', but got {value!r}.")
    return value


_SHARED = "workers share memory, so that there is nothing to bind"
_MEASURED = "a pipeline is measured while somebody looks, at every batch"
_WORKERS = "each operator has the number of workers that it names, or that of set_num_parallel_workers"
_PLANNED = "the engine makes a plan of every pipeline; dataset.explain() shows it"
_NO_WATCHDOG = "the error of a worker is raised where its rows are asked for"

set_numa_enable, get_numa_enable = _pair("numa_enable", "numa_enable", False, _boolean, _SHARED)
set_monitor_sampling_interval, get_monitor_sampling_interval = _pair(
    "monitor_sampling_interval", "interval", 1000, _positive, _MEASURED
)
set_auto_num_workers, get_auto_num_workers = _pair("auto_num_workers", "enable", False, _boolean, _WORKERS)
set_enable_autotune, get_enable_autotune = _pair("enable_autotune", "enable filepath_prefix", False, _boolean, _PLANNED)
set_autotune_interval, get_autotune_interval = _pair("autotune_interval", "interval", 0, _not_negative, _PLANNED)
set_auto_offload, get_auto_offload = _pair("auto_offload", "offload", False, _boolean, _PLANNED)
set_dynamic_shape, get_dynamic_shape = _pair(
    "dynamic_shape", "is_dynamic", False, _boolean, "batches may differ in shape in any case"
)
set_enable_watchdog, get_enable_watchdog = _pair("enable_watchdog", "enable", True, _boolean, _NO_WATCHDOG)
set_fast_recovery, get_fast_recovery = _pair(
    "fast_recovery", "fast_recovery", True, _boolean, "a pipeline that was left is made anew"
)
set_multiprocessing_timeout_interval, get_multiprocessing_timeout_interval = _pair(
    "multiprocessing_timeout_interval", "interval", 300, _positive, "nothing is logged while a worker is at work"
)
set_enable_shared_mem, get_enable_shared_mem = _pair(
    "enable_shared_mem", "enable", True, _boolean, "arrays come from worker processes through pipes"
)
set_sending_batches, get_sending_batches = _pair(
    "sending_batches", "batch_num", 0, _not_negative, "a loop takes each batch when it wants it"
)
set_debug_mode, get_debug_mode = _pair(
    "debug_mode",
    "debug_mode_flag debug_hook_list",
    False,
    _boolean,
    "every error names the operator, the sample and the user's line in any case",
)
set_multiprocessing_start_method, get_multiprocessing_start_method = _pair(
    "multiprocessing_start_method", "start_method", "fork", _fork_or_spawn, "processes are forked where the system can"
)


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Keep both for :func:`get_iterator_mode`; no effect here: values never share memory with the pipeline.

    Args:
        do_copy (bool): Whether iterators copy. Default: False.
        parallel_convert (bool): Whether a thread makes the Tensors. Default: False.
    """
    mode = {"do_copy": _boolean(do_copy, "do_copy"), "parallel_convert": _boolean(parallel_convert, "parallel_convert")}
    why = "values never share memory with the pipeline"
    log.unused("dataset.config", why, iterator_mode=do_copy or parallel_convert)
    settings.extra["iterator_mode"] = mode


def get_iterator_mode() -> dict[str, bool]:
    """What was given to :func:`set_iterator_mode`; False for both before."""
    return dict(settings.extra.get("iterator_mode", {"do_copy": False, "parallel_convert": False}))
