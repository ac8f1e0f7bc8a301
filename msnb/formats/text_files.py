"""Readers of text, JSON and gzip files that may be damaged. Errors name the file, and the line and byte of the damage.

OSError from opening a file is not converted, as it names the file already.
"""

import codecs
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

_CHUNK = 1 << 20


class BadFileError(RuntimeError, ValueError):
    """Error of a file that does not have the expected format. The message names the file and the position.

    MindSpore raises RuntimeError for such files, and Python's own readers raise ValueError. A program can catch either.
    """


def check_encoding(encoding: str) -> str:
    """Raise an error unless `encoding`, a user's argument, is a known encoding.

    Raises:
        TypeError: If `encoding` is not a str.
        ValueError: If Python has no text encoding of this name.
    """
    if not isinstance(encoding, str):
        raise TypeError(f"encoding should be of type str, but got {type(encoding).__name__}.")
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)
    except LookupError:
        raise ValueError(
            f"encoding should be the name of a text encoding, such as 'utf-8' or 'gbk', but got {encoding!r}."
        ) from None
    return encoding


def text(path: str | Path, encoding: str = "utf-8", newline: str | None = None, choosable: bool = False) -> str:
    """Read the complete text of a file.

    Args:
        path (str): File to read.
        encoding (str): Encoding of the bytes. Default: "utf-8".
        newline (str): As for `open`: None converts all line ends to line feeds, "" keeps them. Default: None.
        choosable (bool): Whether the user can pass another `encoding`, which the message then suggests. Default: False.

    Raises:
        OSError: If the file cannot be opened or read.
        BadFileError: If its bytes are not valid in this encoding.
    """
    with open(path, encoding=encoding, newline=newline) as file:
        try:
            return file.read()
        except UnicodeError as error:
            raise _make_decoding_error(path, encoding, choosable, error) from None


def lines(
    path: str | Path, encoding: str = "utf-8", newline: str | None = None, choosable: bool = False
) -> Iterator[str]:
    """Yield the lines of a text file with their line ends, one after another. See :func:`text`."""
    with open(path, encoding=encoding, newline=newline) as file:
        try:
            yield from file
        except UnicodeError as error:
            raise _make_decoding_error(path, encoding, choosable, error) from None


def decoded(data: bytes, path: str | Path, encoding: str = "utf-8", choosable: bool = False) -> str:
    """Decode `data`, all bytes of the file `path`. Raises BadFileError, see :func:`text`."""
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise _make_decoding_error(path, encoding, choosable, error, io.BytesIO(data)) from None


def _make_decoding_error(path, encoding, choosable, error, stream=None):
    """Return a BadFileError that names the line and byte of the damage. It reads the file again up to that byte."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, before, bad = 1, 0, b""
    with stream or open(path, "rb") as file:
        while True:
            data = file.read(_CHUNK)
            pending = len(decoder.getstate()[0])
            try:
                line += decoder.decode(data, final=not data).count("\n")
            except UnicodeDecodeError as decode_error:
                line += decode_error.object[: decode_error.start].decode(encoding, "ignore").count("\n")
                before += decode_error.start - pending
                bad = decode_error.object[decode_error.start : max(decode_error.end, decode_error.start + 1)][:4]
                break
            except UnicodeError:  # such as UTF-16 without a byte order mark
                break
            before += len(data)
            if not data:
                break
    name = encoding.upper()
    cause = f"bytes {bad.hex(' ')} have no meaning there" if bad else str(error)
    advice = ", or pass the encoding it has, such as encoding='gbk'" if choosable else ""
    return BadFileError(
        f"Invalid file, {os.fspath(path)!r} is no {name} text: line {line}, byte {before} of the file: {cause}. "
        f"Save it as {name}{advice}."
    )


def parse_json(source: str, path: str | Path, line: int | None = None) -> Any:
    """Parse JSON text.

    Args:
        source (str): The text.
        path (str): File that contains the text, for error messages.
        line (int): Line number of `source` in the file; None if it is the complete file. Default: None.

    Raises:
        BadFileError: If it is not JSON, nested too deeply, or has a number of too many digits.
    """
    try:
        return json.loads(source)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno if line is None else line}, column {error.colno}"
        why = error.msg
    except RecursionError:
        where = f"line {line or 1}"
        why = "lists or objects are nested too deeply to be read"
    except ValueError as error:  # the only other error: int() refuses thousands of digits
        where = f"line {line or 1}"
        why = f"a number has too many digits ({error})"
    raise BadFileError(f"Invalid file, {os.fspath(path)!r} is not JSON: {where}: {why}.")


def json_file(path: str | Path) -> Any:
    """Parse a JSON file in UTF-8.

    Raises:
        OSError: If the file cannot be opened or read.
        BadFileError: If it is not UTF-8 or not JSON.
    """
    return parse_json(text(path), path)


def gunzip(path: str | Path, size: int = -1) -> bytes:
    """Decompress a gzip file. Return the first `size` bytes of its content, or all if `size` is negative.

    Raises:
        OSError: If the file cannot be opened.
        BadFileError: If it is not a gzip file, truncated, or its checksum does not match.
    """
    with open(path, "rb") as file:
        return gunzipped(file, path, size)


def gunzipped(file: IO[bytes], path: str | Path, size: int = -1) -> bytes:
    """Do the same as :func:`gunzip` for an open, seekable binary file."""
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            return unpacked.read(size)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFileError(f"Invalid file, {os.fspath(path)!r} is a damaged gzip file: {error}.") from None
