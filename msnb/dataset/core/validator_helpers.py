"""Argument checks of data sets under MindSpore's names. Each applies a kind of `dataset.core.kinds`."""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.common.kinds import check
from msnb.dataset.core import kinds
from msnb.dataset.core.kinds import *  # noqa: F403


def _make_kind_check(kind: Any) -> Callable[..., Any]:
    return lambda value, name="": check(kind, value, name, None)


check_uint8: Callable[..., Any] = _make_kind_check(kinds.UInt8)
check_uint32: Callable[..., Any] = _make_kind_check(kinds.UInt32)
check_pos_int32: Callable[..., Any] = _make_kind_check(kinds.PositiveInt32)
check_pos_int64: Callable[..., Any] = _make_kind_check(kinds.NonNegInt64)
check_pos_float32: Callable[..., Any] = _make_kind_check(kinds.within(0, kinds.FLOAT_MAX_INTEGER))
check_float32: Callable[..., Any] = _make_kind_check(kinds.within(-kinds.FLOAT_MAX_INTEGER, kinds.FLOAT_MAX_INTEGER))
check_positive: Callable[..., Any] = _make_kind_check(kinds.positive)
check_columns: Callable[..., Any] = _make_kind_check(kinds.Columns)
check_filename: Callable[..., Any] = _make_kind_check(kinds.FileName)
check_file: Callable[..., Any] = _make_kind_check(kinds.File)
check_dir: Callable[..., Any] = _make_kind_check(kinds.Folder)
check_num_parallel_workers: Callable[..., Any] = _make_kind_check(kinds.Workers)
check_num_samples: Callable[..., Any] = _make_kind_check(kinds.NumSamples)


def type_check(arg: object, types: Any, name: str) -> None:
    """Raise a TypeError unless `arg` is an instance of `types`. A bool does not count as an int."""
    kinds.of_type(*types)(arg, name)


def type_check_list(args: Sequence[Any], types: Any, name: str) -> None:
    """Run :func:`type_check` on every element of a list or tuple."""
    kinds.list_of(*types)(args, name)


def check_value(value: Any, interval: Sequence[Any], name: str = "") -> None:
    """Raise a ValueError unless `value` is in the closed `interval`."""
    kinds.within(*interval)(value, name)


def check_value_normalize_std(value: Any, interval: Sequence[Any], name: str = "") -> None:
    """Raise a ValueError unless `value` is in `interval`, whose lower bound is excluded."""
    kinds.within(*interval, low_in=False)(value, name)


def check_range(values: Sequence[Any], interval: Sequence[Any], name: str = "") -> None:
    """Raise a ValueError unless `values` is an increasing pair inside `interval`."""
    kinds.increasing(*interval)(values, name)


def check_valid_str(value: str, valid: Any, name: str = "") -> None:
    """Raise a ValueError unless `value` is one of the strings `valid`."""
    kinds.one_of(*valid)(value, name)


def check_as_declared(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that does nothing, for one of MindSpore's names such as "check_batch".

    MindSpore checks the arguments of its methods with such decorators. Here the signature of each class declares the
    kinds of its arguments.

    Raises:
        AttributeError: If `name` does not begin with "check_".
    """
    if not name.startswith("check_"):
        raise AttributeError(f"there is no check {name!r}", name=name)
    return lambda method: method
