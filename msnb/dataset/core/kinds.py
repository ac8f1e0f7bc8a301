"""Kinds (checks by type and value) of the arguments of data sets and transforms.

Their errors have the wording of MindSpore's data engine for the chosen API generation, because programs match on it
("is not of type", "is not within the required interval").
"""

import os
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Worded
from msnb.core.operator import api_generations

UINT32_MAX = 2**32 - 1
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
FLOAT_MAX_INTEGER = 2**24  # float32 represents every integer up to here
_RESERVED_CHARACTERS = "\\/:*?\"<>|`&;'"


def _format_expected_types(types):
    """Format a tuple of expected types as MindSpore prints it."""
    names = ["<class 'mindspore._c_expression.typing.Type'>" if t is mstype.Type else repr(t) for t in types]
    if api_generations.shared == 2:
        return f"[{', '.join(names)}]"
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _format_actual_type(value):
    return f", but got {type(value)}" if api_generations.shared == 2 else ""


@cache
def of_type(*types):
    """Return the kind of an object of one of `types`. A bool does not count as an int."""
    no_bool = int in types and bool not in types

    def judge(value, name):
        if isinstance(value, types) and not (no_bool and isinstance(value, bool)):
            return value
        printed = '""' if isinstance(value, str) and value == "" else value
        raise TypeError(
            f"Argument {name} with value {printed} is not of type "
            f"{_format_expected_types(types)}{_format_actual_type(value)}."
        )

    return Worded(" or ".join(t.__name__ for t in types), judge)


def within(low: float, high: float, *types: type, low_in: bool = True) -> Worded:
    """Return the kind of a number from `low` to `high`, of one of `types` if any are given."""
    check_type = of_type(*types) if types else None

    def judge(value, name):
        if check_type is not None:
            check_type(value, name)
        if low <= value <= high and (low_in or value != low):
            return value
        raise outside(low, high, name, low_in)

    return Worded(f"a number from {low} to {high}", judge)


def _make_unnamed_int_kind(low, high):
    """Return the kind of an int in [low, high]. Its error does not name the argument, as in MindSpore."""
    return Worded(f"an int from {low} to {high}", lambda value, name: within(low, high)(of_type(int)(value, name), ""))


def outside(low: float, high: float, name: str, low_in: bool = True) -> ValueError:
    """Return the error for the number `name` outside [low, high], or outside (low, high] if `low_in` is False."""
    interval = f"{'[' if low_in else '('}{low}, {high}]" if api_generations.shared == 2 else f"({low} to {high})"
    return ValueError(f"Input {name}{' ' if name else ''}is not within the required interval of {interval}.")


def _check_num_samples(number, name):
    if api_generations.shared == 2 and of_type(int)(number, name) < 0:
        raise ValueError(f"{name} exceeds the boundary between 0 and {INT64_MAX}: {number}.")
    return within(0, INT32_MAX, int)(number, name)


def list_of(*types: type, containers: tuple[type, ...] = (list, tuple)) -> Worded:
    """Return the kind of a list whose elements are of one of `types`."""
    check_container, check_element = of_type(*containers), of_type(*types)

    def judge(values, name):
        check_container(values, name)
        for number, value in enumerate(values):
            check_element(value, f"{name}[{number}]")
        return values

    return Worded(f"a list of {check_element.expects}", judge)


def increasing(low: float, high: float) -> Worded:
    """Return the kind of a pair of numbers from `low` to `high`, the smaller one first."""

    def judge(pair, name):
        if all(a <= b for a, b in pairwise((low, pair[0], pair[1], high))):
            return pair
        raise outside(low, high, name)

    return Worded(f"two increasing numbers from {low} to {high}", judge)


def _check_above_zero(value, name):
    if value <= 0:
        raise ValueError(f"Input {name}{' ' if name else ''}must be greater than 0.")
    return value


positive: Worded = Worded("a number greater than 0", _check_above_zero)


def above_zero(*types: type) -> Worded:
    """Return the kind of a number greater than 0, of one of `types`."""
    check_type = of_type(*types)
    return Worded(f"{check_type.expects} greater than 0", lambda value, name: positive(check_type(value, name), name))


def one_of(*choices: Any) -> Worded:
    """Return the kind of a string that is one of `choices`."""

    def judge(value, name):
        if of_type(str)(value, name) in choices:
            return value
        raise ValueError(f"Input {name} is not within the valid set of {list(choices)}.")

    return Worded(f"one of {', '.join(map(repr, choices))}", judge)


def choice(*choices: Any) -> Worded:
    """Return the kind of a string that is one of `choices`. Every other value raises ValueError, whatever its type."""
    *most, last = map(repr, choices)
    expects = f"{', '.join(most)} or {last}"

    def judge(value, name):
        if value in choices:
            return value
        raise ValueError(f"{name} should be {expects}, but got {value!r}.")

    return Worded(expects, judge)


def of_callable(op: Any, name: str) -> Any:
    """Check that `op` is a transform of the library or any other callable, and return it."""
    if callable(op):
        return op
    raise TypeError(f"{name} is neither a c_transform op (TensorOp) nor a callable pyfunc.")


def as_list(columns: Any) -> list[str] | None:
    """Return a column name as a list of one name. A list and None are returned unchanged."""
    return [columns] if isinstance(columns, str) else columns


_check_name_or_list, _check_str_list, _check_list = of_type(list, str), list_of(str), of_type(list)


def _check_column_names(columns, name):
    _check_name_or_list(columns, name)
    if not columns:
        raise ValueError(f"{name} should not be {'an empty str' if isinstance(columns, str) else 'empty'}.")
    entries = as_list(columns)
    blank = next((i for i, entry in enumerate(entries) if not entry), None)
    if blank is not None:
        raise ValueError(f"{name}[{blank}] should not be empty.")
    _check_str_list(entries, name)
    repeated = next((c for i, c in enumerate(entries) if c in entries[:i]), None)
    if repeated is not None:
        raise ValueError(f"Every column name in {name} should be different, but {repeated!r} is there twice.")
    return columns


def _check_column_list(columns, name):
    return _check_column_names(_check_list(columns, name), name)


def _check_num_workers(number, name):
    limit = max(64, os.cpu_count() or 1)
    # More workers than processors are allowed: they share the processors.
    if of_type(int)(number, name) in range(1, limit + 1):
        return number
    raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {limit}: got {number}.")


def _check_non_zero(number, name):
    if within(-INT32_MAX - 1, INT32_MAX, int)(number, name):
        return number
    raise ValueError(f"Input {name} must not be 0.")


def _check_positive_or_minus_one(count, name):
    if of_type(int)(count, name) == -1 or 0 < count <= INT32_MAX:
        return count
    raise ValueError(f"{name} should be either -1 or positive integer, but got {count}.")


def _check_pad_info(pad_info, name):
    for key in of_type(dict)(pad_info, name):
        of_type(str)(key, f"key in {name}")
    for entry in pad_info.values():
        if entry is not None:
            _check_column_padding(entry, name)
    return pad_info


def _check_column_padding(entry, name):
    of_type(tuple)(entry, f"value in {name}")
    if len(entry) != 2:
        raise ValueError(f"value of {name} should be a tuple of size 2 (shape, value), but got {entry}.")
    shape, fill = entry
    if fill is not None:
        of_type(int, float, str, bytes)(fill, "pad_value")
    lengths = [d for d in (of_type(list)(shape, "pad_shape") if shape is not None else ()) if d is not None]
    for length in lengths:
        of_type(int)(length, "dim in pad_shape")
    if min(lengths, default=1) < 1:
        raise ValueError(f"pad shape should be positive integers, but got {shape}.")


def _check_readable_path(path, kind, exists):
    if not (exists(path) and os.access(path, os.R_OK)):
        directory = " is not a directory or" if kind == "folder" and api_generations.shared == 2 else ""
        raise ValueError(f"The {kind} {path} does not exist or{directory} permission denied!")
    return path


def _check_folder(path, name):
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"A folder should be given as str, but got {path!r} ({type(path).__name__}).")
    return _check_readable_path(path, "folder", os.path.isdir)


def _check_file(path, name):
    return _check_readable_path(_check_file_name(path, name), "file", os.path.isfile)


def _check_file_name(path, name):
    if not isinstance(path, str):
        raise TypeError(f"path: {path} is not string")
    last = os.path.basename(path)
    if set(last) & set(_RESERVED_CHARACTERS):
        raise ValueError(f"filename should not contain any of {_RESERVED_CHARACTERS}, but got {last!r}.")
    if last != last.strip(" "):
        raise ValueError(f"filename should not start or end with space, but got {last!r}.")
    return path


Flag = Annotated[bool, of_type(bool)]
Text = Annotated[str, of_type(str)]
Texts = Annotated[list[str], list_of(str, containers=(list,))]
Int = Annotated[int, of_type(int)]
Real = Annotated[float, of_type(int, float)]
UInt8 = Annotated[int, _make_unnamed_int_kind(0, 255)]
UInt32 = Annotated[int, _make_unnamed_int_kind(0, UINT32_MAX)]
PositiveInt32 = Annotated[int, within(1, INT32_MAX, int)]
NonNegInt32 = Annotated[int, within(0, INT32_MAX, int)]
NonZeroInt32 = Annotated[int, Worded("an int other than 0", _check_non_zero)]
Real24 = Annotated[float, within(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER, float, int)]
PositiveReal24 = Annotated[float, within(0, FLOAT_MAX_INTEGER, float, int, low_in=False)]
NonNegReal24 = Annotated[float, within(0, FLOAT_MAX_INTEGER, float, int)]
NumSamples = Annotated[int, Worded("a number of samples", _check_num_samples)]
NonNegInt64 = Annotated[int, within(0, INT64_MAX, int)]
NoEnd = Annotated[int, within(-1, INT32_MAX, int)]
Count = Annotated[int, Worded("-1 or a positive int", _check_positive_or_minus_one)]
Workers = Annotated[int, Worded("a positive number of workers", _check_num_workers)]
Columns = Annotated[str | list[str], Worded("a column name or a list of different ones", _check_column_names)]
ColumnList = Annotated[list[str], Worded("a list of different column names", _check_column_list)]
PadInfo = Annotated[dict, Worded("a dict of column to (shape, value) or None", _check_pad_info)]
Folder = Annotated[str, Worded("a folder that can be read", _check_folder)]
File = Annotated[str, Worded("a file that can be read", _check_file)]
FileName = Annotated[str, Worded("a path that file systems take", _check_file_name)]
