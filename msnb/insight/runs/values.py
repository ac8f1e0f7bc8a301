"""Values of a run: series of scalars, images, histograms, tensors. Large ones are read on access."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from msnb.formats import summary_events


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
    """The location of a message in a file."""

    step: int
    time: float
    path: Path
    offset: int
    length: int

    def bytes(self) -> bytes:
        """Return the message.

        Raises:
            OSError: If the file cannot be read.
        """
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


@dataclass(frozen=True)
class Image:
    """A recorded image. `png` has the bytes of an image file, which is a PNG file if MindSpore wrote it."""

    step: int
    time: float
    png: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True)
class Histogram:
    """Counts of a tensor's values between edges.

    Attributes:
        edges (numpy.ndarray): float64[bins + 1].
        counts (numpy.ndarray): int64[bins].
        nan, above, below (int): number of NaN, infinite, and minus infinite values.
        least, most, mean (float): minimum, maximum and mean of the finite values.
        size (int): number of all values.
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
    """A recorded tensor."""

    step: int
    time: float
    array: np.ndarray = field(repr=False)


def image(location: Stored) -> Image:
    """Read an image.

    Raises:
        BadFileError: If there is no image at the location.
    """
    content = _read_content(location, "image")
    return Image(location.step, location.time, content.png, content.width, content.height)


def histogram(location: Stored) -> Histogram:
    """Read a histogram.

    Raises:
        BadFileError: If there is no histogram at the location.
    """
    content = _read_content(location, "histogram")
    finite = int(content.counts.sum())
    bad = content.nan_count, content.pos_inf_count, content.neg_inf_count
    mean = content.sum / finite if finite else float("nan")
    return Histogram(
        location.step, location.time, content.edges, content.counts, *bad, content.min, content.max, mean, content.count
    )


def tensor(location: Stored) -> TensorValue:
    """Read a tensor.

    Raises:
        BadFileError: If there is no tensor at the location, or its bytes do not fit its element type or size.
    """
    return TensorValue(location.step, location.time, _read_content(location, "tensor"))


def _read_content(location, kind):
    return summary_events.Value("", kind, location.bytes(), location.path.name).content
