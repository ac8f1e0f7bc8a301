"""Parser of event files. Scalars are read together as columns, and other values are only located.

A training writes the same scalars in each step, so most records differ only in a time, a step and some numbers. One
record is parsed to find the offsets of these fields. All records of the same length whose other bytes are equal are
then read together by numpy.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from msnb.formats.protobuf import FIXED32, FIXED64, LENGTH, VARINT, WireError, read_varint, signed

Span = tuple[int, int]
_TIME, _STEP, _SUMMARY = 1, 2, 5  # fields of an Event, the same in lineage files
_TAG, SCALAR, IMAGE, TENSOR, HISTOGRAM = 1, 3, 4, 8, 9  # fields of a Value
_MAX_LAYOUTS = 64  # maximum number of layouts for records of one length; other records are parsed one by one
_BATCH_SIZE = 128  # records that are compared together; more would not fit into the processor's cache
_MIN_RECORDS = 4


class Column(NamedTuple):
    """All scalars of one tag: an array per field. `order` has the index of the record of each scalar."""

    order: np.ndarray
    steps: np.ndarray
    times: np.ndarray
    values: np.ndarray


class Event(NamedTuple):
    """One record: its time, its step, and its fields as (field number, start, end)."""

    time: float
    step: int
    fields: list[tuple[int, int, int]]


class Value(NamedTuple):
    """One value of a summary: its tag, its field number and its location."""

    tag: str
    kind: int
    start: int
    end: int


def iterate_fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number, wire type, start, end) of each field of a message.

    Raises:
        WireError: If the bytes are not a message.
    """
    position = start
    while position < end:
        tag, position = read_varint(data, position, end)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            _, stop = read_varint(data, position, end)
        elif kind == LENGTH:
            length, position = read_varint(data, position, end)
            stop = position + length
        elif kind in (FIXED32, FIXED64):
            stop = position + (4 if kind == FIXED32 else 8)
        else:
            raise WireError(f"byte {position} opens a field of unknown wire type {kind}")
        if number == 0 or stop > end:
            raise WireError(
                f"the field at byte {position} reaches beyond the end" if number else f"byte {position} opens no field"
            )
        yield number, kind, position, stop
        position = stop


def event(data: bytes, start: int, end: int) -> Event:
    """Parse a record as an Event.

    Raises:
        WireError: If the record is not an Event.
    """
    time, step, fields = 0.0, 0, []
    for number, kind, first, last in iterate_fields(data, start, end):
        if number == _TIME and kind == FIXED64:
            (time,) = struct.unpack_from("<d", data, first)
        elif number == _STEP and kind == VARINT:
            step = signed(read_varint(data, first, last)[0])
        elif kind == LENGTH:
            fields.append((number, first, last))
    return Event(time, step, fields)


def values(data: bytes, event: Event) -> Iterator[Value]:
    """Yield the values in the summary of an Event.

    Raises:
        WireError: If the summary is invalid.
    """
    for number, first, last in event.fields:
        if number == _SUMMARY:
            for inner, kind, start, end in iterate_fields(data, first, last):
                if inner == 1 and kind == LENGTH:
                    yield from _parse_values(data, start, end)


def _parse_values(data, start, end):
    tag, rest = "", []
    for number, kind, first, last in iterate_fields(data, start, end):
        if number == _TAG and kind == LENGTH:
            tag = data[first:last].decode("utf-8", "replace")
        elif (number, kind) == (SCALAR, FIXED32) or kind == LENGTH and number in (IMAGE, TENSOR, HISTOGRAM):
            rest.append((number, first, last))
    for number, first, last in rest:
        yield Value(tag, number, first, last)


def scalar(data: bytes, value: Value) -> float:
    """Return the number of a scalar Value."""
    return struct.unpack_from("<f", data, value.start)[0]


def columns(data: bytes, spans: list[Span]) -> tuple[dict[str, list[Column]], list[int]]:
    """Return the records that contain only scalars as columns, and the indices of the other records.

    Args:
        data (bytes): the buffer of the records.
        spans (list[tuple]): (start, end) of each record in `data`.

    Returns:
        ({tag: pieces of its column}, indices of the other records).
    """
    columns_of_tag: dict[str, list[Column]] = {}
    others: list[int] = []
    octets = np.frombuffer(data, np.uint8)
    starts = np.array([start for start, _ in spans], np.int64)
    lengths = np.array([end for _, end in spans], np.int64) - starts
    for length in np.unique(lengths).tolist():
        remaining, layout_count = np.flatnonzero(lengths == length), 0
        rows = np.lib.stride_tricks.sliding_window_view(octets, length or 1)  # indexed by the start of a record
        while len(remaining) >= _MIN_RECORDS and layout_count < _MAX_LAYOUTS:
            layout = _parse_layout(data, int(starts[remaining[0]]), length)
            if layout is None:
                others.append(int(remaining[0]))
                remaining, layout_count = remaining[1:], layout_count + 1
                continue
            is_match = np.concatenate([layout.fits(rows[starts[batch]]) for batch in _split_into_batches(remaining)])
            if not is_match[0]:  # a writer that pads varints: the record does not match its own layout
                is_match[0] = False
                others.append(int(remaining[0]))
                remaining, layout_count = remaining[1:], layout_count + 1
                continue
            layout.read(rows, starts, remaining[is_match], columns_of_tag)
            remaining, layout_count = remaining[~is_match], layout_count + 1
        others += remaining.tolist()
    return columns_of_tag, sorted(others)


def _split_into_batches(numbers):
    return [numbers[at : at + _BATCH_SIZE] for at in range(0, len(numbers), _BATCH_SIZE)]


class _RecordLayout:
    """Offsets of the time, the step and the numbers in a record that contains only scalars."""

    def __init__(self, octets, time, step, numbers):
        self.time, self.step = slice(time, time + 8), slice(*step)
        self.tags = [tag for tag, _ in numbers]
        self.number_bytes = (np.array([offset for _, offset in numbers])[:, None] + np.arange(4)).ravel()
        self.template, self.is_variable = octets, np.zeros(len(octets), bool)
        for byte_range in (self.time, self.step, self.number_bytes):
            self.is_variable[byte_range] = True

    def fits(self, rows):
        """Return a mask of the records with this layout."""
        is_equal = ((rows == self.template) | self.is_variable).all(axis=1)
        has_next_byte = rows[:, self.step] >= 0x80
        return is_equal & has_next_byte[:, :-1].all(axis=1) & ~has_next_byte[:, -1]

    def read(self, rows, starts, indices, columns_of_tag):
        """Append the values of these records to the columns of their tags."""
        times, steps, numbers = [], [], []
        for batch in _split_into_batches(indices):
            batch_rows = rows[starts[batch]]
            times.append(np.ascontiguousarray(batch_rows[:, self.time]).view("<f8")[:, 0])
            steps.append(batch_rows[:, self.step])
            numbers.append(batch_rows.take(self.number_bytes, axis=1).view("<f4").T)
        sevens = (np.concatenate(steps) & 0x7F).astype(np.uint64)
        step = np.bitwise_or.reduce(sevens << (7 * np.arange(sevens.shape[1], dtype=np.uint64)), axis=1).view(np.int64)
        time = np.concatenate(times)
        for tag, column in zip(self.tags, np.concatenate(numbers, axis=1).astype(np.float64), strict=True):
            columns_of_tag.setdefault(tag, []).append(Column(indices, step, time, column))


def _parse_layout(data, start, length):
    """Return the layout of a record, or None if it contains anything but a time, a step and scalars."""
    time = step = None
    numbers = []
    try:
        for number, kind, first, last in iterate_fields(data, start, start + length):
            if number == _TIME and kind == FIXED64:
                time = first - start
            elif number == _STEP and kind == VARINT:
                step = first - start, last - start
            elif number == _SUMMARY and kind == LENGTH:
                for inner, wire, begin, end in iterate_fields(data, first, last):
                    if inner != 1 or wire != LENGTH:
                        return None
                    tag = offset = None
                    for field, wire_type, value_start, stop in iterate_fields(data, begin, end):
                        if field == _TAG and wire_type == LENGTH:
                            tag = data[value_start:stop].decode("utf-8", "replace")
                        elif field == SCALAR and wire_type == FIXED32:
                            offset = value_start - start
                        else:
                            return None
                    if tag is None or offset is None:
                        return None
                    numbers.append((tag, offset))
            else:
                return None
    except WireError:
        return None
    if time is None or step is None or not numbers or len({tag for tag, _ in numbers}) < len(numbers):
        return None
    return _RecordLayout(np.frombuffer(data, np.uint8, length, start), time, step, numbers)
