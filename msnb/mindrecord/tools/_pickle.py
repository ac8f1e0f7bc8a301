"""Safe reader of pickled batches of numbers, text and numpy arrays.

The reader is a subclass of `pickle.Unpickler`. Its `find_class` accepts only the names of functions that numpy arrays
and bytes need. It returns functions of this module in their place, which build arrays of plain numbers and bytes.
"""

import io
import math
import pickle
import pickletools

import numpy as np

from msnb.formats.text_files import BadFileError

_TYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")
_MAX_TUPLES = 1000  # Python crashes on the hash of tuples that are nested 100,000 deep
_PUTS = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
_GETS = {"GET", "BINGET", "LONG_BINGET"}
_TUPLES = {"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
_KEEP_TOP = {"PROTO", "FRAME", "MARK", "APPENDS", "SETITEMS"}  # these may leave the stack top unchanged
_INSTRUCTIONS = {
    *("PROTO", "FRAME", "STOP", "MARK", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),
    *("NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"),
    *("FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT"),
    *("LIST", "DICT", "APPEND", "APPENDS", "SETITEM", "SETITEMS", *_TUPLES, *_PUTS, *_GETS),
}


class _RefusedError(Exception):
    """Raised for a pickle that is damaged or contains something forbidden."""


def _require(condition, message):
    if not condition:
        raise _RefusedError(message)


class _Type:
    """Dtype of an array in a pickle: created from its name, then completed with its byte order."""

    def __init__(self, name=None, *_):
        _require(isinstance(name, str | bytes), "a type has no name")
        name = name.decode("latin-1") if isinstance(name, bytes) else name
        _require(name in _TYPES, f"arrays of type {name[:20]!r} are not supported")
        self.dtype = np.dtype(name)

    def __setstate__(self, state):
        """Set the byte order from the state of a numpy dtype."""
        _require(isinstance(state, tuple) and len(state) >= 2, "a type has no order of bytes")
        order = state[1].decode("latin-1") if isinstance(state[1], bytes) else state[1]
        _require(isinstance(order, str) and order in ("<", ">", "|", "="), "a type has no order of bytes")
        self.dtype = self.dtype.newbyteorder(order)


class _Array(np.ndarray):
    """Array in a pickle: created empty, then filled by `__setstate__`."""

    def __setstate__(self, state):
        """Set the content from the state of a numpy array: version, shape, dtype, order, bytes."""
        _require(isinstance(state, tuple) and len(state) == 5, "an array has no shape, type and bytes")
        version, shape, kind, fortran, raw = state
        _require(version == 1 and isinstance(kind, _Type) and isinstance(raw, bytes), "an array has no type and bytes")
        _require(isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape), "an array has no shape")
        size = math.prod(shape) * kind.dtype.itemsize
        _require(size == len(raw) and len(shape) < 32 and raw, f"an array of shape {shape} has {len(raw)} bytes")
        super().__setstate__((1, shape, kind.dtype, bool(fortran), raw))


def _encode_latin1(text=None, encoding="latin1", *_):
    _require(isinstance(text, str) and encoding in ("latin1", b"latin1"), "a text is not encoded in latin1")
    return text.encode("latin-1")


class _Function:
    """A function that a pickle may call. A pickle can't set its attributes, as it could those of a Python
    function."""

    __slots__ = ("_call",)

    def __init__(self, call):
        self._call = call

    def __call__(self, *args):
        return self._call(*args)

    def __setstate__(self, state):
        raise _RefusedError("something else than an array is built")


_FUNCTIONS = {
    "_reconstruct": _Function(lambda *_: _Array((0,), np.int8)),
    "dtype": _Function(_Type),
    "encode": _Function(_encode_latin1),
    "ndarray": _Function(lambda *_: _require(False, "the function 'ndarray' is not supported")),
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, data, positions):
        super().__init__(io.BytesIO(data), encoding="bytes")
        self._positions = iter(positions)

    def find_class(self, module, name):
        at = next(self._positions)
        is_allowed = module in _MODULES and name in _FUNCTIONS
        _require(is_allowed, f"byte {at}: global {(module, name)!r:.80} is forbidden")
        return _FUNCTIONS[name]


def _check_instructions(data):
    """Return the positions of the instructions that name a function, in the order of the file.

    Raise an error for an instruction that numbers, text and arrays do not need. Memo indices and tuples are limited,
    because with them a small file could use up all memory, or crash Python when it hashes a tuple as a key of a dict.
    """
    positions, tuples, memo, tuple_count, is_tuple = [], set(), set(), 0, False
    for instruction, arg, at in pickletools.genops(data):
        name = instruction.name
        _require(name in _INSTRUCTIONS, f"byte {at}: the instruction {name} is not supported")
        if name in ("GLOBAL", "STACK_GLOBAL"):
            positions.append(at)
        if name in _PUTS:
            index = len(memo) if name == "MEMOIZE" else arg
            _require(0 <= index <= at, f"byte {at}: the memo has no index {index}")
            memo.add(index)
            tuples.add(index) if is_tuple else tuples.discard(index)
        elif name in _GETS:
            # tuples that contain the previous one twice take exponential time to hash
            _require(arg not in tuples, f"byte {at}: a tuple is used twice")
            is_tuple = False
        elif name not in _KEEP_TOP:
            is_tuple = name in _TUPLES
            tuple_count += is_tuple
            _require(tuple_count <= _MAX_TUPLES, f"byte {at}: there are more than {_MAX_TUPLES} tuples")
    return positions


def load(path):
    """Return the value in a pickle file. Text that Python 2 wrote becomes bytes.

    Raises:
        OSError: If the file cannot be opened.
        BadFileError: If it is not a pickle, damaged, or contains anything but numbers, text and arrays.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _Unpickler(data, _check_instructions(data)).load()
    except Exception as error:  # damaged files raise errors of many types in `pickle`
        raise BadFileError(f"Invalid file, {path!r} is no pickle of numbers and arrays, or damaged: {error}.") from None
