"""CRC-32C, the checksum of TFRecord files, at memory speed with numpy alone.

A checksum is the remainder of the message, read as a polynomial over GF(2), by the generator P. It takes two steps:

- **Folding.** P divides x^5685 + x^1362 + x^426 + 1, and therefore its 8 * 2^j-th powers, whose four terms differ by
multiples of bytes. So the first bytes of a message may be added (exclusive or) to three later positions and dropped.
- **Tables** for the rest: the remainder of each byte value at each of 1024 positions from the end.

Messages of equal length that differ in few positions, such as the records of a training's steps, need tables of only
these positions: a remainder is linear, so the remainder of the difference to the first message suffices.
"""

import functools
from typing import Any

import numpy as np

_GENERATOR = 0x82F63B78  # reflected: the lowest bit is the highest power
_TERMS = 5685, 1362, 426
_BLOCK = 1024
_MAX_COMPARED = 1 << 16  # longer messages are not compared
_ROWS = 128  # messages compared at once, so that they stay in the processor's cache


def _compute_bit_remainders(positions):
    """Return the remainders of the 8 bits of a byte that is followed by 0, 1, ... zero bytes, (positions, 8).

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
    """Lookup tables for checksums, computed when the first one is needed."""

    def __init__(self):
        self.table = _compute_byte_remainders(_compute_bit_remainders(_BLOCK))
        self.flat = self.table.ravel()
        self.row = np.arange(_BLOCK - 1, -1, -1) * 256
        self.last = self.table[:-5:-1].tolist()
        step = self.table[0].tolist()
        self.start = [0xFFFFFFFF]  # the state after 0, 1, ... zero bytes
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
    """Return the CRC-32C of bytes (anything with a buffer) as an int."""
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
    """Shorten a message without changing its CRC: add (xor) its first bytes to later ones in place, return the rest."""
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
    """Return the masked CRC-32C of bytes, which TFRecord files have after lengths and records."""
    return masked(crc32c(data))


def matches(data: Any, spans: list[tuple[int, int]], checksums: list[int]) -> list[bool]:
    """Return True or False for each (start, end) in `spans`: ``data[start:end]`` has the given masked checksum."""
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
