"""What stands in the records of an event file: scalars at once as columns, all else as the place where it can be read.

A training writes the same scalars in each step, so that most records differ only in a time, a step and some numbers.
One record is read as such and says where these stand; all of its length that agree with it elsewhere are then read
together, by numpy.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from msnb.formats.protobuf import FIXED32, FIXED64, LENGTH, VARINT, WireError, read_varint, signed

Span = tuple[int, int]
_TIME, _STEP, _SUMMARY = 1, 2, 5  # fields of an Event, the same in lineage files
_TAG, SCALAR, IMAGE, TENSOR, HISTOGRAM = 1, 3, 4, 8, 9  # fields of a Value
_FORMS = 64  # different forms of records of one length; beyond, records are read one by one
_ROWS = 128  # records that are compared together: they stay in the processor's cache
_FEW = 4


class Column(NamedTuple):
    """Scalars of one tag: `order` is the number of the record that each stood in."""

    order: np.ndarray
    steps: np.ndarray
    times: np.ndarray
    values: np.ndarray


class Event(NamedTuple):
    """One record: when it was written, in which step, and its parts, (number of the field, start, end)."""

    time: float
    step: int
    parts: list[tuple[int, int, int]]


class Value(NamedTuple):
    """One value of a summary: its tag, the number of its field, and where it stands."""

    tag: str
    kind: int
    start: int
    end: int


def places(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, start, end) of each field of a message.

    Raises:
        WireError: If these bytes are no message.
    """
    at = start
    while at < end:
        tag, at = read_varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            _, stop = read_varint(data, at, end)
        elif kind == LENGTH:
            length, at = read_varint(data, at, end)
            stop = at + length
        elif kind in (FIXED32, FIXED64):
            stop = at + (4 if kind == FIXED32 else 8)
        else:
            raise WireError(f"byte {at} opens a field of unknown wire type {kind}")
        if number == 0 or stop > end:
            raise WireError(f"the field at byte {at} reaches beyond the end" if number else f"byte {at} opens no field")
        yield number, kind, at, stop
        at = stop


def event(data: bytes, start: int, end: int) -> Event:
    """A record as an Event.

    Raises:
        WireError: If it is none.
    """
    time, step, parts = 0.0, 0, []
    for number, kind, first, last in places(data, start, end):
        if number == _TIME and kind == FIXED64:
            (time,) = struct.unpack_from("<d", data, first)
        elif number == _STEP and kind == VARINT:
            step = signed(read_varint(data, first, last)[0])
        elif kind == LENGTH:
            parts.append((number, first, last))
    return Event(time, step, parts)


def values(data: bytes, found: Event) -> Iterator[Value]:
    """The values in an Event's summary.

    Raises:
        WireError: If its summary is none.
    """
    for number, first, last in found.parts:
        if number == _SUMMARY:
            for inner, kind, start, end in places(data, first, last):
                if inner == 1 and kind == LENGTH:
                    yield from _value(data, start, end)


def _value(data, start, end):
    tag, rest = "", []
    for number, kind, first, last in places(data, start, end):
        if number == _TAG and kind == LENGTH:
            tag = data[first:last].decode("utf-8", "replace")
        elif (number, kind) == (SCALAR, FIXED32) or kind == LENGTH and number in (IMAGE, TENSOR, HISTOGRAM):
            rest.append((number, first, last))
    for number, first, last in rest:
        yield Value(tag, number, first, last)


def scalar(data: bytes, value: Value) -> float:
    """The number of a scalar Value."""
    return struct.unpack_from("<f", data, value.start)[0]


def columns(data: bytes, spans: list[Span]) -> tuple[dict[str, list[Column]], list[int]]:
    """The records that hold nothing but scalars, as columns; and which of the others are to be read one by one.

    Args:
        data (bytes): what the records stand in.
        spans (list[tuple]): (start, end) of each.

    Returns:
        ({tag: parts of its column}, numbers of the other records).
    """
    found: dict[str, list[Column]] = {}
    others: list[int] = []
    octets = np.frombuffer(data, np.uint8)
    starts = np.array([start for start, _ in spans], np.int64)
    lengths = np.array([end for _, end in spans], np.int64) - starts
    for length in np.unique(lengths).tolist():
        left, forms = np.flatnonzero(lengths == length), 0
        rows = np.lib.stride_tricks.sliding_window_view(octets, length or 1)  # by their beginnings
        while len(left) >= _FEW and forms < _FORMS:
            form = _form(data, int(starts[left[0]]), length)
            if form is None:
                others.append(int(left[0]))
                left, forms = left[1:], forms + 1
                continue
            fits = np.concatenate([form.fits(rows[starts[part]]) for part in _pieces(left)])
            if not fits[0]:  # a step that its own form does not describe: padded varints of strange writers
                fits[0] = False
                others.append(int(left[0]))
                left, forms = left[1:], forms + 1
                continue
            form.read(rows, starts, left[fits], found)
            left, forms = left[~fits], forms + 1
        others += left.tolist()
    return found, sorted(others)


def _pieces(numbers):
    return [numbers[at : at + _ROWS] for at in range(0, len(numbers), _ROWS)]


class _Form:
    """Where a record of nothing but scalars has its time, its step and its numbers."""

    def __init__(self, octets, time, step, numbers):
        self.time, self.step = slice(time, time + 8), slice(*step)
        self.tags = [tag for tag, _ in numbers]
        self.wanted = (np.array([at for _, at in numbers])[:, None] + np.arange(4)).ravel()
        self.text, self.free = octets, np.zeros(len(octets), bool)
        for place in (self.time, self.step, self.wanted):
            self.free[place] = True

    def fits(self, rows):
        """Which of these records have this form."""
        alike = ((rows == self.text) | self.free).all(axis=1)
        more = rows[:, self.step] >= 0x80
        return alike & more[:, :-1].all(axis=1) & ~more[:, -1]

    def read(self, rows, starts, which, found):
        """Add what these records say to the columns of their tags."""
        times, steps, numbers = [], [], []
        for part in _pieces(which):
            some = rows[starts[part]]
            times.append(np.ascontiguousarray(some[:, self.time]).view("<f8")[:, 0])
            steps.append(some[:, self.step])
            numbers.append(some.take(self.wanted, axis=1).view("<f4").T)
        sevens = (np.concatenate(steps) & 0x7F).astype(np.uint64)
        step = np.bitwise_or.reduce(sevens << (7 * np.arange(sevens.shape[1], dtype=np.uint64)), axis=1).view(np.int64)
        time = np.concatenate(times)
        for tag, column in zip(self.tags, np.concatenate(numbers, axis=1).astype(np.float64), strict=True):
            found.setdefault(tag, []).append(Column(which, step, time, column))


def _form(data, start, length):
    """The form of a record, None for one that holds anything but a time, a step and scalars."""
    time = step = None
    numbers = []
    try:
        for number, kind, first, last in places(data, start, start + length):
            if number == _TIME and kind == FIXED64:
                time = first - start
            elif number == _STEP and kind == VARINT:
                step = first - start, last - start
            elif number == _SUMMARY and kind == LENGTH:
                for inner, wire, begin, end in places(data, first, last):
                    if inner != 1 or wire != LENGTH:
                        return None
                    tag = at = None
                    for part, form, here, stop in places(data, begin, end):
                        if part == _TAG and form == LENGTH:
                            tag = data[here:stop].decode("utf-8", "replace")
                        elif part == SCALAR and form == FIXED32:
                            at = here - start
                        else:
                            return None
                    if tag is None or at is None:
                        return None
                    numbers.append((tag, at))
            else:
                return None
    except WireError:
        return None
    if time is None or step is None or not numbers or len({tag for tag, _ in numbers}) < len(numbers):
        return None
    return _Form(np.frombuffer(data, np.uint8, length, start), time, step, numbers)
