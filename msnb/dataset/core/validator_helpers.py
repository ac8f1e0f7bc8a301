"""Argument checks. The phrases users and programs match on ("is not of type", "is not within the required interval")
are MindSpore's.
"""

import numbers
import os
from itertools import pairwise

import numpy as np

from msnb.common import dtype as mstype

POS_INT_MIN = 1
UINT8_MIN, UINT8_MAX = 0, 255
UINT32_MIN, UINT32_MAX = 0, 4294967295
UINT64_MIN, UINT64_MAX = 0, 18446744073709551615
INT32_MIN, INT32_MAX = -2147483648, 2147483647
INT64_MIN, INT64_MAX = -9223372036854775808, 9223372036854775807
FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER = -16777216, 16777216
DOUBLE_MIN_INTEGER, DOUBLE_MAX_INTEGER = -9007199254740992, 9007199254740992

COLUMN_TYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "string",
)


def replace_none(value, default):
    """`default` in place of None."""
    return default if value is None else value


def _types_text(types):
    """How MindSpore prints a tuple of expected types; its own classes carry the names they have there."""
    names = ["<class 'mindspore._c_expression.typing.Type'>" if t is mstype.Type else repr(t) for t in types]
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _named(name):
    return f"{name} " if name else ""


def type_check(arg, types, name):
    """TypeError unless `arg` is an instance of `types`; a bool is no int."""
    if isinstance(arg, types) and not (isinstance(arg, bool) and int in types and bool not in types):
        return
    shown = '""' if isinstance(arg, str) and arg == "" else arg
    raise TypeError(f"Argument {name} with value {shown} is not of type {_types_text(types)}.")


def type_check_list(args, types, names):
    """:func:`type_check` of every element; `names` is one name (indexed) or a list of names."""
    type_check(args, (list, tuple), names)
    if isinstance(names, str):
        names = [f"{names}[{i}]" for i in range(len(args))]
    elif len(args) != len(names):
        raise ValueError(f"Expected {len(names)} values for {names}, but got {len(args)}.")
    for arg, name in zip(args, names, strict=True):
        type_check(arg, types, name)


def _outside(interval, name):
    return ValueError(f"Input {_named(name)}is not within the required interval of ({interval[0]} to {interval[1]}).")


def check_value(value, interval, name=""):
    """ValueError unless `value` lies in the closed `interval`."""
    if not interval[0] <= value <= interval[1]:
        raise _outside(interval, name)


def check_value_normalize_std(value, interval, name=""):
    """ValueError unless `value` lies in `interval`, its lower bound excluded."""
    check_value(value, interval, name)
    if value == interval[0]:
        raise _outside(interval, name)


def check_range(values, interval, name=""):
    """ValueError unless `values` is an increasing pair inside `interval`."""
    points = interval[0], values[0], values[1], interval[1]
    if not all(a <= b for a, b in pairwise(points)):
        raise _outside(interval, name)


def check_positive(value, name=""):
    """ValueError unless `value` > 0."""
    if value <= 0:
        raise ValueError(f"Input {_named(name)}must be greater than 0.")


def check_2tuple(value, name=""):
    """ValueError unless `value` is a tuple of two."""
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"Value {_named(name)}needs to be a 2-tuple.")


def _whole_number(value, low, high, name, shown):
    type_check(value, (int,), name)
    check_value(value, (low, high), shown)


def check_uint8(value, name=""):
    """An int from 0 to 255."""
    _whole_number(value, UINT8_MIN, UINT8_MAX, name, "")


def check_uint32(value, name=""):
    """An int from 0 to 2**32 - 1."""
    _whole_number(value, UINT32_MIN, UINT32_MAX, name, "")


def check_pos_int32(value, name=""):
    """An int from 1 to 2**31 - 1."""
    _whole_number(value, POS_INT_MIN, INT32_MAX, name, name)


def check_pos_int64(value, name=""):
    """An int from 0 to 2**63 - 1."""
    _whole_number(value, UINT64_MIN, INT64_MAX, name, name)


def check_float32(value, name=""):
    """A number that float32 holds exactly as an integer."""
    check_value(value, (FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER), name)


def check_pos_float32(value, name=""):
    """A number from 0 to 2**24."""
    check_value(value, (UINT32_MIN, FLOAT_MAX_INTEGER), name)


def check_valid_detype(name):
    """True for the name of a column type; TypeError otherwise."""
    if name not in COLUMN_TYPES:
        raise TypeError(f"Unknown column type: {name!r}; expected one of {', '.join(COLUMN_TYPES)}.")
    return True


def check_valid_str(value, valid, name=""):
    """One of the strings `valid`."""
    type_check(value, (str,), name)
    if value not in valid:
        raise ValueError(f"Input {name} is not within the valid set of {valid}.")


def check_columns(columns, name):
    """A non-empty column name or a list of different ones."""
    type_check(columns, (list, str), name)
    if not columns:
        raise ValueError(f"{name} should not be {'an empty str' if isinstance(columns, str) else 'empty'}.")
    entries = as_list(columns)
    blank = next((i for i, entry in enumerate(entries) if not entry), None)
    if blank is not None:
        raise ValueError(f"{name}[{blank}] should not be empty.")
    type_check_list(entries, (str,), name)
    twice = next((c for i, c in enumerate(entries) if c in entries[:i]), None)
    if twice is not None:
        raise ValueError(f"Every column name in {name} should be different, but {twice!r} is there twice.")


def as_list(columns):
    """The names in an argument that is one column name, a list of them or None: a list, None stays None."""
    return [columns] if isinstance(columns, str) else columns


def check_num_parallel_workers(value):
    """A positive int. More workers than processors are allowed: they share the processors."""
    most = max(64, os.cpu_count() or 1)
    type_check(value, (int,), "num_parallel_workers")
    if value not in range(1, most + 1):
        raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {most}: got {value}.")


def check_num_samples(value):
    """A non-negative int."""
    check_within(0, INT32_MAX, num_samples=value)


def check_types(types, **arguments):
    """:func:`type_check` of every argument."""
    for name, value in arguments.items():
        type_check(value, types, name)


def check_optional(kinds, **arguments):
    """:func:`type_check` of every argument that is not None."""
    check_types(kinds, **{name: value for name, value in arguments.items() if value is not None})


def check_within(low, high, **arguments):
    """Every argument is an int from `low` to `high`."""
    check_types((int,), **arguments)
    for name, value in arguments.items():
        check_value(value, (low, high), name)


def _readable(path, kind, is_there):
    if not (is_there(path) and os.access(path, os.R_OK)):
        raise ValueError(f"The {kind} {path} does not exist or permission denied!")


def check_dir(path):
    """A folder that can be read."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"A folder should be given as str, but got {path!r} ({type(path).__name__}).")
    _readable(path, "folder", os.path.isdir)


def check_filename(path):
    """A path whose last part holds no character that file systems refuse."""
    if not isinstance(path, str):
        raise TypeError(f"path: {path} is not string")
    name = os.path.basename(path)
    if set(name) & set("\\/:*?\"<>|`&;'"):
        raise ValueError(f"filename should not contain any of \\/:*?\"<>|`&;', but got {name!r}.")
    if name != name.strip(" "):
        raise ValueError(f"filename should not start or end with space, but got {name!r}.")
    return True


def check_file(path):
    """A file that can be read."""
    check_filename(path)
    _readable(path, "file", os.path.isfile)


def check_source(
    num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None
):
    """The arguments that every source has, and which of them exclude each other."""
    for check, value in ((check_num_samples, num_samples), (check_num_parallel_workers, num_parallel_workers)):
        if value is not None:
            check(value)
    if not isinstance(shuffle, str):  # the enum Shuffle is a str
        check_optional((bool,), shuffle=shuffle)
    check_optional((int,), num_shards=num_shards, shard_id=shard_id)
    if sampler is not None:
        _check_sampler(sampler, {"shuffle": shuffle, "sharding": num_shards})
    if num_shards is None and shard_id is None:
        return
    if num_shards is None:
        raise RuntimeError("shard_id is specified but num_shards is not.")
    check_pos_int32(num_shards, "num_shards")
    if shard_id is None:
        raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
    check_value(shard_id, (0, num_shards - 1), "shard_id")


def _check_sampler(sampler, excluded):
    from msnb.dataset.engine import samplers

    type_check(sampler, (type(None), samplers.BuiltinSampler, samplers.Sampler), "sampler")
    for what, value in excluded.items():
        if value is not None:
            raise RuntimeError(f"sampler and {what} cannot be specified at the same time.")


def check_cache(cache):
    """None or a DatasetCache."""
    from msnb.dataset.engine.cache_client import DatasetCache

    if cache is not None:
        type_check(cache, (DatasetCache, type(None)), "cache")


def check_pad_info(pad_info):
    """A dict of column -> (shape, value) or None."""
    type_check(pad_info, (dict,), "pad_info")
    type_check_list(list(pad_info), (str,), ["key in pad_info"] * len(pad_info))
    for entry in pad_info.values():
        if entry is not None:
            _check_padding(entry)


def _check_padding(entry):
    type_check(entry, (tuple,), "value in pad_info")
    if len(entry) != 2:
        raise ValueError(f"value of pad_info should be a tuple of size 2 (shape, value), but got {entry}.")
    shape, fill = entry
    check_optional((list,), pad_shape=shape)
    check_optional((int, float, str, bytes), pad_value=fill)
    known = [d for d in shape or [] if d is not None]
    type_check_list(known, (int,), ["dim in pad_shape"] * len(known))
    if min(known, default=1) < 1:
        raise ValueError(f"pad shape should be positive integers, but got {shape}.")


def check_tensor_op(op, name):
    """A transform of the library or any callable."""
    if not callable(op):
        raise TypeError(f"{name} is neither a c_transform op (TensorOp) nor a callable pyfunc.")


def check_gnn_list_or_ndarray(value, name):
    """A list of int or an int32 array."""
    if isinstance(value, np.ndarray):
        if value.dtype != np.int32:
            raise TypeError(f"Each member in {name} should be of type int32. Got {value.dtype}.")
        return
    type_check(value, (list, np.ndarray), name)
    type_check_list(value, (int,), name)


def is_number(value):
    """Whether `value` is a Python or numpy number."""
    return isinstance(value, numbers.Number)
