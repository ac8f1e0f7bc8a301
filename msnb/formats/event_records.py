"""Files of records, one appended behind the other: MindSpore's and TensorBoard's event files, and TFRecord.

A record is its length (8 bytes, little endian), the masked CRC-32C of these, the payload and the masked CRC-32C of
that. A file may be read while it is written: a last record of which the end is missing is *not yet there*, and the
next look goes on where it starts. Bytes that say something else than their checksum are an error.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO

from msnb.formats.crc32c import masked_crc32c, masked_of, matches
from msnb.formats.text_files import BadFileError

HEADER, FOOTER = 12, 4
_PIECE = 1 << 22


class BadRecordError(BadFileError):
    """A record whose bytes are not those that were written."""


def frame(payload: bytes | memoryview) -> bytes:
    """The bytes of one record."""
    return frames([payload])[0]


def frames(payloads: Sequence[bytes | memoryview]) -> list[bytes]:
    """The bytes of each of some records, whose checksums are computed together."""
    lengths = [struct.pack("<Q", len(payload)) for payload in payloads]
    parts = [*lengths, *payloads]
    ends = list(accumulate(map(len, parts)))
    checksums = masked_of(b"".join(parts), list(zip([0, *ends], ends)))
    found = [struct.pack("<I", checksum) for checksum in checksums]
    count = len(payloads)
    return list(map(b"".join, zip(lengths, found[:count], payloads, found[count:], strict=True)))


def records(path: str | Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield (payload, position behind it) of the records of a file that are wholly there.

    Args:
        path (str): The file.
        start (int): Where a record begins: 0, or a position that was yielded. Default: 0.

    Raises:
        OSError: If the file cannot be opened or read.
        BadRecordError: If a checksum does not fit. The records before are yielded first.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while start < size:
            piece = _piece(file, start, size)
            spans, behind = _spans(piece, path, start)
            if not spans:
                return
            checked = matches(piece, spans, [struct.unpack_from("<I", piece, end)[0] for _, end in spans])
            for (first, end), right in zip(spans, checked, strict=True):
                if not right:
                    raise BadRecordError(
                        f"{os.fspath(path)!r} is damaged: the record at byte {start + first - HEADER} does not have "
                        f"the checksum that was written with it."
                    )
                yield piece[first:end], start + end + FOOTER
            if isinstance(behind, BadRecordError):
                raise behind
            start += behind


def _piece(file: IO[bytes], start: int, size: int) -> bytes:
    """Bytes from `start` on: some megabytes, or the whole of the first record where that has more."""
    file.seek(start)
    piece = file.read(min(_PIECE, size - start))
    if len(piece) >= HEADER and _sound(piece, 0):
        whole = struct.unpack_from("<Q", piece)[0] + HEADER + FOOTER
        if len(piece) < whole <= size - start:
            piece += file.read(whole - len(piece))
    return piece


def _sound(piece, at):
    return masked_crc32c(piece[at : at + 8]) == struct.unpack_from("<I", piece, at + 8)[0]


def _spans(piece, path, start):
    """(start, end) of each payload in `piece`, and where the next record begins, or the error that stands there."""
    spans, at = [], 0
    heads = []
    while at + HEADER <= len(piece):
        (length,) = struct.unpack_from("<Q", piece, at)
        heads.append(at)
        if at + HEADER + length + FOOTER > len(piece):
            break
        spans.append((at + HEADER, at + HEADER + length))
        at += HEADER + length + FOOTER
    sound = matches(piece, [(h, h + 8) for h in heads], [struct.unpack_from("<I", piece, h + 8)[0] for h in heads])
    if all(sound):
        return spans, at
    n = sound.index(False)
    broken = BadRecordError(
        f"{os.fspath(path)!r} is damaged: at byte {start + heads[n]} should stand the length of a record, but what "
        "stands there does not have its checksum."
    )
    if not n:
        raise broken
    return spans[:n], broken
