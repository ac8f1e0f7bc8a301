"""MindSpore's encrypted files: consecutive blocks of AES-GCM, AES-CBC or SM4-CBC, each of at most 64 MiB of plain text.

A block has these little-endian fields: the number of the cipher (4 bytes), the tag (16, only for GCM), the number of
bytes after this field (4), the length of the initialization vector (4), the vector (16), the length of the encrypted
bytes (4) and the encrypted bytes. The nonce of GCM is the first 12 bytes of the vector; the newest MindSpore uses all
16. The first versions of MindSpore wrote no tag. CBC pads the plain text as in PKCS #7. The ciphers come from the
package `cryptography`.
"""

import contextlib
import os
import struct
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from msnb.formats.text_files import BadFileError

BLOCK = 64 << 20  # bytes of plain text in a block
MODES: dict[str, int] = {"AES-GCM": 0x7F3A5ED8, "AES-CBC": 0x7F3A5ED9, "SM4-CBC": 0x7F3A5EDA}
_NAMES = {number: mode for mode, number in MODES.items()}
_KEYS = {"AES-GCM": (16, 24, 32), "AES-CBC": (16, 24, 32), "SM4-CBC": (16,)}  # bytes
_VECTOR, _NONCE, _TAG = 16, 12, 16
_NUMBER = struct.Struct("<I")


class _Block(NamedTuple):
    """One block of an encrypted file, with views of its fields."""

    tag: Any
    vector: Any
    text: Any


class Cipher:
    """Encrypts and decrypts files with a key.

    Args:
        key (bytes): 16, 24 or 32 bytes; 16 for SM4.
        mode (str): "AES-GCM", which also detects changes of the file, "AES-CBC" or "SM4-CBC". Default: "AES-GCM".

    Raises:
        ValueError: If the key is not bytes, or the mode is unknown or does not take a key of this length.
        ImportError: If the package `cryptography` is not installed.
    """

    def __init__(self, key: bytes, mode: str = "AES-GCM") -> None:
        if not isinstance(key, bytes):
            raise ValueError(f"A key should be bytes, but got {type(key).__name__}.")
        if not isinstance(mode, str):
            raise ValueError(f"A mode of encryption should be a str, but got {type(mode).__name__}.")
        if mode not in MODES:
            raise ValueError(f"A mode of encryption should be {', '.join(map(repr, MODES))}, but got {mode!r}.")
        if len(key) not in _KEYS[mode]:
            lengths = " or ".join(map(str, _KEYS[mode]))
            raise ValueError(f"{mode} takes a key of {lengths} bytes, but got one of {len(key)}.")
        self.mode = mode
        self._key = key
        _import_cryptography()

    def __repr__(self) -> str:
        return f"Cipher({self.mode})"  # the key stays secret

    def sealed(self, plain: Any) -> bytes:
        """Encrypt at most `BLOCK` bytes of plain text. Return the bytes of the block."""
        library, vector = _import_cryptography(), os.urandom(_VECTOR)
        tag = b""
        if self.mode == "AES-GCM":
            encryptor = self._make_cipher(library.modes.GCM(vector[:_NONCE])).encryptor()
            text = encryptor.update(plain) + encryptor.finalize()
            tag = encryptor.tag
        else:
            encryptor = self._make_cipher(library.modes.CBC(vector)).encryptor()
            missing = 16 - len(plain) % 16
            text = encryptor.update(plain) + encryptor.update(bytes((missing,)) * missing) + encryptor.finalize()
        inside = _NUMBER.pack(_VECTOR) + vector + _NUMBER.pack(len(text))
        head = _NUMBER.pack(MODES[self.mode]) + tag + _NUMBER.pack(len(inside) + len(text))
        return b"".join((head, inside, text))

    def opened(self, data: Any, path: str) -> bytes:
        """Decrypt the bytes of a file.

        Args:
            data (Union[bytes, memoryview]): All bytes of the file.
            path (str): The file, for error messages.

        Raises:
            BadFileError: If the file is not encrypted, was encrypted in another mode or with another key, or is
                damaged.
        """
        blocks, data = [], memoryview(data)
        wrong = BadFileError(f"{path!r} cannot be decrypted: the key is another one, or the file is damaged.")
        for mode, block in _iterate_blocks(data, path):
            if mode != self.mode:
                raise BadFileError(f"{path!r} is encrypted with {mode}, and was to be decrypted with {self.mode}.")
            plain = self._decrypt_block(block)
            if plain is None:
                raise wrong
            blocks.append(plain)
        return blocks[0] if len(blocks) == 1 else b"".join(blocks)

    def _decrypt_block(self, block):
        """Decrypt a block. Return None if the key is wrong or the block is damaged."""
        modes = _import_cryptography().modes
        if self.mode != "AES-GCM":
            if not len(block.text) or len(block.text) % 16:
                return None
            decryptor = self._make_cipher(modes.CBC(bytes(block.vector))).decryptor()
            text = decryptor.update(block.text) + decryptor.finalize()
            filled = text[-1]
            return text[:-filled] if 0 < filled <= 16 and text.endswith(bytes((filled,)) * filled) else None
        if block.tag is None:
            return self._make_cipher(modes.GCM(bytes(block.vector[:_NONCE]))).decryptor().update(block.text)
        for nonce in (_NONCE, _VECTOR):
            decryptor = self._make_cipher(modes.GCM(bytes(block.vector[:nonce]), bytes(block.tag))).decryptor()
            with contextlib.suppress(_import_cryptography().InvalidTag):
                return decryptor.update(block.text) + decryptor.finalize()
        return None

    def _make_cipher(self, mode):
        library = _import_cryptography()
        return library.Cipher((library.SM4 if self.mode == "SM4-CBC" else library.AES)(self._key), mode)


class CustomCipher:
    """Encrypts and decrypts files with functions that a user passes to `export` and `load` as the mode.

    Args:
        key (bytes): Argument of the functions.
        encrypt (Callable): Takes the bytes of a model and the key; returns the bytes of the file. Default: None.
        decrypt (Callable): Takes the name of a file and the key; returns the bytes of the model. Default: None.
    """

    def __init__(
        self,
        key: bytes,
        encrypt: Callable[[bytes, bytes], bytes] | None = None,
        decrypt: Callable[[str, bytes], bytes] | None = None,
    ) -> None:
        if not isinstance(key, bytes):
            raise ValueError(f"A key should be bytes, but got {type(key).__name__}.")
        self._key, self._encrypt, self._decrypt = key, encrypt, decrypt

    def sealed(self, plain: Any) -> bytes:
        """Encrypt `plain` with the user's function."""
        return _check_returned_bytes(self._encrypt(bytes(plain), self._key), "enc_mode")

    def opened(self, data: Any, path: str) -> bytes:
        """Decrypt the file `path` with the user's function."""
        return _check_returned_bytes(self._decrypt(path, self._key), "dec_mode")


def _check_returned_bytes(value, name):
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"The function '{name}' should return bytes, but it returned {type(value).__name__}.")
    return bytes(value)


def is_encrypted(data: Any) -> bool:
    """Return True if a file that begins with these bytes is encrypted in MindSpore's format."""
    return len(data) >= 4 and _NUMBER.unpack_from(data)[0] in _NAMES


def decrypt_if_encrypted(data: Any, cipher: Cipher | CustomCipher | None, path: str) -> Any:
    """Return the bytes of a file that may be encrypted: decrypted if there is a cipher, else unchanged.

    Args:
        data (Union[bytes, memoryview]): All bytes of the file.
        cipher (Cipher): Cipher that decrypts the file, or None if the file is not encrypted.
        path (str): The file, for error messages.

    Raises:
        BadFileError: If the file is encrypted and there is no cipher, or if the cipher cannot decrypt the file.
    """
    if cipher is not None:
        return memoryview(cipher.opened(data, path))
    if is_encrypted(data):
        mode = _NAMES[_NUMBER.unpack_from(data)[0]]
        raise BadFileError(f"{path!r} is encrypted with {mode}; pass its key as dec_key, and dec_mode={mode!r}.")
    return data


def _iterate_blocks(data, path):
    """Yield (cipher mode, block) for each block of an encrypted file."""
    at = 0
    if not is_encrypted(data):
        raise BadFileError(f"{path!r} is not encrypted; read it without a key.")
    while at < len(data):
        mode = _NAMES.get(_NUMBER.unpack_from(data, at)[0]) if at + 4 <= len(data) else None
        tags = (_TAG, 0) if mode == "AES-GCM" else (0,)
        block_and_end = next((b for tag in tags if (b := _parse_block(data, at + 4, tag)) is not None), None)
        if mode is None or block_and_end is None:
            raise BadFileError(f"{path!r} is damaged or cut off: the encrypted block at byte {at} is not whole.")
        block, at = block_and_end
        yield mode, block


def _parse_block(data, start, tag):
    """Parse the block whose cipher number ends at `start` and whose tag has `tag` bytes.

    Return (block, end of the block), or None if its lengths do not match.
    """
    at = start + tag
    if at + 8 > len(data):
        return None
    length, vector = _NUMBER.unpack_from(data, at)[0], _NUMBER.unpack_from(data, at + 4)[0]
    text, end = at + 8 + vector + 4, at + 4 + length
    if vector != _VECTOR or end > len(data) or text > end or _NUMBER.unpack_from(data, text - 4)[0] != end - text:
        return None
    return _Block(data[start:at] if tag else None, data[at + 8 : at + 8 + vector], data[text:end]), end


# ---------------------------------------------------------------------- writing
class _EncryptingFile:
    """A file that encrypts the bytes written to it, a block at a time."""

    def __init__(self, file, cipher):
        self._file, self._cipher, self._pending = file, cipher, bytearray()
        self._block = BLOCK if isinstance(cipher, Cipher) else None  # a user's function gets all bytes at once

    def write(self, data):
        """Buffer bytes, and write each complete block encrypted."""
        data, step = memoryview(data), self._block or max(1, len(data))
        for start in range(0, len(data), step):
            self._pending += data[start : start + step]
            if self._block and len(self._pending) >= self._block:
                self._file.write(self._cipher.sealed(bytes(self._pending[: self._block])))
                del self._pending[: self._block]

    def finish(self):
        """Encrypt and write the buffered bytes."""
        if self._pending:
            self._file.write(self._cipher.sealed(bytes(self._pending)))


@contextlib.contextmanager
def encrypting(file: IO[bytes], cipher: Cipher | CustomCipher | None) -> Iterator[Any]:
    """Yield a file object that encrypts the bytes written to it into `file`; without a cipher, `file` itself."""
    if cipher is None:
        yield file
        return
    wrapper = _EncryptingFile(file, cipher)
    yield wrapper
    wrapper.finish()


def _import_cryptography():
    """Import the optional package `cryptography` and return its classes that are used here."""
    global _loaded
    if _loaded is None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        except ImportError:
            raise ImportError(
                "Encrypted files need the package 'cryptography', which is not installed: pip install 'msnb[crypto]'."
            ) from None
        _loaded = _Library(Cipher, algorithms.AES, algorithms.SM4, modes, InvalidTag)
    return _loaded


class _Library(NamedTuple):
    """Classes of the package `cryptography` that are used here."""

    Cipher: Any
    AES: Any
    SM4: Any
    modes: Any
    InvalidTag: Any


_loaded: _Library | None = None
