"""Dictionaries and keys by object identity that do not keep the object alive.

`id()` alone is not usable as a key: after an object is deleted, a new one may have the same id. Data about a Cell or
function is stored on the object itself, so that reference cycles through it can be collected. Data about other objects
is stored in a `WeakIdentityDict`.
"""

import weakref
from collections.abc import Callable
from typing import Any


def weakly(value: Any) -> Callable[[], Any]:
    """Return a function that returns `value` while it is alive and None afterwards.

    A value without support for weak references is kept alive.
    """
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


class ObjectKey:
    """Identity of one object as part of a key. Two keys of the same object are equal while it is alive.

    Args:
        value (object): The object. One that cannot be referenced weakly is kept alive.
    """

    __slots__ = ("_get", "_hash")

    def __init__(self, value: object) -> None:
        self._get = weakly(value)
        self._hash = id(value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ObjectKey):
            return NotImplemented
        value = self._get()
        return value is other._get() and (value is not None or self._hash == other._hash == id(None))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Identity({self._get()!r})"


class WeakIdentityDict:
    """A dictionary with objects as keys, compared by `is`. An entry is removed with its object.

    A value that refers to its key keeps both alive. Setting and getting are safe while entries are removed, as each
    is one operation on a dictionary.
    """

    __slots__ = ("_entries", "__weakref__")

    def __init__(self):
        self._entries = {}  # id -> (weak reference, value); the reference removes the entry when the object dies

    def get(self, key: object, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        entry = self._entries.get(id(key))
        return default if entry is None or entry[0]() is not key else entry[1]

    def __setitem__(self, key: object, value: Any) -> None:
        entries, ident = self._entries, id(key)

        def gone(reference):
            entry = entries.get(ident)
            if entry is not None and entry[0] is reference:
                del entries[ident]

        entries[ident] = (weakref.ref(key, gone), value)

    def __contains__(self, key: object) -> bool:
        return self.get(key, self) is not self

    def __len__(self) -> int:
        return len(self._entries)


class _Attached:
    """A value stored on a function, with the function it belongs to. Not pickled."""

    # `functools.wraps` copies the value to another function, which `owner` detects.
    __slots__ = ("owner", "value")

    def __init__(self, owner=None, value=None):
        self.owner = (lambda: None) if owner is None else weakref.ref(owner)
        self.value = value

    def __reduce__(self):
        return _Attached, ()

    def __deepcopy__(self, memo):
        return _Attached()


def attach(fn: Any, name: str, value: Any) -> Any:
    """Store `value` on the function `fn` under `name`, and return it."""
    fn.__dict__[name] = _Attached(fn, value)
    return value


def attached(fn: Any, name: str) -> Any:
    """Return the value that `attach` stored on `fn` itself, or None."""
    entry = fn.__dict__.get(name)
    return entry.value if entry is not None and entry.owner() is fn else None
