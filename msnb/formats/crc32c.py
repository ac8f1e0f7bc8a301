"""CRC-32C, the checksum of TFRecord files, at the speed of memory with numpy alone.

A checksum is the remainder of the message, read as a polynomial over GF(2), by the generator P. Two steps find it:

- **Folding.** P divides x^5685 + x^1362 + x^426 + 1, and so the 8 * 2^j-th powers of this, whose four terms stand apart
  by whole bytes. So the first bytes of a message may be added (exclusive or) to three later places and dropped.
- **Tables** for what is left: the remainder of each value of a byte at each of 1024 places from the end.

Messages of one length that differ in few places, as the records of a training's steps do, need the tables of these
places alone: a remainder is linear, so that the first message's tells that of another by their difference.
"""

import functools
from typing import Any

import numpy as np

_GENERATOR = 0x82F63B78  # reflected: the lowest bit is the highest power
_TERMS = 5685, 1362, 426
_BLOCK = 1024
_ALIKE = 1 << 16  # longer messages are not compared with each other
_ROWS = 128  # messages that are compared at once: they stay in the processor's cache


def _bits(places):
    """Remainder of each bit of a byte before 0, 1, ... zero bytes: (places, 8), `places` a power of 2 from 4 on."""
    step = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        step = step >> 1 ^ np.where(step & 1, np.uint32(_GENERATOR), np.uint32(0))
    rows = step[1 << np.arange(8)][None]
    while len(rows) < 4:
        rows = np.concatenate([rows, rows[-1:] >> 8 ^ step[rows[-1:] & 255]])
    while len(rows) < places:  # each doubling shifts the rows so far
        ends = _bytes(rows[:-5:-1])
        rows = np.concatenate([rows, np.bitwise_xor.reduce([ends[i][rows >> 8 * i & 255] for i in range(4)])])
    return rows


def _bytes(bits):
    """Remainders of all values of a byte from those of its bits: (n, 8) -> (n, 256)."""
    table = np.zeros((len(bits), 1), np.uint32)
    for bit in bits.T:
        table = np.concatenate([table, table ^ bit[:, None]], axis=1)
    return table


class _Ready:
    """What is computed once, when the first checksum is wanted."""

    def __init__(self):
        self.table = _bytes(_bits(_BLOCK))
        self.flat = self.table.ravel()
        self.row = np.arange(_BLOCK - 1, -1, -1) * 256
        self.last = self.table[:-5:-1].tolist()
        step = self.table[0].tolist()
        self.start = [0xFFFFFFFF]  # the state after 0, 1, ... zero bytes
        for _ in range(_BLOCK):
            self.start.append(self.start[-1] >> 8 ^ step[self.start[-1] & 255])

    def remainders(self, blocks):
        """Of the rows of (n, 1024 or less) octets."""
        return np.bitwise_xor.reduce(self.flat.take(self.row[_BLOCK - blocks.shape[1] :] + blocks), axis=1)

    def shifted(self, state):
        """The state after 1024 zero bytes."""
        a, b, c, d = self.last
        return a[state & 255] ^ b[state >> 8 & 255] ^ c[state >> 16 & 255] ^ d[state >> 24]


_ready = functools.cache(_Ready)
_far_bits = functools.cache(_bits)


def crc32c(data: Any) -> int:
    """The CRC-32C of bytes (anything with a buffer), an int."""
    ready = _ready()
    octets = np.frombuffer(data, np.uint8)
    n = len(octets)
    if n <= _BLOCK:
        return int(ready.remainders(octets[None])[0]) ^ ready.start[n] ^ 0xFFFFFFFF
    octets = octets.copy()
    octets[:4] ^= 255
    octets = _folded(octets)
    blocks = np.zeros((-(-len(octets) // _BLOCK), _BLOCK), np.uint8)  # zeros in front change nothing
    blocks.reshape(-1)[blocks.size - len(octets) :] = octets
    state = 0
    for remainder in ready.remainders(blocks).tolist():
        state = ready.shifted(state) ^ remainder
    return state ^ 0xFFFFFFFF


def _folded(octets):
    """The last bytes of `octets`, changed in place, to which all before were added."""
    n, start = len(octets), 0
    for level in range(max(0, n // _TERMS[0]).bit_length(), -1, -1):
        a, b, c = (term << level for term in _TERMS)
        while n - start > a:
            take = min(a - b, n - start - a)
            head = octets[start : start + take]
            for distance in (a - b, a - c, a):
                later = octets[start + distance : start + distance + take]
                np.bitwise_xor(later, head, out=later)  # `octets[...] ^= head` would copy the result once more
            start += take
    return octets[start:]


def masked(crc: int) -> int:
    """A checksum as TFRecord files store it: turned by 15 bits, and a constant added."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The masked CRC-32C of bytes, as TFRecord files have it behind lengths and records."""
    return masked(crc32c(data))


def matches(data: Any, spans: list[tuple[int, int]], checksums: list[int]) -> list[bool]:
    """Return whether each part of `data`, from (start, end) in `spans`, has its masked checksum."""
    return [crc == checksum for crc, checksum in zip(masked_of(data, spans), checksums, strict=True)]


def masked_of(data: Any, spans: list[tuple[int, int]]) -> list[int]:
    """The masked checksum of each part of `data`; short parts are computed together.

    Args:
        data (bytes): What holds the parts.
        spans (list[tuple]): (start, end) of each part.

    Returns:
        list[int].
    """
    ready, alike = _ready(), {}
    found = [0] * len(spans)
    for i, (start, end) in enumerate(spans):
        long = end - start > _BLOCK
        alike.setdefault((long, end - start if long else (end - start).bit_length()), []).append(i)
    for (long, length), chosen in alike.items():
        if long:
            made = _of_one_length(data, [spans[i][0] for i in chosen], length)
        else:
            width = max(spans[i][1] - spans[i][0] for i in chosen)
            rows = b"".join([data[spans[i][0] : spans[i][1]].rjust(width, b"\0") for i in chosen])
            remainders = ready.remainders(np.frombuffer(rows, np.uint8).reshape(len(chosen), width)).tolist()
            starts = [ready.start[spans[i][1] - spans[i][0]] ^ 0xFFFFFFFF for i in chosen]
            made = [one ^ start for one, start in zip(remainders, starts, strict=True)]
        for i, crc in zip(chosen, made, strict=True):
            found[i] = crc
    return list(map(masked, found))


def _of_one_length(data, starts, length):
    """Checksums of long messages: by their differences from the first, where these are few and the messages many."""
    view = memoryview(data)
    if 1 < len(starts) and length <= _ALIKE:
        messages = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), length)
        first = messages[starts[0]]
        others = [np.array(starts[at : at + _ROWS]) for at in range(1, len(starts), _ROWS)]
        differ = np.zeros(length, np.uint8)
        for some in others:
            differ |= np.bitwise_or.reduce(messages[some] ^ first, axis=0)
            if np.count_nonzero(differ) * 1024 > length * len(starts):  # their tables would cost more than they save
                break
        else:
            places = np.flatnonzero(differ)
            table = _bytes(_far_bits(1 << (length - 1).bit_length())[length - 1 - places])
            flat, row, known = table.ravel(), np.arange(len(places)) * 256, first[places]
            crc = crc32c(view[starts[0] : starts[0] + length])
            made = [np.zeros(1, np.uint32)]
            for some in others:
                changed = messages[some].take(places, axis=1) ^ known
                made.append(np.bitwise_xor.reduce(flat.take(row + changed), axis=1))
            return (np.concatenate(made) ^ np.uint32(crc)).tolist()
    return [crc32c(view[start : start + length]) for start in starts]
