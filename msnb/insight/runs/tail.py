"""Incremental reader of the records appended to an event file, which may still be written."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msnb.formats.crc32c import matches

_HEAD, _FOOT = 12, 4  # length and its checksum before a record, checksum of the record after it
_CHUNK_SIZE = 1 << 24  # bytes per read; a longer record is read completely
_CHECKSUM_BATCH = 2048  # records whose checksums are computed together


class Records(NamedTuple):
    """Consecutive complete records.

    Attributes:
        data (bytes): the buffer that contains the records.
        spans (list[tuple]): (start, end) of each record in `data`.
        offset (int): offset of `data` in the file.
    """

    data: bytes
    spans: list[tuple[int, int]]
    offset: int


class Tail:
    """Reads an event file from the position after the last read.

    An incomplete record is left for the next read. A record with a wrong checksum is omitted. If the length of a record
    has a wrong checksum, the position of the next record is unknown, and reading ends. `problem` describes such damage.

    Args:
        path (Path): the file.

    Attributes:
        problem (str): the damage of the file, or None.
        restarted (bool): True if the file became shorter, which means that another file has replaced it.
        done (bool): True if all data present at the last read was read.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.problem: str | None = None
        self.restarted: bool = False
        self.done: bool = True
        self._position = 0
        self._size_read = -1  # size at the last read

    def news(self) -> Iterator[Records]:
        """Yield the appended records in chunks.

        Raises:
            OSError: If the file cannot be read.
        """
        size = self.path.stat().st_size
        if size == self._size_read or self._position < 0:
            return
        if size < self._position:
            self.restarted = True
            return
        self.done = False
        with open(self.path, "rb") as file:
            while self._position >= 0:
                file.seek(self._position)
                data = file.read(_CHUNK_SIZE)
                needed = _HEAD + _FOOT + _read_uint64(data) if len(data) >= _HEAD else 0
                if (
                    needed > len(data)
                    and self._position + needed <= size
                    and matches(data, [(0, 8)], [_read_uint32(data, 8)])[0]
                ):
                    data += file.read(needed - len(data))
                records = self._split_records(data)
                if records is None:
                    break
                yield records
        self._size_read, self.done = size, True  # a caller that stops early calls again

    def _split_records(self, data):
        spans, offset, position = [], self._position, 0
        while position + _HEAD <= len(data):
            end = position + _HEAD + _read_uint64(data, position)
            if end + _FOOT > len(data):
                break
            spans.append((position + _HEAD, end))
            position = end + _FOOT
        if (
            position + _HEAD <= len(data)
            and not matches(data, [(position, position + 8)], [_read_uint32(data, position + 8)])[0]
        ):
            # the length is invalid: the record is damaged and will not be completed
            spans.append((position + _HEAD, position + _HEAD))
        good = self._verify_checksums(data, spans, offset)
        if self._position < 0:
            return Records(data, good, offset) if good else None
        self._position += position
        return Records(data, good, offset) if spans else None

    def _verify_checksums(self, data, spans, offset):
        """Return the records with correct checksums, up to the first with an invalid length."""
        good = []
        for first in range(0, len(spans), _CHECKSUM_BATCH):
            batch = spans[first : first + _CHECKSUM_BATCH]
            heads = matches(
                data, [(start - 12, start - 4) for start, _ in batch], [_read_uint32(data, s - 4) for s, _ in batch]
            )
            valid_count = heads.index(False) if False in heads else len(batch)
            bodies = matches(data, batch[:valid_count], [_read_uint32(data, end) for _, end in batch[:valid_count]])
            good += [span for span, is_correct in zip(batch, bodies, strict=False) if is_correct]
            if valid_count < len(batch):
                position = offset + batch[valid_count][0] - _HEAD
                self.problem = f"{self.path.name}: the record at byte {position} is broken; what follows it is lost"
                self._position = -1
                break
            if not all(bodies):
                position = offset + batch[bodies.index(False)][0] - _HEAD
                self.problem = f"{self.path.name}: {bodies.count(False)} records from byte {position} on are broken"
        return good


def _read_uint64(data, offset=0):
    return struct.unpack_from("<Q", data, offset)[0]


def _read_uint32(data, offset):
    return struct.unpack_from("<I", data, offset)[0]
