"""What arguments of data sets and transforms may be: Kinds that refuse in the sentences of MindSpore's data engine,
which programs match on ("is not of type", "is not within the required interval"), of the generation that is chosen.
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
FLOAT_MAX_INTEGER = 2**24  # up to here float32 holds every whole number
_SYSTEMS_OWN = "\\/:*?\"<>|`&;'"


def _types_text(types):
    """How MindSpore prints a tuple of expected types; its own classes carry the names they have there."""
    names = ["<class 'mindspore._c_expression.typing.Type'>" if t is mstype.Type else repr(t) for t in types]
    if api_generations.shared == 2:
        return f"[{', '.join(names)}]"
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _given(value):
    return f", but got {type(value)}" if api_generations.shared == 2 else ""


@cache
def of_type(*types):
    """An object of one of `types`; a bool is no int."""
    no_bool = int in types and bool not in types

    def judge(value, name):
        if isinstance(value, types) and not (no_bool and isinstance(value, bool)):
            return value
        shown = '""' if isinstance(value, str) and value == "" else value
        raise TypeError(f"Argument {name} with value {shown} is not of type {_types_text(types)}{_given(value)}.")

    return Worded(" or ".join(t.__name__ for t in types), judge)


def within(low: float, high: float, *types: type, low_in: bool = True) -> Worded:
    """A number from `low` to `high`, of one of `types` where there are any."""
    typed = of_type(*types) if types else None

    def judge(value, name):
        if typed is not None:
            typed(value, name)
        if low <= value <= high and (low_in or value != low):
            return value
        raise outside(low, high, name, low_in)

    return Worded(f"a number from {low} to {high}", judge)


def _unnamed(low, high):
    """An int within an interval; MindSpore does not name the argument that is outside of it."""
    return Worded(f"an int from {low} to {high}", lambda value, name: within(low, high)(of_type(int)(value, name), ""))


def outside(low: float, high: float, name: str, low_in: bool = True) -> ValueError:
    """The error of a number that is not within an interval, to which `low` itself belongs or not."""
    interval = f"{'[' if low_in else '('}{low}, {high}]" if api_generations.shared == 2 else f"({low} to {high})"
    return ValueError(f"Input {name}{' ' if name else ''}is not within the required interval of {interval}.")


def _samples(number, name):
    if api_generations.shared == 2 and of_type(int)(number, name) < 0:
        raise ValueError(f"{name} exceeds the boundary between 0 and {INT64_MAX}: {number}.")
    return within(0, INT32_MAX, int)(number, name)


def list_of(*types: type, containers: tuple[type, ...] = (list, tuple)) -> Worded:
    """A list of objects of one of `types`."""
    whole, part = of_type(*containers), of_type(*types)

    def judge(values, name):
        whole(values, name)
        for number, value in enumerate(values):
            part(value, f"{name}[{number}]")
        return values

    return Worded(f"a list of {part.expects}", judge)


def increasing(low: float, high: float) -> Worded:
    """Two numbers from `low` to `high`, the smaller one first."""

    def judge(pair, name):
        if all(a <= b for a, b in pairwise((low, pair[0], pair[1], high))):
            return pair
        raise outside(low, high, name)

    return Worded(f"two increasing numbers from {low} to {high}", judge)


def _above_zero(value, name):
    if value <= 0:
        raise ValueError(f"Input {name}{' ' if name else ''}must be greater than 0.")
    return value


positive: Worded = Worded("a number greater than 0", _above_zero)


def above_zero(*types: type) -> Worded:
    """A number greater than 0, of one of `types`."""
    typed = of_type(*types)
    return Worded(f"{typed.expects} greater than 0", lambda value, name: positive(typed(value, name), name))


def one_of(*choices: Any) -> Worded:
    """One of some strings."""

    def judge(value, name):
        if of_type(str)(value, name) in choices:
            return value
        raise ValueError(f"Input {name} is not within the valid set of {list(choices)}.")

    return Worded(f"one of {', '.join(map(repr, choices))}", judge)


def choice(*choices: Any) -> Worded:
    """One of some strings; everything else is a ValueError."""
    *most, last = map(repr, choices)
    expects = f"{', '.join(most)} or {last}"

    def judge(value, name):
        if value in choices:
            return value
        raise ValueError(f"{name} should be {expects}, but got {value!r}.")

    return Worded(expects, judge)


def of_callable(op: Any, name: str) -> Any:
    """A transform of the library or any callable."""
    if callable(op):
        return op
    raise TypeError(f"{name} is neither a c_transform op (TensorOp) nor a callable pyfunc.")


def as_list(columns: Any) -> list[str] | None:
    """The names in an argument that is one column name, a list of them or None: a list, None stays None."""
    return [columns] if isinstance(columns, str) else columns


_name_or_names, _names, _list = of_type(list, str), list_of(str), of_type(list)


def _columns(columns, name):
    _name_or_names(columns, name)
    if not columns:
        raise ValueError(f"{name} should not be {'an empty str' if isinstance(columns, str) else 'empty'}.")
    entries = as_list(columns)
    blank = next((i for i, entry in enumerate(entries) if not entry), None)
    if blank is not None:
        raise ValueError(f"{name}[{blank}] should not be empty.")
    _names(entries, name)
    twice = next((c for i, c in enumerate(entries) if c in entries[:i]), None)
    if twice is not None:
        raise ValueError(f"Every column name in {name} should be different, but {twice!r} is there twice.")
    return columns


def _column_list(columns, name):
    return _columns(_list(columns, name), name)


def _workers(number, name):
    """More workers than processors are allowed: they share the processors."""
    most = max(64, os.cpu_count() or 1)
    if of_type(int)(number, name) in range(1, most + 1):
        return number
    raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {most}: got {number}.")


def _non_zero(number, name):
    if within(-INT32_MAX - 1, INT32_MAX, int)(number, name):
        return number
    raise ValueError(f"Input {name} must not be 0.")


def _count(count, name):
    if of_type(int)(count, name) == -1 or 0 < count <= INT32_MAX:
        return count
    raise ValueError(f"{name} should be either -1 or positive integer, but got {count}.")


def _padding(pad_info, name):
    for key in of_type(dict)(pad_info, name):
        of_type(str)(key, f"key in {name}")
    for entry in pad_info.values():
        if entry is not None:
            _column_padding(entry, name)
    return pad_info


def _column_padding(entry, name):
    of_type(tuple)(entry, f"value in {name}")
    if len(entry) != 2:
        raise ValueError(f"value of {name} should be a tuple of size 2 (shape, value), but got {entry}.")
    shape, fill = entry
    if fill is not None:
        of_type(int, float, str, bytes)(fill, "pad_value")
    known = [d for d in (of_type(list)(shape, "pad_shape") if shape is not None else ()) if d is not None]
    for length in known:
        of_type(int)(length, "dim in pad_shape")
    if min(known, default=1) < 1:
        raise ValueError(f"pad shape should be positive integers, but got {shape}.")


def _readable(path, kind, is_there):
    if not (is_there(path) and os.access(path, os.R_OK)):
        directory = " is not a directory or" if kind == "folder" and api_generations.shared == 2 else ""
        raise ValueError(f"The {kind} {path} does not exist or{directory} permission denied!")
    return path


def _folder(path, name):
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"A folder should be given as str, but got {path!r} ({type(path).__name__}).")
    return _readable(path, "folder", os.path.isdir)


def _file(path, name):
    return _readable(_file_name(path, name), "file", os.path.isfile)


def _file_name(path, name):
    if not isinstance(path, str):
        raise TypeError(f"path: {path} is not string")
    last = os.path.basename(path)
    if set(last) & set(_SYSTEMS_OWN):
        raise ValueError(f"filename should not contain any of {_SYSTEMS_OWN}, but got {last!r}.")
    if last != last.strip(" "):
        raise ValueError(f"filename should not start or end with space, but got {last!r}.")
    return path


Flag = Annotated[bool, of_type(bool)]
Text = Annotated[str, of_type(str)]
Texts = Annotated[list[str], list_of(str, containers=(list,))]
Whole = Annotated[int, of_type(int)]
Real = Annotated[float, of_type(int, float)]
UInt8 = Annotated[int, _unnamed(0, 255)]
UInt32 = Annotated[int, _unnamed(0, UINT32_MAX)]
PositiveInt32 = Annotated[int, within(1, INT32_MAX, int)]
NonNegInt32 = Annotated[int, within(0, INT32_MAX, int)]
NonZeroInt32 = Annotated[int, Worded("an int other than 0", _non_zero)]
Real24 = Annotated[float, within(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER, float, int)]
PositiveReal24 = Annotated[float, within(0, FLOAT_MAX_INTEGER, float, int, low_in=False)]
NonNegReal24 = Annotated[float, within(0, FLOAT_MAX_INTEGER, float, int)]
NumSamples = Annotated[int, Worded("a number of samples", _samples)]
NonNegInt64 = Annotated[int, within(0, INT64_MAX, int)]
NoEnd = Annotated[int, within(-1, INT32_MAX, int)]
Count = Annotated[int, Worded("-1 or a positive int", _count)]
Workers = Annotated[int, Worded("a positive number of workers", _workers)]
Columns = Annotated[str | list[str], Worded("a column name or a list of different ones", _columns)]
ColumnList = Annotated[list[str], Worded("a list of different column names", _column_list)]
PadInfo = Annotated[dict, Worded("a dict of column to (shape, value) or None", _padding)]
Folder = Annotated[str, Worded("a folder that can be read", _folder)]
File = Annotated[str, Worded("a file that can be read", _file)]
FileName = Annotated[str, Worded("a path that file systems take", _file_name)]
