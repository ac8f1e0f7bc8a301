"""CRC-32C, the checksum of TFRecord files, computed with numpy at about the speed of memory.

A checksum is the remainder when the message, read as a polynomial over GF(2), is divided by the generator P. It is
computed in two steps:

- **Folding.** P divides Q = x^5685 + x^1362 + x^426 + 1, and therefore also Q^(8 * 2^j). Over GF(2) such a power has
four terms, too, and their exponents are multiples of 8 bits. So the first bytes of a message can be xored into three
later positions and then dropped: the remainder does not change.
- **Tables.** The shortened message is divided in blocks of 1024 bytes. A table has the remainder of each byte value at
  each position in a block.

Messages of equal length that differ in few bytes, such as the records of consecutive training steps, are computed
together. A remainder is linear, so only the difference to the first message is looked up, in tables for these
positions.
"""

import functools
from typing import Any

import numpy as np

_GENERATOR = 0x82F63B78  # reflected: the lowest bit is the highest power
_TERMS = 5685, 1362, 426
_BLOCK = 1024
_MAX_COMPARED = 1 << 16  # bytes; longer messages are not compared with each other
_ROWS = 128  # messages compared at once; more would not fit in the processor's cache


def _compute_bit_remainders(positions):
    """Return the remainders of single bits, of shape (positions, 8). Row i is for a byte that is followed by i zero
    bytes.

    `positions` is a power of 2, at least 4.
    """
    step = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        step = step >> 1 ^ np.where(step & 1, np.uint32(_GENERATOR), np.uint32(0))
    rows = step[1 << np.arange(8)][None]
    while len(rows) < 4:
        rows = np.concatenate([rows, rows[-1:] >> 8 ^ step[rows[-1:] & 255]])
    while len(rows) < positions:  # double the rows: append shifted copies of all
        ends = _compute_byte_remainders(rows[:-5:-1])
        rows = np.concatenate([rows, np.bitwise_xor.reduce([ends[i][rows >> 8 * i & 255] for i in range(4)])])
    return rows


def _compute_byte_remainders(bits):
    """Return the remainders of all byte values, (n, 256), from the remainders of the single bits, (n, 8)."""
    table = np.zeros((len(bits), 1), np.uint32)
    for bit in bits.T:
        table = np.concatenate([table, table ^ bit[:, None]], axis=1)
    return table


class _Tables:
    """Lookup tables for checksums. `_get_tables` computes them once, for the first checksum."""

    def __init__(self):
        self.table = _compute_byte_remainders(_compute_bit_remainders(_BLOCK))
        self.flat = self.table.ravel()
        self.row = np.arange(_BLOCK - 1, -1, -1) * 256
        self.last = self.table[:-5:-1].tolist()
        step = self.table[0].tolist()
        self.start = [0xFFFFFFFF]  # element i is the CRC state after i zero bytes
        for _ in range(_BLOCK):
            self.start.append(self.start[-1] >> 8 ^ step[self.start[-1] & 255])

    def remainders(self, blocks):
        """Return the CRC remainder of each row of `blocks`, uint8 of shape (n, 1024 or less)."""
        return np.bitwise_xor.reduce(self.flat.take(self.row[_BLOCK - blocks.shape[1] :] + blocks), axis=1)

    def shifted(self, state):
        """Return the CRC state that follows `state` after 1024 zero bytes."""
        a, b, c, d = self.last
        return a[state & 255] ^ b[state >> 8 & 255] ^ c[state >> 16 & 255] ^ d[state >> 24]


_get_tables = functools.cache(_Tables)
_cached_bit_remainders = functools.cache(_compute_bit_remainders)


def crc32c(data: Any) -> int:
    """Return the CRC-32C of an object that supports the buffer protocol, as an int."""
    ready = _get_tables()
    octets = np.frombuffer(data, np.uint8)
    n = len(octets)
    if n <= _BLOCK:
        return int(ready.remainders(octets[None])[0]) ^ ready.start[n] ^ 0xFFFFFFFF
    octets = octets.copy()
    octets[:4] ^= 255
    octets = _fold_message(octets)
    blocks = np.zeros((-(-len(octets) // _BLOCK), _BLOCK), np.uint8)  # leading zeros change nothing
    blocks.reshape(-1)[blocks.size - len(octets) :] = octets
    state = 0
    for remainder in ready.remainders(blocks).tolist():
        state = ready.shifted(state) ^ remainder
    return state ^ 0xFFFFFFFF


def _fold_message(octets):
    """Shorten a message without changing its CRC. The first bytes are xored into later ones in place. Return the view
    of the remaining bytes.
    """
    n, start = len(octets), 0
    for level in range(max(0, n // _TERMS[0]).bit_length(), -1, -1):
        a, b, c = (term << level for term in _TERMS)
        while n - start > a:
            take = min(a - b, n - start - a)
            head = octets[start : start + take]
            for distance in (a - b, a - c, a):
                later = octets[start + distance : start + distance + take]
                np.bitwise_xor(later, head, out=later)  # `octets[...] ^= head` would make another copy
            start += take
    return octets[start:]


def masked(crc: int) -> int:
    """Mask a checksum as TFRecord files do: rotate it by 15 bits and add a constant."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """Return the masked CRC-32C of bytes. TFRecord files have it after each length and after each record."""
    return masked(crc32c(data))


def matches(data: Any, spans: list[tuple[int, int]], checksums: list[int]) -> list[bool]:
    """Check each ``data[start:end]`` in `spans` against its masked checksum. Return one bool for each."""
    return [crc == checksum for crc, checksum in zip(masked_of(data, spans), checksums, strict=True)]


def masked_of(data: Any, spans: list[tuple[int, int]]) -> list[int]:
    """Return the masked checksum of each part of `data`; short parts are computed together.

    Args:
        data (bytes): The bytes that contain the parts.
        spans (list[tuple]): (start, end) of each part.

    Returns:
        list[int].
    """
    ready, groups = _get_tables(), {}
    checksums = [0] * len(spans)
    for i, (start, end) in enumerate(spans):
        long = end - start > _BLOCK
        groups.setdefault((long, end - start if long else (end - start).bit_length()), []).append(i)
    for (long, length), members in groups.items():
        if long:
            group_checksums = _checksum_equal_lengths(data, [spans[i][0] for i in members], length)
        else:
            width = max(spans[i][1] - spans[i][0] for i in members)
            rows = b"".join([data[spans[i][0] : spans[i][1]].rjust(width, b"\0") for i in members])
            remainders = ready.remainders(np.frombuffer(rows, np.uint8).reshape(len(members), width)).tolist()
            starts = [ready.start[spans[i][1] - spans[i][0]] ^ 0xFFFFFFFF for i in members]
            group_checksums = [remainder ^ start for remainder, start in zip(remainders, starts, strict=True)]
        for i, crc in zip(members, group_checksums, strict=True):
            checksums[i] = crc
    return list(map(masked, checksums))


def _checksum_equal_lengths(data, starts, length):
    """Return the CRC-32C of messages of one length. If many messages differ from the first in few bytes, only these
    bytes are processed."""
    view = memoryview(data)
    if 1 < len(starts) and length <= _MAX_COMPARED:
        messages = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), length)
        first = messages[starts[0]]
        chunks = [np.array(starts[at : at + _ROWS]) for at in range(1, len(starts), _ROWS)]
        difference = np.zeros(length, np.uint8)
        for chunk in chunks:
            difference |= np.bitwise_or.reduce(messages[chunk] ^ first, axis=0)
            if np.count_nonzero(difference) * 1024 > length * len(starts):  # the tables would cost more than they save
                break
        else:
            positions = np.flatnonzero(difference)
            table = _compute_byte_remainders(
                _cached_bit_remainders(1 << (length - 1).bit_length())[length - 1 - positions]
            )
            flat, row, first_values = table.ravel(), np.arange(len(positions)) * 256, first[positions]
            crc = crc32c(view[starts[0] : starts[0] + length])
            parts = [np.zeros(1, np.uint32)]
            for chunk in chunks:
                changed = messages[chunk].take(positions, axis=1) ^ first_values
                parts.append(np.bitwise_xor.reduce(flat.take(row + changed), axis=1))
            return (np.concatenate(parts) ^ np.uint32(crc)).tolist()
    return [crc32c(view[start : start + length]) for start in starts]
