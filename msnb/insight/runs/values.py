"""The values of a run: series of scalars, images, histograms, tensors. What is large is read when it is asked for."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from msnb.formats import protobuf
from msnb.insight.runs.messages import SCHEMA

# MindSpore's numbers of element types, as far as a tensor has them
_DTYPES = {
    1: "bool",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "uint8",
    7: "uint16",
    8: "uint32",
    9: "uint64",
    10: "float16",
    11: "float32",
    12: "float64",
}


class Series(NamedTuple):
    """Scalars of one tag, in the order of their steps.

    Attributes:
        steps (numpy.ndarray): int64.
        times (numpy.ndarray): float64, UNIX seconds.
        values (numpy.ndarray): float64.
    """

    steps: np.ndarray
    times: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Stored:
    """A message somewhere in a file."""

    step: int
    time: float
    path: Path
    offset: int
    length: int

    def bytes(self) -> bytes:
        """The message.

        Raises:
            OSError: If the file cannot be read.
        """
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


@dataclass(frozen=True)
class Image:
    """A picture as it was recorded: `png` are the bytes of a file, PNG as MindSpore writes it."""

    step: int
    time: float
    png: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True)
class Histogram:
    """How often a tensor's values fell between edges.

    Attributes:
        edges (numpy.ndarray): float64[bins + 1].
        counts (numpy.ndarray): int64[bins].
        nan, above, below (int): how many were NaN, infinite, and minus infinite.
        least, most, mean (float): of the finite values.
        size (int): of all values.
    """

    step: int
    time: float
    edges: np.ndarray = field(repr=False)
    counts: np.ndarray = field(repr=False)
    nan: int = 0
    above: int = 0
    below: int = 0
    least: float = float("nan")
    most: float = float("nan")
    mean: float = float("nan")
    size: int = 0


@dataclass(frozen=True)
class TensorValue:
    """A tensor as it was recorded."""

    step: int
    time: float
    array: np.ndarray = field(repr=False)


def image(place: Stored) -> Image:
    """Read an image.

    Raises:
        WireError: If there is none.
    """
    made = protobuf.decode(SCHEMA, "Image", place.bytes())
    return Image(place.step, place.time, made.get("encoded_image", b""), made.get("width", 0), made.get("height", 0))


def histogram(place: Stored) -> Histogram:
    """Read a histogram.

    Raises:
        WireError: If there is none.
    """
    made = protobuf.decode(SCHEMA, "Histogram", place.bytes())
    buckets = made.get("buckets", [])
    lefts = np.array([bucket.get("left", 0.0) for bucket in buckets], np.float64)
    widths = np.array([bucket.get("width", 0.0) for bucket in buckets], np.float64)
    counts = np.array([bucket.get("count", 0) for bucket in buckets], np.int64)
    edges = np.append(lefts, lefts[-1:] + widths[-1:])
    finite = int(counts.sum())
    return Histogram(
        place.step,
        place.time,
        edges,
        counts,
        made.get("nan_count", 0),
        made.get("pos_inf_count", 0),
        made.get("neg_inf_count", 0),
        made.get("min", float("nan")),
        made.get("max", float("nan")),
        made.get("sum", 0.0) / finite if finite else float("nan"),
        made.get("count", finite),
    )


def tensor(place: Stored) -> TensorValue:
    """Read a tensor.

    Raises:
        WireError: If there is none, or one of an element type or a size that is not what its bytes hold.
    """
    return TensorValue(place.step, place.time, array(protobuf.decode(SCHEMA, "Tensor", place.bytes())))


def array(made: dict[str, Any]) -> np.ndarray:
    """The array of a decoded Tensor message.

    Raises:
        WireError: If its element type is unknown, or its size is not what its bytes hold.
    """
    number = made.get("data_type", 0)
    if number not in _DTYPES:
        raise protobuf.WireError(f"the tensor has elements of type {number}, which is none of numbers")
    dtype, shape = np.dtype(_DTYPES[number]), made.get("dims", [])
    if "raw_data" in made:
        raw = bytes(made["raw_data"])
        flat = np.frombuffer(raw[: len(raw) // dtype.itemsize * dtype.itemsize], dtype)
    else:
        lists = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        flat = np.array(next((made[name] for name in lists if made.get(name)), [])).astype(dtype)
    if min(shape, default=1) < 0 or flat.size != int(np.prod(shape, dtype=object)):
        raise protobuf.WireError(f"the tensor should have the shape {tuple(shape)}, but has {flat.size} values")
    return flat.reshape(shape)
