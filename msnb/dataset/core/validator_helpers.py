"""Checks of arguments of datasets, under MindSpore's names. Each applies a kind of `dataset.core.kinds`."""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.common.kinds import check
from msnb.dataset.core import kinds
from msnb.dataset.core.kinds import *  # noqa: F403


def _under_its_name(kind: Any) -> Callable[..., Any]:
    return lambda value, name="": check(kind, value, name, None)


check_uint8: Callable[..., Any] = _under_its_name(kinds.UInt8)
check_uint32: Callable[..., Any] = _under_its_name(kinds.UInt32)
check_pos_int32: Callable[..., Any] = _under_its_name(kinds.PositiveInt32)
check_pos_int64: Callable[..., Any] = _under_its_name(kinds.NonNegInt64)
check_pos_float32: Callable[..., Any] = _under_its_name(kinds.within(0, kinds.FLOAT_MAX_INTEGER))
check_float32: Callable[..., Any] = _under_its_name(kinds.within(-kinds.FLOAT_MAX_INTEGER, kinds.FLOAT_MAX_INTEGER))
check_positive: Callable[..., Any] = _under_its_name(kinds.positive)
check_columns: Callable[..., Any] = _under_its_name(kinds.Columns)
check_filename: Callable[..., Any] = _under_its_name(kinds.FileName)
check_file: Callable[..., Any] = _under_its_name(kinds.File)
check_dir: Callable[..., Any] = _under_its_name(kinds.Folder)
check_num_parallel_workers: Callable[..., Any] = _under_its_name(kinds.Workers)
check_num_samples: Callable[..., Any] = _under_its_name(kinds.NumSamples)


def type_check(arg: object, types: Any, name: str) -> None:
    """TypeError unless `arg` is an instance of `types`; a bool is no int."""
    kinds.of_type(*types)(arg, name)


def type_check_list(args: Sequence[Any], types: Any, name: str) -> None:
    """:func:`type_check` of every element of a list or tuple."""
    kinds.list_of(*types)(args, name)


def check_value(value: Any, interval: Sequence[Any], name: str = "") -> None:
    """ValueError unless `value` lies in the closed `interval`."""
    kinds.within(*interval)(value, name)


def check_value_normalize_std(value: Any, interval: Sequence[Any], name: str = "") -> None:
    """ValueError unless `value` lies in `interval`, its lower bound excluded."""
    kinds.within(*interval, low_in=False)(value, name)


def check_range(values: Sequence[Any], interval: Sequence[Any], name: str = "") -> None:
    """ValueError unless `values` is an increasing pair inside `interval`."""
    kinds.increasing(*interval)(values, name)


def check_valid_str(value: str, valid: Any, name: str = "") -> None:
    """One of the strings `valid`."""
    kinds.one_of(*valid)(value, name)


def check_as_declared(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For a decorator such as "check_batch", by which MindSpore checks what a method of its own is called with: one
    that leaves a function as it is, since here the arguments of each class say in its signature what they have to be.

    Raises:
        AttributeError: If it is not the name of one.
    """
    if not name.startswith("check_"):
        raise AttributeError(f"there is no check {name!r}", name=name)
    return lambda method: method
