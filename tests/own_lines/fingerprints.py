"""Hashes of every run of tokens and of words in MindSpore, as a Bloom filter: it holds no text."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from streams import WORDS, files_below, read_file

GRAM = 20  # tokens hashed together; a run of 25 is six hits in a row
BITS = 47_000_000
PROBES = 3
MODULUS = (1 << 61) - 1  # of the rolling hash: a prime, so that no gram is weak
BASE = 1_000_003_271
SALT = {"same": 0x9E3779B97F4A7C15, "renamed": 0xC2B2AE3D27D4EB4F, "prose": 0x165667B19E3779F9}
MAGIC = b"ownlines 1\n"


_numbers: dict[str, int] = {}


def _number(text: str) -> int:
    result = _numbers.get(text)
    if result is None:
        result = _numbers[text] = (
            int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") % MODULUS
        )
    return result


_distance = [
    _number(f"\0{d}") for d in range(64)
]  # a local name is how far back it was last seen in its gram; 0 is never


def grams(texts: list[str], local: list[bool] | None, size: int):
    """Yield the hash of every run of `size` entries. With `local`, names marked there count by where they recur and not
    by what they say."""
    count = len(texts)
    if count < size:
        return
    values = [_number(t) for t in texts]
    after = [0] * count
    back = [0] * count
    if local is not None:
        seen: dict[str, int] = {}
        for place in range(count):
            if local[place]:
                last = seen.get(texts[place])
                if last is not None:
                    back[place], after[last] = place - last, place
                seen[texts[place]] = place
    powers = [pow(BASE, size - 1 - j, MODULUS) for j in range(size)]
    never = _distance[0]
    value = 0
    for place in range(count):
        first = place - size + 1  # of the gram that ends here
        if first > 0:
            gone = first - 1
            if local is not None and local[gone]:
                value -= never * powers[0]
                heir = after[gone]
                if heir and heir < gone + size:
                    value += (never - _distance[heir - gone]) * powers[heir - gone]
            else:
                value -= values[gone] * powers[0]
        if local is not None and local[place]:
            reach = back[place]
            fresh = (
                _distance[reach] if reach and (first <= 0 or reach < size) and place - reach >= max(first, 0) else never
            )
        else:
            fresh = values[place]
        value = (value * BASE + fresh) % MODULUS
        if first >= 0:
            yield value


class Fingerprints:
    def __init__(self, bits: bytearray | bytes, about: dict):
        self.bits, self.about = bits, about

    @classmethod
    def load(cls, path: Path) -> Fingerprints:
        data = path.read_bytes()
        if not data.startswith(MAGIC):
            raise SystemExit(f"{path} is not a file of fingerprints")
        end = data.index(b"\n", len(MAGIC))
        about = json.loads(data[len(MAGIC) : end])
        if (about["gram"], about["words"], about["bits"], about["probes"]) != (GRAM, WORDS, BITS, PROBES):
            raise SystemExit(f"{path} was made with other settings: {about}")
        return cls(data[end + 1 :], about)

    def save(self, path: Path) -> None:
        path.write_bytes(MAGIC + json.dumps(self.about).encode() + b"\n" + bytes(self.bits))

    def add(self, value: int, view: str) -> bool:
        new = False
        value = (value ^ SALT[view]) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF
        step = (value >> 29) | 1
        for probe in range(PROBES):
            place = (value + probe * step) % BITS
            if not self.bits[place >> 3] >> (place & 7) & 1:
                self.bits[place >> 3] |= 1 << (place & 7)
                new = True
        return new

    def has(self, value: int, view: str) -> bool:
        value = (value ^ SALT[view]) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF
        step = (value >> 29) | 1
        for probe in range(PROBES):
            place = (value + probe * step) % BITS
            if not self.bits[place >> 3] >> (place & 7) & 1:
                return False
        return True


def build(out: Path, sources: list[Path]) -> None:
    prints = Fingerprints(bytearray((BITS + 7) // 8), {})
    seen, counts, new = set(), {"files": 0, "tokens": 0, "words": 0}, dict.fromkeys(SALT, 0)
    for root in sources:
        for path in files_below(root):
            digest = hashlib.blake2b(path.read_bytes(), digest_size=8).digest()
            if digest in seen:
                continue
            seen.add(digest)
            stream, pieces = read_file(path)
            counts["files"] += 1
            counts["tokens"] += len(stream.texts)
            for view, local in (("same", None), ("renamed", stream.local)):
                for value in grams(stream.texts, local, GRAM):
                    new[view] += prints.add(value, view)
            for piece in pieces:
                counts["words"] += len(piece.words)
                for value in grams(piece.words, None, WORDS):
                    new["prose"] += prints.add(value, "prose")
    filled = sum(byte.bit_count() for byte in prints.bits) / BITS
    prints.about = {
        "gram": GRAM,
        "words": WORDS,
        "bits": BITS,
        "probes": PROBES,
        "read": counts,
        "new": new,
        "chance of a wrong hit": round(filled**PROBES, 4),
    }
    prints.save(out)
    print(prints.about)
