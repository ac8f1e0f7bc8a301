"""Safe reader of pickled batches of numbers, text and numpy arrays.

A pickle is a program for a stack machine. This one supports only the instructions that build lists, tuples, dicts,
text, numbers and numpy arrays: nothing in a file is called, and errors name the byte.
"""

import math
import pickletools

import numpy as np

from msnb.formats.text_files import BadFileError

_TYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
_MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")
_NAMES = ("ndarray", "dtype", "_reconstruct", "encode")


class _BrokenError(Exception):
    """An error in an instruction; its text describes it."""


def _require(condition, message):
    if not condition:
        raise _BrokenError(message)


class _Function(str):
    """The name of a function."""


class _Type:
    """A dtype under construction: its byte order comes after its name."""

    def __init__(self, name):
        _require(isinstance(name, str | bytes), "a type has no name")
        name = name.decode("latin-1") if isinstance(name, bytes) else name
        _require(name in _TYPES, f"arrays of type {name[:20]!r} are not supported")
        self.dtype = np.dtype(name)

    def build(self, state):
        """Set the byte order from the state of a numpy dtype."""
        _require(isinstance(state, tuple) and len(state) >= 2, "a type has no order of bytes")
        order = state[1].decode("latin-1") if isinstance(state[1], bytes) else state[1]
        _require(isinstance(order, str) and order in ("<", ">", "|", "="), "a type has no order of bytes")
        self.dtype = self.dtype.newbyteorder(order)


def _fill_array(array, state):
    """Set the state of an array as numpy pickled it: version, shape, dtype, order, bytes."""
    _require(isinstance(state, tuple) and len(state) == 5, "an array has no shape, type and bytes")
    version, shape, kind, fortran, raw = state
    _require(version == 1 and isinstance(kind, _Type) and isinstance(raw, bytes), "an array has no type and bytes")
    _require(isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape), "an array has no shape")
    size = math.prod(shape) * kind.dtype.itemsize
    _require(size == len(raw) and len(shape) < 32 and raw, f"an array of shape {shape} has {len(raw)} bytes")
    array.__setstate__((1, shape, kind.dtype, bool(fortran), raw))


def _apply_function(function, args):
    """Return the result of a call in the pickle; the supported functions build types, arrays and bytes."""
    _require(isinstance(function, _Function) and isinstance(args, tuple), "something else than a function is called")
    name = str(function)
    if name == "_reconstruct":
        return np.ndarray((0,), np.int8)
    if name == "dtype" and args:
        return _Type(args[0])
    encoding = args[1] if len(args) > 1 else "latin1"
    _require(
        name == "encode" and args and isinstance(args[0], str) and encoding in ("latin1", b"latin1"),
        f"the function {name!r} is not supported with these arguments",
    )
    _require(args[0].isascii() or max(args[0]) < "\u0100", "bytes are expected, but there is text")
    return args[0].encode("latin-1")


class _Machine:
    """The stack machine with its memo."""

    def __init__(self):
        self.stack, self.marks, self.memo = [], [], {}

    def pop(self):
        """Remove and return the top value, which must be above the last mark."""
        _require(len(self.stack) > (self.marks[-1] if self.marks else 0), "a value is missing")
        return self.stack.pop()

    def top(self, kind):
        """Return the top value, of type `kind`, without removing it."""
        _require(self.stack and isinstance(self.stack[-1], kind), f"no {kind.__name__} is there to be filled")
        return self.stack[-1]

    def since_mark(self):
        """Remove and return the values after the last mark, and the mark."""
        _require(self.marks, "a mark is missing")
        at = self.marks.pop()
        values = self.stack[at:]
        del self.stack[at:]
        return values

    def run(self, name, arg):
        """Run one instruction."""
        push = self.stack.append
        if name in _CONSTANTS:
            push(_CONSTANTS[name])
        elif name in _PLAIN:
            push(arg)
        elif name in ("STRING", "BINSTRING", "SHORT_BINSTRING"):
            push(arg.encode("latin-1"))
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            push([] if name == "EMPTY_LIST" else {})
        elif name == "MARK":
            self.marks.append(len(self.stack))
        elif name in ("LIST", "TUPLE", "DICT"):
            values = self.since_mark()
            push(tuple(values) if name == "TUPLE" else values if name == "LIST" else _update_dict({}, values))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            push(tuple([self.pop() for _ in range(int(name[-1]))][::-1]))
        elif name in ("APPEND", "APPENDS"):
            values = [self.pop()] if name == "APPEND" else self.since_mark()
            self.top(list).extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = [self.pop() for _ in range(2)][::-1] if name == "SETITEM" else self.since_mark()
            _update_dict(self.top(dict), values)
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if name == "MEMOIZE" else arg] = self.top(object)
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            _require(arg in self.memo, f"value {arg} was not remembered")
            push(self.memo[arg])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            qualified_name = tuple(arg.split(" ")) if name == "GLOBAL" else tuple([self.pop() for _ in range(2)][::-1])
            _require(
                len(qualified_name) == 2 and qualified_name[0] in _MODULES and qualified_name[1] in _NAMES,
                f"global {qualified_name!r:.80} is forbidden",
            )
            push(_Function(qualified_name[1]))
        elif name == "REDUCE":
            args = self.pop()
            push(_apply_function(self.pop(), args))
        elif name == "BUILD":
            state, built = self.pop(), self.top(object)
            _require(isinstance(built, _Type | np.ndarray), "something else than an array is built")
            built.build(state) if isinstance(built, _Type) else _fill_array(built, state)
        elif name == "POP":
            self.pop()
        elif name not in ("PROTO", "FRAME"):
            raise _BrokenError(f"the instruction {name} is not supported")


def _update_dict(target, values):
    _require(len(values) % 2 == 0, "a value is missing")
    for key, value in zip(values[::2], values[1::2], strict=True):
        _require(isinstance(key, str | bytes | int), f"a {type(key).__name__} is no key")
        target[key] = value
    return target


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_PLAIN = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}


def load(path):
    """Return the value in a pickle; text of Python 2 is bytes.

    Raises:
        OSError: If the file cannot be opened.
        BadFileError: If it is not a pickle, damaged, or contains anything but numbers, text and arrays.
    """
    with open(path, "rb") as file:
        data = file.read()
    machine, at = _Machine(), 0
    try:
        for instruction, arg, at in pickletools.genops(data):  # noqa: B007 (`at` is for the message)
            if instruction.name == "STOP":
                return machine.pop()
            machine.run(instruction.name, arg)
        cause = "it does not end"
    except ValueError as error:  # genops: bytes that are no instruction, or lack their argument
        cause = f"after the instruction there, {error}"
    except _BrokenError as error:
        cause = error
    raise BadFileError(f"Invalid file, {path!r} is no pickle of numbers and arrays, or damaged: byte {at}: {cause}.")
