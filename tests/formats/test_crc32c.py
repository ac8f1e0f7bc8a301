"""CRC-32C equals the bit by bit definition for every length."""

import numpy as np
import pytest

from msnb.formats import crc32c


def by_bits(data):
    """CRC-32C by its definition."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_check_value_of_the_standard():
    assert crc32c.crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize(
    "size", [*range(14), 1023, 1024, 1025, 1026, 1028, 5684, 5685, 5686, 5700, 11369, 11371, 30000]
)
def test_every_length_has_the_checksum_of_the_definition(size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    assert crc32c.crc32c(data) == crc32c.crc32c(memoryview(data)) == by_bits(data)
    assert crc32c.masked_crc32c(data) == crc32c.masked(by_bits(data))


def test_sections_of_all_lengths_are_checked_together():
    data = np.random.default_rng(0).integers(0, 256, 9000, np.uint8).tobytes()
    spans = [(i, i + size) for i, size in enumerate((0, 1, 2, 8, 8, 100, 1023, 1024, 1025, 6000))]
    checksums = [crc32c.masked(by_bits(data[slice(*span)])) for span in spans]
    assert crc32c.matches(data, spans, checksums) == [True] * 10
    for i in range(10):
        checksums[i] ^= 1 << 3 * i
        assert crc32c.matches(data, spans, checksums) == [n > i for n in range(10)]


def test_the_generator_divides_the_four_terms_that_folding_stands_on():
    remainder = {}
    value = 1
    for power in range(crc32c._TERMS[0] + 1):
        remainder[power] = value
        value = value << 1 ^ (0x11EDC6F41 if value >> 31 else 0)
    a, b, c = (remainder[term] for term in crc32c._TERMS)
    assert a ^ b ^ c ^ 1 == 0


@pytest.mark.parametrize("places", [0, 5, 300, 2500])
def test_long_messages_that_differ_in_few_bytes_or_in_many_have_the_checksums_of_each_alone(places):
    chance = np.random.default_rng(places)
    messages = np.tile(chance.integers(0, 256, 7000, np.uint8), (300, 1))
    at = chance.choice(7000, places, replace=False)
    messages[:, at] = chance.integers(0, 256, (300, places), np.uint8)
    spans = [(i * 7000, i * 7000 + 7000) for i in range(300)]
    assert crc32c.masked_of(messages.tobytes(), spans) == [crc32c.masked_crc32c(one) for one in messages]
