"""Objects told apart by which they are, without being kept alive: `id()` alone answers for the next object at an
address once the first one is gone, so no key and no table may hold one.

What is remembered of a Cell or function stands on itself, so that reference cycles through it can be collected; what
is remembered of any other object stands in an `IdentityMap`.
"""

import weakref
from collections.abc import Callable
from typing import Any


def weakly(value: Any) -> Callable[[], Any]:
    """A function that gives `value` while it is alive, None afterwards; what cannot be referenced weakly stays."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


class ObjectKey:
    """Stands for one object in a key: equal to another `Identity` of the same object while that is alive.

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
    """A dictionary whose keys are objects, compared by `is`; an entry goes with its object.

    A value that refers to its key keeps both alive. Setting and getting are safe while entries go, as each is one
    operation on a dictionary.
    """

    __slots__ = ("_entries", "__weakref__")

    def __init__(self):
        self._entries = {}  # id -> (weak reference, value); the reference removes the entry when the object dies

    def get(self, key: object, default: Any = None) -> Any:
        """The value of `key`, `default` where there is none."""
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
    """A value on a function, with whose it is: `functools.wraps` copies it to another function. Not pickled."""

    __slots__ = ("owner", "value")

    def __init__(self, owner=None, value=None):
        self.owner = (lambda: None) if owner is None else weakref.ref(owner)
        self.value = value

    def __reduce__(self):
        return _Attached, ()

    def __deepcopy__(self, memo):
        return _Attached()


def attach(fn: Any, name: str, value: Any) -> Any:
    """Remember `value` on the function `fn` under `name`; returns it."""
    fn.__dict__[name] = _Attached(fn, value)
    return value


def attached(fn: Any, name: str) -> Any:
    """What `attach` put on `fn` itself, None where there is nothing."""
    found = fn.__dict__.get(name)
    return found.value if found is not None and found.owner() is fn else None
