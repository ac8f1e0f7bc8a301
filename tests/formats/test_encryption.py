"""Encrypted files: files of MindSpore and of msnb are read, and a wrong key is an error."""

import io
import random
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from msnb.formats import checkpoint, encryption
from msnb.formats.encryption import MODES, Cipher, CustomCipher, encrypting
from msnb.formats.text_files import BadFileError

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_files import KEY, values  # noqa: E402
from make_files import MODES as LENGTHS  # noqa: E402


def sealed(cipher, *parts):
    file = io.BytesIO()
    with encrypting(file, cipher) as out:
        for part in parts:
            out.write(part)
    return file.getvalue()


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_that_mindspore_encrypted_is_read(mode):
    parameters = checkpoint.read(GOLDEN / "files" / f"{mode}.ckpt", cipher=Cipher(KEY[: LENGTHS[mode]], mode))
    assert parameters.keys() == values().keys()
    for name, value in values().items():
        np.testing.assert_array_equal(parameters[name], value)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_in_pieces_is_read_as_one_whatever_the_blocks(mode, monkeypatch):
    monkeypatch.setattr(encryption, "BLOCK", 100)
    parts = [bytes([n % 256]) * n for n in (0, 1, 15, 16, 99, 100, 101, 350)]
    for length in (16,) if mode.startswith("SM4") else (16, 24, 32):
        cipher = Cipher(KEY[:length], mode)
        data = sealed(cipher, *parts)
        assert cipher.opened(data, "a") == b"".join(parts)
        assert parts[-1] not in data and sealed(cipher, *parts) != data  # a vector is used once


def test_a_file_of_the_first_versions_has_no_tag():
    cipher = Cipher(KEY[:16])
    data = sealed(cipher, b"the plain text")
    assert cipher.opened(data[:4] + data[20:], "a") == b"the plain text"


def test_a_vector_may_be_a_complete_nonce():
    """As MindSpore's newest source has it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    vector = bytes(range(16))
    ciphertext = AESGCM(KEY[:16]).encrypt(vector, b"the plain text", None)
    text, tag = ciphertext[:-16], ciphertext[-16:]
    inside = struct.pack("<I", 16) + vector + struct.pack("<I", len(text)) + text
    data = struct.pack("<I", MODES["AES-GCM"]) + tag + struct.pack("<I", len(inside)) + inside
    assert Cipher(KEY[:16]).opened(data, "a") == b"the plain text"


@pytest.mark.parametrize("mode", MODES)
def test_another_key_another_mode_and_a_plain_file_are_reported(mode, monkeypatch):
    # One vector in 256 gives the text of another key an end that looks right; not this one.
    monkeypatch.setattr(encryption.os, "urandom", lambda n: bytes(range(n)))
    data = sealed(Cipher(KEY[:16], mode), b"the plain text" * 9)
    with pytest.raises(BadFileError, match="'a' cannot be decrypted: the key is another one"):
        Cipher(b"x" * 16, mode).opened(data, "a")
    other = next(m for m in MODES if m != mode)
    with pytest.raises(BadFileError, match=f"is encrypted with {mode}, and was to be decrypted with {other}"):
        Cipher(KEY[:16], other).opened(data, "a")
    with pytest.raises(BadFileError, match="is not encrypted"):
        Cipher(KEY[:16], mode).opened(b"the plain text", "a")
    with pytest.raises(BadFileError, match=f"encrypted with {mode}; pass its key as dec_key, and dec_mode='{mode}'"):
        encryption.decrypt_if_encrypted(data, None, "a")


def test_a_byte_that_was_changed_is_noticed_by_gcm():
    cipher = Cipher(KEY[:16])
    data = bytearray(sealed(cipher, b"the plain text" * 9))
    data[-1] ^= 1
    with pytest.raises(BadFileError, match="damaged"):
        cipher.opened(bytes(data), "a")


@pytest.mark.parametrize("mode", MODES)
def test_damaged_files_are_refused_or_read_and_nothing_else(mode):
    rng, cipher = random.Random(mode), Cipher(KEY[:16], mode)
    data = sealed(cipher, b"the plain text" * 9)
    for _ in range(300):
        damaged = bytearray(data[: rng.randrange(len(data) + 1)])
        for _ in range(rng.randint(0, 3)):
            if damaged:
                damaged[rng.randrange(min(len(damaged), 60))] = rng.choice((0, 255, rng.randrange(256)))
        try:
            assert len(cipher.opened(bytes(damaged), "a")) <= len(data)
        except BadFileError as error:
            assert "'a'" in str(error)


@pytest.mark.parametrize(
    ("key", "mode", "message"),
    [
        ("0" * 16, "AES-GCM", "should be bytes, but got str"),
        (b"0" * 20, "AES-CBC", "16 or 24 or 32 bytes, but got one of 20"),
        (b"0" * 32, "SM4-CBC", "16 bytes, but got one of 32"),
        (b"0" * 16, "DES", "should be 'AES-GCM', 'AES-CBC', 'SM4-CBC', but got 'DES'"),
        (b"0" * 16, 3, "should be a str, but got int"),
    ],
)
def test_keys_and_modes_that_are_none_are_refused(key, mode, message):
    with pytest.raises(ValueError, match=message):
        Cipher(key, mode)


def test_the_key_is_not_shown():
    assert repr(Cipher(b"secret secret 16")) == "Cipher(AES-GCM)"


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(encryption, "_loaded", None)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(ImportError, match=r"pip install 'msnb\[crypto\]'"):
        Cipher(KEY[:16])


def test_functions_of_the_user_see_everything_at_once_and_give_bytes(monkeypatch):
    monkeypatch.setattr(encryption, "BLOCK", 2)
    seen = []
    own = CustomCipher(b"k", lambda data, key: seen.append((data, key)) or data[::-1])
    assert sealed(own, b"abc", b"", b"def") == b"fedcba" and seen == [(b"abcdef", b"k")]
    with pytest.raises(TypeError, match="'enc_mode' should return bytes, but it returned str"):
        sealed(CustomCipher(b"k", lambda data, key: "text"), b"abc")


def test_a_file_is_encrypted_or_has_a_checksum(tmp_path):
    with pytest.raises(ValueError, match="no checksum"):
        checkpoint.write(tmp_path / "a.ckpt", {"w": np.ones(2)}, crc_check=True, cipher=Cipher(KEY[:16]))
    assert not list(tmp_path.iterdir())
