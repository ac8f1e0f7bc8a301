"""Checks and constants shared by MindRecord's classes."""

import os
from collections.abc import Sequence

from msnb.mindrecord.common.exceptions import ParamValueError

SUCCESS = 0
FAILED = 1
MIN_HEADER_SIZE, MAX_HEADER_SIZE = 1 << 14, 1 << 27
MIN_PAGE_SIZE, MAX_PAGE_SIZE = 1 << 15, 1 << 28
MIN_SHARD_COUNT, MAX_SHARD_COUNT = 1, 1000
MIN_CONSUMER_COUNT = 1
ONE_THREAD = "one thread reads; ds.MindDataset(..., num_parallel_workers=n) reads with several"
VALID_ARRAY_ATTRIBUTES = [f"{kind}{bits}" for kind in ("int", "float") for bits in (32, 64)]
VALID_ATTRIBUTES = [*VALID_ARRAY_ATTRIBUTES, "string", "bytes"]
# Maps the type name of a Python or numpy value to the schema types that accept it.
VALUE_TYPE_MAP = {kind: [name for name in VALID_ATTRIBUTES if name.startswith(kind)] for kind in ("int", "float")}
VALUE_TYPE_MAP |= {"str": ["string"], "bytes": ["bytes"], "ndarray": VALID_ARRAY_ATTRIBUTES}
VALUE_TYPE_MAP |= {name: [name] for name in VALID_ARRAY_ATTRIBUTES}


def MAX_CONSUMER_COUNT() -> int:  # noqa: N802 (MindSpore's name)
    """Return the largest number of threads that a reader may request."""
    return max(64, os.cpu_count() or 1)


def check_filename(path: str) -> bool:
    """Raise ParamValueError unless `path` is a valid file name."""
    if not path:
        raise ParamValueError("File path is not allowed None or empty!")
    if not isinstance(path, str):
        raise ParamValueError(f"File path: {path} is not string.")
    if path.endswith("/"):
        raise ParamValueError(f"File path can not end with '/': {path}")
    name = os.path.basename(path)
    if set(name) & set("\\/:*?\"<>|`&;'"):
        raise ParamValueError(f"File name should not contains \\/:*?\"<>|`&;': {name}")
    if name != name.strip(" "):
        raise ParamValueError(f"File name should not start/end with space: {name!r}")
    return True


def check_filenames(names: Sequence[str]) -> None:
    """Run :func:`check_filename` on one path or on a list of them."""
    for name in names if isinstance(names, list) else [names]:
        check_filename(name)


def check_consumers(num_consumer: int) -> None:
    """Raise ParamValueError unless `num_consumer` is a valid number of threads."""
    if not isinstance(num_consumer, int) or isinstance(num_consumer, bool):
        raise ParamValueError(f"Consumer number is illegal: {num_consumer!r}.")
    if not MIN_CONSUMER_COUNT <= num_consumer <= MAX_CONSUMER_COUNT():
        raise ParamValueError(
            f"Consumer number should between {MIN_CONSUMER_COUNT} and {MAX_CONSUMER_COUNT()}, but got {num_consumer}."
        )
