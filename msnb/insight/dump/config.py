"""Settings of a dump: the JSON file that ``MINDSPORE_DUMP_CONFIG`` names, as MindSpore r1.1 and 2.x write it."""

import dataclasses
import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msnb import log

VARIABLE = "MINDSPORE_DUMP_CONFIG"
STATISTICS = ("max", "min", "avg", "count", "negative zero count", "positive zero count", "nan count")
STATISTICS += ("negative inf count", "positive inf count", "zero count", "l2norm")
_DEFAULT_STATISTICS = ("max", "min", "l2norm")
_SAVED = ("tensor", "statistic", "full")
_MAX_BYTES = 10 << 30
# Settings without effect, with their usual values. They are for Ascend chips, or for formats that XLA does not have. A
# message is logged if a setting does not have its usual value. None means that every value is usual.
_WITHOUT_EFFECT: dict[str, dict[str, Any]] = {
    "common_dump_settings": {"op_debug_mode": 0, "file_format": "npy", "initial_iteration": 0, "overflow_number": 0},
    "e2e_dump_settings": {
        "trans_flag": None,
        "stat_calc_mode": "host",
        "device_stat_precision_mode": None,
        "sample_mode": 0,
        "sample_num": None,
    },
}
_USED = {
    "common_dump_settings": {
        *("dump_mode", "path", "net_name", "iteration", "saved_data", "input_output", "kernels"),
        *("statistic_category", "max_bytes", "support_device"),
    },
    "e2e_dump_settings": {"enable"},
}


@dataclasses.dataclass(frozen=True)
class DumpConfig:
    """The settings of a dump.

    Attributes:
        path (Path): absolute path of the folder.
        net_name (str): name of the subfolder of the network.
        iterations (Union[list[tuple[int, int]], None]): first and last iteration of each range, from 0; None for all.
        kernels (tuple[str]): names or types of operators, or ``name-regex(...)``; empty for all operators.
        by_target (bool): True to write only the operators that `set_dump` has selected.
        with_inputs (bool), with_outputs (bool): the values that are written.
        with_tensors (bool), with_statistics (bool): the form in which they are written.
        statistics (tuple[str]): the columns of the statistics, of `STATISTICS`.
        is_r1 (bool): True for the folders and ``.bin`` files of MindSpore r1.1, False for the ``.npy`` files of 1.5
            and later.
        max_bytes (int): size at which the dump ends. Default: 10 GB.
        devices (Union[frozenset[int], None]): numbers of the processes that write; None for all.
        text (dict): the settings as they were read.
    """

    path: Path
    net_name: str = "Net"
    iterations: list[tuple[int, int]] | None = None
    kernels: tuple[str, ...] = ()
    by_target: bool = False
    with_inputs: bool = True
    with_outputs: bool = True
    with_tensors: bool = True
    with_statistics: bool = False
    statistics: tuple[str, ...] = _DEFAULT_STATISTICS
    is_r1: bool = False
    max_bytes: int = _MAX_BYTES
    devices: frozenset[int] | None = None
    text: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def has_all_operators(self) -> bool:
        """Return True if the dump is not limited to some operators. Parameters are then written, too."""
        return not self.kernels and not self.by_target

    def has_iteration(self, number: int) -> bool:
        """Return True if the iteration of this number, from 0, is written."""
        return self.iterations is None or any(first <= number <= last for first, last in self.iterations)

    def select(self, names: Sequence[tuple[str, str]]) -> dict[str, list[int]]:
        """Return the indices of the operators that each entry of `kernels` selects.

        Args:
            names (Sequence[tuple[str, str]]): name and type of each operator.
        """
        tests = {kernel: _make_kernel_test(kernel) for kernel in self.kernels}
        return {kernel: [i for i, name in enumerate(names) if test(*name)] for kernel, test in tests.items()}


def read_config(path: str | Path) -> DumpConfig | None:
    """Read the settings of a dump from a JSON file.

    Args:
        path (Union[str, Path]): the file.

    Returns:
        DumpConfig, or None if the file disables the dump.

    Raises:
        ValueError: If the file can't be read or is not JSON, or if a setting has an invalid value.
    """
    path = Path(path)
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}. A dump configuration is JSON.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The dump configuration {path} can't be read: {error}.") from None
    try:
        return _parse_config(settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _parse_config(settings: Any) -> DumpConfig | None:
    if not isinstance(settings, dict) or not isinstance(settings.get("common_dump_settings"), dict):
        raise ValueError("it should have 'common_dump_settings', an object.")
    common = settings["common_dump_settings"]
    end_to_end = settings.get("e2e_dump_settings", {"enable": "async_dump_settings" in settings})
    for section, values in (("common_dump_settings", common), ("e2e_dump_settings", end_to_end)):
        _check_setting_names(section, values)
    if not _get_checked_setting(end_to_end, "enable", False, "true or false", lambda value: isinstance(value, bool)):
        enabled = settings.get("async_dump_settings", {}).get("enable", False)
        if enabled:
            raise ValueError("'async_dump_settings' belongs to Ascend chips; set 'enable' of 'e2e_dump_settings'.")
        return None
    folder = _get_checked_setting(
        common, "path", "", "an absolute path", lambda value: _is_text(value) and Path(value).is_absolute()
    )
    mode = _get_checked_setting(common, "dump_mode", 0, "0, 1 or 2", lambda value: _is_int(value) and 0 <= value <= 2)
    kernels = _get_checked_setting(
        common, "kernels", [], "a list of str", lambda value: isinstance(value, list) and all(map(_is_text, value))
    )
    if mode == 1 and not kernels:
        raise ValueError("'dump_mode' 1 needs names of operators in 'kernels'.")
    for kernel in kernels:
        _make_kernel_test(kernel)
    saved = _get_checked_setting(
        common, "saved_data", "tensor", f"one of {', '.join(_SAVED)}", lambda value: value in _SAVED
    )
    side = _get_checked_setting(
        common, "input_output", 0, "0, 1 or 2", lambda value: _is_int(value) and 0 <= value <= 2
    )
    columns = _get_checked_setting(
        common,
        "statistic_category",
        list(_DEFAULT_STATISTICS),
        f"a list of {', '.join(STATISTICS)}",
        lambda value: isinstance(value, list) and set(value) <= set(STATISTICS),
    )
    devices = _get_checked_setting(
        common,
        "support_device",
        [],
        "a list of int",
        lambda value: isinstance(value, list) and all(map(_is_int, value)),
    )
    iteration = common.get("iteration", 0)
    return DumpConfig(
        path=Path(folder),
        net_name=_get_checked_setting(
            common, "net_name", "Net", "a name without '/'", lambda v: _is_text(v) and v and "/" not in v
        ),
        iterations=_parse_iterations(iteration),
        kernels=tuple(kernels) if mode == 1 else (),
        by_target=mode == 2,
        with_inputs=side in (0, 1),
        with_outputs=side in (0, 2),
        with_tensors=saved != "statistic",
        with_statistics=saved != "tensor",
        statistics=tuple(name for name in STATISTICS if name in columns),
        is_r1=_is_int(iteration) and "saved_data" not in common,
        max_bytes=_get_checked_setting(
            common, "max_bytes", _MAX_BYTES, "a positive int", lambda v: _is_int(v) and v > 0
        ),
        devices=frozenset(devices) or None,
        text=settings,
    )


def _check_setting_names(section, values):
    if not isinstance(values, dict):
        raise ValueError(f"'{section}' should be an object, but got {values!r}.")
    names = _USED[section] | _WITHOUT_EFFECT[section].keys()
    for name, value in values.items():
        if (usual := _WITHOUT_EFFECT[section].get(name)) is not None and value != usual:
            log.once(f"'{name}' of the dump has no effect here: it belongs to Ascend chips.")
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f" Is it '{near[0]}'?" if near else ""
            raise ValueError(f"'{section}' has no setting '{name}'.{hint}")


def _get_checked_setting(
    values: Mapping[str, Any], name: str, default: Any, form: str, accepts: Callable[[Any], Any]
) -> Any:
    value = values.get(name, default)
    if not accepts(value):
        raise ValueError(f"'{name}' should be {form}, but got {value!r}.")
    return value


def _parse_iterations(value):
    """Return the ranges of 'iteration': an int (0 for all), "all", or numbers and ranges such as "0|5-8"."""
    if value == "all" or _is_int(value) and value == 0:
        return None
    if _is_int(value) and value > 0:
        return [(value, value)]
    ranges = []
    for part in str(value).split("|"):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None or not _is_text(value) or match[2] and int(match[2]) < int(match[1]):
            raise ValueError(f"'iteration' should be an int, 'all' or such as '0|5-8', but got {value!r}.")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return ranges


def _make_kernel_test(kernel) -> Callable[[str, str], bool]:
    pattern = re.fullmatch(r"name-regex\((.*)\)", kernel)
    if pattern:
        try:
            compiled = re.compile(pattern[1])
        except re.error as error:
            raise ValueError(f"'kernels' has {kernel!r}, which is no regular expression: {error}.") from None
        return lambda name, op: compiled.fullmatch(name) is not None
    return lambda name, op: kernel in (name, op)


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value):
    return isinstance(value, str)
