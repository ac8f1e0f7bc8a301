"""Reader of PyTorch's weight files, ``.pt``, ``.pth`` and ``.bin``. It runs no code of a file.

``torch.save`` writes a pickle of nested dicts, in which a tensor is a call of ``_rebuild_tensor_v2`` on a storage, an
offset, a shape and strides. Since 1.6 the file is a zip archive: ``data.pkl``, and the bytes of each storage in
``data/KEY``. Before, it was a sequence of pickles (magic number, version, system, object, keys of the
storages), and then the length and the bytes of each storage.

Python's unpickler imports and calls any function that a file names. This module interprets the opcodes of a pickle
itself: it builds containers, numbers and texts, and knows the few names in `_GLOBALS`. Nothing is imported or called.
"""

import io
import math
import os
import pickletools
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from msnb.formats import arrays
from msnb.formats.text_files import BadFileError

_DTYPES = {
    "FloatStorage": np.float32, "DoubleStorage": np.float64, "HalfStorage": np.float16,
    "BFloat16Storage": ml_dtypes.bfloat16, "LongStorage": np.int64, "IntStorage": np.int32, "ShortStorage": np.int16,
    "CharStorage": np.int8, "ByteStorage": np.uint8, "BoolStorage": np.bool_, "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128, "UntypedStorage": np.uint8,
    "float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int64": np.int64, "int32": np.int32, "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "bool": np.bool_,
    "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "complex64": np.complex64,
    "complex128": np.complex128, "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_MAGIC = (0x1950A86A20F9469CFC6C).to_bytes(10, "little")
OLD_START = b"\x80\x02\x8a\x0a" + _MAGIC
_LARGEST_EXPANDED = 1 << 28  # elements of a tensor that repeats the elements of its storage
_DEEPEST = 64  # levels of nested containers
_PUSHED = frozenset(
    "NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING "
    "UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8".split()
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}


class _Storage:
    """The elements of one or more tensors. `data` is set when the bytes have been located."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count, self.data = np.dtype(dtype), count, None


class _Tensor(NamedTuple):
    storage: Any
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any = None  # another type than that of the storage


class _Name(NamedTuple):
    """A name of a module in the pickle. It stays a name."""

    module: str
    name: str


class _Unused:
    """A value that is no tensor and no container, such as the options of a training."""


class _Mark:
    pass


def _rebuild_tensor(storage, offset, shape, strides, *_):
    if not isinstance(storage, _Storage):
        raise BadFileError("a tensor has no storage")
    sizes = (offset, *shape, *strides)
    if len(shape) != len(strides) or not all(type(size) is int and size >= 0 for size in sizes):
        raise BadFileError("a tensor has a shape or strides that no tensor has")
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _rebuild_tensor_of_dtype(storage, offset, shape, strides, requires_grad, hooks, dtype, *_):
    if not isinstance(dtype, _Name) or dtype.name not in _DTYPES:
        raise BadFileError("a tensor has an unknown element type")
    return _rebuild_tensor(storage, offset, shape, strides)._replace(dtype=np.dtype(_DTYPES[dtype.name]))


def _rebuild_parameter(data, *_):
    return data


def _rebuild_subclass(function, kind, args, *_):
    return _call(function, args)


def _make_dict(*args):
    pairs = args[0] if args and isinstance(args[0], list) else []
    out: dict[Any, Any] = {}
    for key, value in pairs:
        _set_item(out, key, value)
    return out


def _ignore(*_):
    return _Unused()


# Functions and classes that a pickle may call, as functions of this module.
_GLOBALS: dict[tuple[str, str], Callable[..., Any] | None] = {
    ("collections", "OrderedDict"): _make_dict,
    ("collections", "defaultdict"): _make_dict,
    ("builtins", "dict"): _make_dict,
    ("__builtin__", "dict"): _make_dict,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_tensor_of_dtype,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_subclass,
    ("torch", "Size"): lambda sizes=(): tuple(sizes),
    ("torch", "Tensor"): None,
    ("torch.nn.parameter", "Parameter"): None,
    # values of trainings, which are no weights
    ("torch", "device"): _ignore,
    ("argparse", "Namespace"): _ignore,
    ("collections", "Counter"): _ignore,
    ("numpy", "dtype"): _ignore,
    ("numpy.core.multiarray", "scalar"): _ignore,
    ("numpy._core.multiarray", "scalar"): _ignore,
    ("numpy.core.multiarray", "_reconstruct"): _ignore,
    ("numpy._core.multiarray", "_reconstruct"): _ignore,
    ("numpy", "ndarray"): None,
    ("_codecs", "encode"): _ignore,
    **{(module, "set"): _ignore for module in ("builtins", "__builtin__")},
    **{("pathlib", kind): _ignore for kind in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")},
    **{("pathlib._local", kind): _ignore for kind in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")},
    **{("torch", name): None for name in _DTYPES},
    ("torch.storage", "UntypedStorage"): None,
}


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Return the tensors in a file that ``torch.save`` wrote, by name.

    The names of nested dicts are joined by dots. If only one item of the outermost dict has tensors, such as
    ``state_dict``, its name is left out. The arrays are read-only views of the mapped file. Tensors of one storage
    share memory.

    Args:
        path (str): File to read, in either format.

    Returns:
        dict from names to arrays (bfloat16 as in ml_dtypes), in the order of the file.

    Raises:
        FileNotFoundError: If there is no such file.
        BadFileError: If the file is no such file, is damaged, or its pickle names a function or class that is not
            needed for weights.
    """
    path = os.fspath(path)
    data = arrays.mapped(path)
    try:
        content = _read_zip(path, data) if bytes(data[:2]) == b"PK" else _read_old(data)
        return _flatten(content)
    except BadFileError as error:
        raise BadFileError(f"{path!r} cannot be read as a file of PyTorch: {error}.") from None
    except (
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        AttributeError,
        OverflowError,
        NotImplementedError,
        RecursionError,
    ) as error:
        raise BadFileError(f"{path!r} is no weight file of PyTorch, or a damaged one: {error}.") from None


def _read_zip(path, data):
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            record = next((name for name in infos if name.endswith("/data.pkl")), None)
            if record is None:
                raise BadFileError("the archive has no data.pkl")
            root = record.removesuffix("data.pkl")
            if f"{root}constants.pkl" in infos:
                raise BadFileError(
                    "it is a TorchScript program; torch.save(torch.jit.load(path).state_dict(), 'weights.pt') writes "
                    "its weights"
                )
            order = archive.read(f"{root}byteorder") if f"{root}byteorder" in infos else b"little"
            storages: dict[str, _Storage] = {}

            def locate(kind, key, count):
                if key not in storages:
                    storage = storages[key] = _Storage(kind, count)
                    if order == b"big":
                        storage.dtype = storage.dtype.newbyteorder(">")
                    info = infos[f"{root}data/{key}"]
                    if info.file_size != count * storage.dtype.itemsize:
                        raise BadFileError(f"the storage {key!r} has {info.file_size} bytes and should have {count}")
                    storage.data = _get_member(archive, info, data)
                return storages[key]

            return _interpret(io.BytesIO(archive.read(record)), locate)
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise BadFileError(str(error) or "the archive is cut off") from None


def _get_member(archive, info, data):
    """Return the bytes of a file in the archive: a view of the mapped file, unless they are compressed."""
    if info.compress_type != zipfile.ZIP_STORED:
        return memoryview(archive.read(info))
    at = info.header_offset
    name, extra = int.from_bytes(data[at + 26 : at + 28], "little"), int.from_bytes(data[at + 28 : at + 30], "little")
    start = at + 30 + name + extra
    return data[start : start + info.file_size]


def _read_old(data):
    if bytes(data[: len(OLD_START)]) != OLD_START:
        raise BadFileError("it starts neither as a zip archive nor with the magic number of torch.save")
    stream = _Stream(data)
    storages: dict[str, _Storage] = {}

    def locate(kind, key, count):
        return storages.setdefault(key, _Storage(kind, count))

    for _ in range(3):  # magic number, version, system
        _interpret(stream, None)
    content = _interpret(stream, locate)
    for key in _interpret(stream, None):
        storage = storages[key]
        count = int.from_bytes(stream.read(8), "little")
        if count != storage.count:
            raise BadFileError(f"the storage {key!r} has {count} elements and should have {storage.count}")
        storage.data = stream.take(count * storage.dtype.itemsize)
    return content


class _Stream(io.RawIOBase):
    """A file over mapped bytes, for `pickletools`, which reads no byte after the end of a pickle."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> memoryview:
        start, self._at = self._at, self._at + count
        if self._at > len(self._data):
            raise BadFileError("it is cut off")
        return self._data[start : self._at]

    def read(self, count: int = -1) -> bytes:
        piece = bytes(self._data[self._at : self._at + count if count >= 0 else None])
        self._at += len(piece)
        return piece

    def readline(self, size: int | None = -1) -> bytes:
        end = bytes(self._data[self._at : self._at + 4096]).find(b"\n") + 1
        return self.read(end or 4096)

    def tell(self) -> int:
        return self._at


def _interpret(stream, locate):
    """Return the value of a pickle. `locate(dtype, key, count)` returns a storage."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}

    def pop_to_mark():
        items = []
        while not isinstance(item := stack.pop(), _Mark):
            items.append(item)
        return items[::-1]

    for opcode, arg, _ in pickletools.genops(stream):
        name = opcode.name
        if name in _PUSHED:
            stack.append(_CONSTANTS.get(name, arg))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(arg)] = stack[-1]
        elif name == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[int(arg)])
        elif name == "MARK":
            stack.append(_Mark())
        elif name in ("EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "EMPTY_SET"):
            stack.append({"D": {}, "L": [], "T": ()}.get(name[6], []))
        elif name in ("LIST", "TUPLE", "DICT"):
            items = pop_to_mark()
            stack.append(items if name == "LIST" else tuple(items) if name == "TUPLE" else {})
            if name == "DICT":
                _set_items(stack[-1], items)
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            stack[-count:] = [tuple(stack[-count:])]
        elif name in ("APPEND", "APPENDS", "ADDITEMS"):
            items = [stack.pop()] if name == "APPEND" else pop_to_mark()
            if type(stack[-1]) is not list:
                raise BadFileError("an item is appended to something else than a list")
            stack[-1].extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = [stack.pop(), stack.pop()][::-1] if name == "SETITEM" else pop_to_mark()
            _set_items(stack[-1], items)
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            module, attribute = arg.split(" ", 1) if name == "GLOBAL" else (stack.pop(), stack.pop())[::-1]
            stack.append(_check_name(module, attribute))
        elif name in ("REDUCE", "NEWOBJ"):
            args = stack.pop()
            stack[-1] = _call(stack[-1], args)
        elif name == "BUILD":  # an attribute of an OrderedDict, the state of a value that is not used
            stack.pop()
            if type(stack[-1]) not in (dict, _Unused, _Tensor):
                raise BadFileError("its pickle changes the state of an object")
        elif name == "BINPERSID":
            stack.append(_get_storage(stack.pop(), locate))
        elif name == "POP":
            stack.pop()
        elif name == "POP_MARK":
            pop_to_mark()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name == "STOP":
            return stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise BadFileError(f"its pickle has the instruction {name}, which no file of weights needs")
    raise BadFileError("its pickle has no end")


def _set_items(target, items):
    if len(items) % 2:
        raise BadFileError("a key has no value")
    for key, value in zip(items[::2], items[1::2], strict=True):
        _set_item(target, key, value)


def _set_item(target, key, value):
    if type(target) is not dict or type(key) not in (str, int, float, bool, type(None)):
        raise BadFileError("a dict has a key that is neither a text nor a number")
    target[key] = value


def _check_name(module, name):
    if type(module) is not str or type(name) is not str:
        raise BadFileError("its pickle has a name that is no text")
    if (module, name) not in _GLOBALS:
        raise BadFileError(
            f"its pickle names {module[:80]}.{name[:80]}. msnb reads tensors in dicts, and runs no code of a "
            f"file. Write the weights alone: torch.save(net.state_dict(), path)"
        )
    return _Name(module, name)


def _call(function, args):
    target = _GLOBALS.get(function) if isinstance(function, _Name) else None
    if target is None or type(args) is not tuple:
        raise BadFileError("its pickle calls something that is no function for tensors")
    return target(*args)


def _get_storage(identity, locate):
    if locate is None or type(identity) is not tuple or len(identity) < 5 or identity[0] != "storage":
        raise BadFileError("a storage has no valid description")
    _, kind, key, _, count = identity[:5]
    if not isinstance(kind, _Name) or kind.name not in _DTYPES:
        raise BadFileError("a storage has an unknown element type")
    if type(key) is not str or type(count) is not int or count < 0:
        raise BadFileError("a storage has no valid key or number of elements")
    if len(identity) > 5 and identity[5] is not None:
        raise BadFileError("a storage is a view of another one, as PyTorch 0.3 wrote it; save it with a newer PyTorch")
    return locate(_DTYPES[kind.name], key, count)


def _flatten(content):
    """Return the arrays in nested containers by name."""
    if isinstance(content, dict):
        nested = [value for value in content.values() if any(True for _ in _iterate_tensors(value, ""))]
        if len(nested) == 1 and isinstance(nested[0], dict):
            content = nested[0]
    tensors = dict(_iterate_tensors(content, ""))
    if not tensors:
        raise BadFileError("it has no tensors")
    return {name or "tensor": _to_array(name, tensor) for name, tensor in tensors.items()}


def _iterate_tensors(value, name, depth=0, seen=None):
    seen = set() if seen is None else seen
    if isinstance(value, _Tensor):
        yield name, value
    elif type(value) in (dict, list, tuple) and id(value) not in seen:
        seen.add(id(value))  # a pickle of a few bytes can describe containers with more paths than memory
        if depth == _DEEPEST:
            raise BadFileError(f"its containers are nested more than {_DEEPEST} deep")
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _iterate_tensors(item, f"{name}.{key}" if name else str(key), depth + 1, seen)


def _to_array(name, tensor):
    storage, shape, strides = tensor.storage, tensor.shape, tensor.strides
    arrays.check_shape(shape, repr(name))
    dtype = tensor.dtype or storage.dtype
    if storage.data is None:
        raise BadFileError(f"{name!r} has a storage without bytes")
    flat = np.frombuffer(storage.data, dtype)
    count = math.prod(shape)
    last = tensor.offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if count and last >= flat.size:
        raise BadFileError(f"{name!r} reaches beyond the end of its storage")
    if count > max(flat.size, _LARGEST_EXPANDED):
        raise BadFileError(f"{name!r} of shape {shape} repeats a storage of {flat.size} elements too often")
    if not count:
        return np.zeros(shape, dtype)
    bytes_per_step = tuple(stride * dtype.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(flat[tensor.offset :], shape, bytes_per_step, writeable=False)
