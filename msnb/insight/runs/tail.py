"""The records that were appended to an event file since one looked last; its writer may be at work."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msnb.formats.crc32c import matches

_HEAD, _FOOT = 12, 4  # length and its checksum before a record, the record's own behind it
_PIECE = 1 << 24  # bytes that are looked at together; a record that is longer is still read whole
_TOGETHER = 2048  # records whose checksums are computed together


class Records(NamedTuple):
    """Whole records in a row.

    Attributes:
        data (bytes): what they stand in.
        spans (list[tuple]): (start, end) of each in `data`.
        offset (int): where `data` begins in the file.
    """

    data: bytes
    spans: list[tuple[int, int]]
    offset: int


class Tail:
    """Reads an event file from where it stopped the last time.

    A record that is not whole yet is left for the next time. One whose checksum is wrong is left out; behind a length
    whose checksum is wrong nothing can be found any more, and the file ends there. `problem` says so.

    Args:
        path (Path): the file.

    Attributes:
        problem (str): what was wrong in the file, None if nothing was.
        restarted (bool): whether the file became shorter than what was read of it, so that it is another one now.
        done (bool): whether all was read that was there when one looked last.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.problem: str | None = None
        self.restarted: bool = False
        self.done: bool = True
        self._at = 0
        self._seen = -1  # size when one looked last

    def news(self) -> Iterator[Records]:
        """What was appended, piece by piece; nothing where the file is as it was.

        Raises:
            OSError: If the file cannot be read.
        """
        size = self.path.stat().st_size
        if size == self._seen or self._at < 0:
            return
        if size < self._at:
            self.restarted = True
            return
        self.done = False
        with open(self.path, "rb") as file:
            while self._at >= 0:
                file.seek(self._at)
                data = file.read(_PIECE)
                needed = _HEAD + _FOOT + _length(data) if len(data) >= _HEAD else 0
                if needed > len(data) and self._at + needed <= size and matches(data, [(0, 8)], [_word(data, 8)])[0]:
                    data += file.read(needed - len(data))
                made = self._records(data)
                if made is None:
                    break
                yield made
        self._seen, self.done = size, True  # a caller that stops half way asks again

    def _records(self, data):
        spans, offset, at = [], self._at, 0
        while at + _HEAD <= len(data):
            end = at + _HEAD + _length(data, at)
            if end + _FOOT > len(data):
                break
            spans.append((at + _HEAD, end))
            at = end + _FOOT
        if at + _HEAD <= len(data) and not matches(data, [(at, at + 8)], [_word(data, at + 8)])[0]:
            spans.append((at + _HEAD, at + _HEAD))  # not "not yet": its length is nonsense
        good = self._checked(data, spans, offset)
        if self._at < 0:
            return Records(data, good, offset) if good else None
        self._at += at
        return Records(data, good, offset) if spans else None

    def _checked(self, data, spans, offset):
        """Those whose checksums are right, up to the first whose length is not."""
        good = []
        for first in range(0, len(spans), _TOGETHER):
            some = spans[first : first + _TOGETHER]
            heads = matches(data, [(start - 12, start - 4) for start, _ in some], [_word(data, s - 4) for s, _ in some])
            whole = heads.index(False) if False in heads else len(some)
            bodies = matches(data, some[:whole], [_word(data, end) for _, end in some[:whole]])
            good += [span for span, right in zip(some, bodies, strict=False) if right]
            if whole < len(some):
                place = offset + some[whole][0] - _HEAD
                self.problem = f"{self.path.name}: the record at byte {place} is broken; what follows it is lost"
                self._at = -1
                break
            if not all(bodies):
                place = offset + some[bodies.index(False)][0] - _HEAD
                self.problem = f"{self.path.name}: {bodies.count(False)} records from byte {place} on are broken"
        return good


def _length(data, at=0):
    return struct.unpack_from("<Q", data, at)[0]


def _word(data, at):
    return struct.unpack_from("<I", data, at)[0]
