"""Files of consecutive records: MindSpore's and TensorBoard's event files, and TFRecord.

A record is the length of its payload (8 bytes, little endian), the masked CRC-32C of these 8 bytes, the payload and the
masked CRC-32C of the payload. A file may be read while it is written. A truncated last record counts as not yet
written: the next read starts at it. Bytes that contradict their checksum are an error.
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
    """Error of a record whose bytes do not match their checksum."""


def frame(payload: bytes | memoryview) -> bytes:
    """Encode one record: length, payload and their checksums."""
    return frames([payload])[0]


def frames(payloads: Sequence[bytes | memoryview]) -> list[bytes]:
    """Encode several records; see :func:`frame`. All checksums are computed together."""
    lengths = [struct.pack("<Q", len(payload)) for payload in payloads]
    parts = [*lengths, *payloads]
    ends = list(accumulate(map(len, parts)))
    checksums = masked_of(b"".join(parts), list(zip([0, *ends], ends)))
    footers = [struct.pack("<I", checksum) for checksum in checksums]
    count = len(payloads)
    return list(map(b"".join, zip(lengths, footers[:count], payloads, footers[count:], strict=True)))


def records(path: str | Path, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield (payload, position of the next record) of the complete records of a file.

    Args:
        path (str): The file.
        start (int): Position of a record: 0, or a position that was yielded. Default: 0.

    Raises:
        OSError: If the file cannot be opened or read.
        BadRecordError: If a checksum does not match. The records before it are yielded first.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while start < size:
            piece = _read_record_bytes(file, start, size)
            spans, behind = _find_payload_spans(piece, path, start)
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


def _read_record_bytes(file: IO[bytes], start: int, size: int) -> bytes:
    """Read bytes from `start` on: some megabytes, or the complete first record if that is larger."""
    file.seek(start)
    piece = file.read(min(_PIECE, size - start))
    if len(piece) >= HEADER and _is_header_valid(piece, 0):
        record_size = struct.unpack_from("<Q", piece)[0] + HEADER + FOOTER
        if len(piece) < record_size <= size - start:
            piece += file.read(record_size - len(piece))
    return piece


def _is_header_valid(piece, at):
    return masked_crc32c(piece[at : at + 8]) == struct.unpack_from("<I", piece, at + 8)[0]


def _find_payload_spans(piece, path, start):
    """Return [(start, end), ...] of the payloads in `piece`, and the position of the next record.

    If a header is damaged, the BadRecordError to raise is returned in place of the position. It is raised at once if
    the first header is damaged.
    """
    spans, at = [], 0
    heads = []
    while at + HEADER <= len(piece):
        (length,) = struct.unpack_from("<Q", piece, at)
        heads.append(at)
        if at + HEADER + length + FOOTER > len(piece):
            break
        spans.append((at + HEADER, at + HEADER + length))
        at += HEADER + length + FOOTER
    is_valid = matches(piece, [(h, h + 8) for h in heads], [struct.unpack_from("<I", piece, h + 8)[0] for h in heads])
    if all(is_valid):
        return spans, at
    n = is_valid.index(False)
    broken = BadRecordError(
        f"{os.fspath(path)!r} is damaged: at byte {start + heads[n]} should stand the length of a record, but what "
        "stands there does not have its checksum."
    )
    if not n:
        raise broken
    return spans[:n], broken
