"""Reader and writer of MindSpore's .ckpt files, which contain arrays by name.

A file is ``repeated Value value = 1`` with ``Value {string tag = 1; TensorProto tensor = 2}`` and
``TensorProto {repeated int64 dims = 1; string tensor_type = 2; bytes tensor_content = 3}``. Values of more than 512 MiB
are split into consecutive Values of one tag that repeat the full dims. A scalar has dims [0] (r1.1) or none (2.x); an
empty vector has dims [0] too, so only the length of the content distinguishes them. A file with a checksum ends with
``crc_num`` and the CRC-32 of all bytes before that, as a big-endian integer of ten bytes.
"""

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats import arrays, encryption, protobuf
from msnb.formats.encryption import Cipher
from msnb.formats.protobuf import LENGTH, VARINT, key, varint
from msnb.formats.text_files import BadFileError

_TYPES = {
    "Bool": np.bool_,
    "Int8": np.int8,
    "Int16": np.int16,
    "Int32": np.int32,
    "Int64": np.int64,
    "UInt8": np.uint8,
    "UInt16": np.uint16,
    "UInt32": np.uint32,
    "UInt64": np.uint64,
    "Float16": np.float16,
    "Float32": np.float32,
    "Float64": np.float64,
    "BFloat16": ml_dtypes.bfloat16,
    "Complex64": np.complex64,
    "Complex128": np.complex128,
}
_DTYPE_OF = {name: np.dtype(t) for name, t in _TYPES.items()}
_NAME_OF = {dtype: name for name, dtype in _DTYPE_OF.items()}
_DTYPE_OF.update({f"Uint{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)})  # names in files of r1.1
_STRING = "str"  # content is UTF-32

_SLICE = 512 * 1024 * 1024
_CRC_MARK = b"crc_num"
_TRAILER = len(_CRC_MARK) + 10


class CheckpointError(BadFileError):
    """Error of a file that is not a checkpoint, or is damaged. The message names the file and the fault."""


def write(
    path: str | Path,
    items: dict[str, tuple[Any, ...]],
    crc_check: bool = False,
    progress: Callable[[], Any] | None = None,
    permissions: int = 0o666,
    cipher: Cipher | None = None,
) -> None:
    """Write a checkpoint. The file appears under its name only when it is complete.

    Args:
        path (str): File to write; its folder has to exist.
        items (dict): Maps names to numpy arrays (anything that ``np.asarray`` accepts) or str. The file has the same
            order.
        crc_check (bool): Whether to add a checksum. Default: False.
        progress (Callable): Called with each name when it has been written. Default: None.
        permissions (int): Permissions of the file before the umask. Default: 0o666.
        cipher (Cipher): Cipher that encrypts the file. An encrypted file has no checksum. Default: None.

    Raises:
        ValueError: If both a cipher and a checksum are requested.
        TypeError: If an array has a type that checkpoints cannot store.
        OSError: If the file cannot be written.
    """
    if crc_check and cipher is not None:
        raise ValueError("A checkpoint that is encrypted has no checksum; AES-GCM notices by itself what was changed.")
    checksum = 0
    with writing(path, permissions=permissions) as target, encryption.encrypting(target, cipher) as file:
        for name, value in items.items():
            for chunk in _encode_entry(name, value):
                if crc_check:
                    checksum = zlib.crc32(chunk, checksum)
                file.write(chunk)
            if progress is not None:
                progress(name)
        if crc_check:
            file.write(_CRC_MARK + checksum.to_bytes(10, "big"))


def _encode_entry(name, value):
    """Yield the encoded bytes of one entry in pieces: for each slice of the array, a header and a view of the
    content."""
    if isinstance(value, str):
        array, dims, type_name = np.array(value), (0,), _STRING
    else:
        array = arrays.little_endian(value)
        if array.dtype not in _NAME_OF:
            raise TypeError(
                f"A checkpoint cannot hold {name!r}: elements of type {array.dtype} have no place in the format."
            )
        dims, type_name = array.shape or (0,), _NAME_OF[array.dtype]
    tag = name.encode()
    tag_field = key(1, LENGTH) + varint(len(tag)) + tag
    type_field = key(2, LENGTH) + varint(len(type_name)) + type_name.encode()
    tensor_fields = b"".join(key(1, VARINT) + varint(size) for size in dims) + type_field
    content = arrays.content(array)
    step = _SLICE // max(1, array.dtype.itemsize) * max(1, array.dtype.itemsize)
    for start in range(0, max(1, content.nbytes), step):
        piece = content[start : start + step]
        tensor = tensor_fields + key(3, LENGTH) + varint(piece.nbytes)
        value_field = tag_field + key(2, LENGTH) + varint(len(tensor) + piece.nbytes) + tensor
        yield key(1, LENGTH) + varint(len(value_field) + piece.nbytes) + value_field
        yield piece


def read(path: str | Path, crc_check: bool = False, cipher: Cipher | None = None) -> dict[str, Any]:
    """Read a checkpoint of any MindSpore version. Arrays are views of the mapped file, so unused arrays are not read.

    The arrays are read-only. Other programs may overwrite the file in place, see :func:`msnb.formats.arrays.mapped`.
    Copy the arrays if they must survive this, as ``load_checkpoint`` does. An encrypted file is decrypted completely.

    Args:
        path (str): File to read.
        crc_check (bool): Whether to compare the checksum. The file must then have one. Default: False.
        cipher (Cipher): Cipher that decrypts the file. Default: None, for a file that is not encrypted.

    Returns:
        dict from names to numpy arrays (bfloat16 as in ml_dtypes) or str, in the order of the file.

    Raises:
        FileNotFoundError: If there is no such file.
        CheckpointError: If the file is not a checkpoint, does not match `cipher`, lacks a requested checksum, or is
            truncated or damaged.
    """
    path = os.fspath(path)
    data = arrays.mapped(path)
    if not len(data):
        return {}
    try:
        return _decode_checkpoint(encryption.decrypt_if_encrypted(data, cipher, path), crc_check)
    except protobuf.WireError as error:
        other = ", or the key is another one" if cipher is not None else ""
        raise CheckpointError(
            f"{path!r} is no MindSpore checkpoint, or a damaged one{other}: {error}. "
            "msnb.load_weights reads files of other frameworks."
        ) from None
    except CheckpointError as error:
        raise CheckpointError(f"{path!r}: {error}") from None
    except BadFileError as error:
        raise CheckpointError(str(error)) from None


def _decode_checkpoint(data, crc_check):
    end = len(data)
    if end >= _TRAILER and bytes(data[end - _TRAILER : end - 10]) == _CRC_MARK:
        end -= _TRAILER
        if crc_check and zlib.crc32(data[:end]) != int.from_bytes(data[end + len(_CRC_MARK) :], "big"):
            raise CheckpointError("the checksum does not match; the file was damaged after it was written.")
    elif crc_check:
        raise CheckpointError("the file has no checksum; read it with crc_check=False.")
    entries = {}
    for number, wire_type, value in protobuf.fields(data, 0, end):
        if number != 1 or wire_type != LENGTH:
            raise protobuf.WireError(f"field {number} stands where a parameter should")
        tag, dims, type_name, content = _decode_entry(data, *value)
        known = entries.setdefault(tag, (dims, type_name, []))
        known[2].append(content)
    return {tag: _to_array_or_str(tag, *entry) for tag, entry in entries.items()}


def _decode_entry(data, start, end):
    tag = tensor = None
    for number, wire_type, value in protobuf.fields(data, start, end):
        if wire_type != LENGTH:
            raise protobuf.WireError(f"field {number} at byte {start} has the wrong type")
        if number == 1:
            tag = _decode_text(data, value)
        elif number == 2:
            tensor = value
        elif number == 3:
            raise CheckpointError(f"{tag!r} is a hash table (MapParameter), which msnb cannot read.")
    if tag is None or tensor is None:
        raise protobuf.WireError(f"the parameter at byte {start} has no {'name' if tag is None else 'value'}")
    dims, type_name, content = [], None, data[0:0]
    for number, wire_type, value in protobuf.fields(data, *tensor):
        if number == 1 and wire_type == VARINT:
            dims.append(value)
        elif number > 3:
            continue
        elif wire_type != LENGTH:
            raise protobuf.WireError(f"field {number} of the tensor at byte {tensor[0]} has the wrong type")
        elif number == 1:  # packed
            at, stop = value
            while at < stop:
                size, at = protobuf.read_varint(data, at, stop)
                dims.append(size)
        elif number == 2:
            type_name = _decode_text(data, value)
        else:
            content = data[value[0] : value[1]]
    return tag, tuple(dims), type_name, content


def _decode_text(data, span):
    try:
        return bytes(data[span[0] : span[1]]).decode()
    except UnicodeDecodeError:
        raise protobuf.WireError(f"the text at byte {span[0]} is not UTF-8") from None


def _to_array_or_str(tag, dims, type_name, pieces):
    raw = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if type_name == _STRING:
        return bytes(raw).decode("utf-32-le", "replace").rstrip("\0")  # numpy pads text with NUL
    if type_name not in _DTYPE_OF:
        raise CheckpointError(f"{tag!r} has elements of the unknown type {type_name!r}.")
    dtype = _DTYPE_OF[type_name]
    shape = () if dims == (0,) and len(raw) == dtype.itemsize else dims
    try:
        return arrays.view(raw, dtype, shape, repr(tag))
    except BadFileError as error:
        raise CheckpointError(str(error)) from None
