"""Storage of the values of summary operators until `take` is called.

A compiled program returns its values before it has computed them, and a flag that tells later whether an operator in a
branch or loop ran. Nothing here waits for that, unless many such values have arrived.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train.summary._writer import on_host

_MAX_CANDIDATES = 16  # values of one operator, before the last computed one is searched for
_lock = threading.Lock()
_values: dict[str, "Tensor | PendingValue"] = {}  # by "tag[:Kind]"


class Candidate(NamedTuple):
    """An array together with a bool array that tells whether the array was computed."""

    array: Any
    ran: Any


class PendingValue:
    """Successive values, of which some may not be computed yet. `array` is the newest that is."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self._candidates = candidates

    def followed_by(self, candidate: Candidate) -> "PendingValue":
        """Return a copy with one more value. If there are too many, values with a newer computed one are dropped."""
        candidates = self._candidates
        if len(candidates) >= _MAX_CANDIDATES:
            newest = next((s for s in reversed(candidates) if s.ran), None)
            candidates = [] if newest is None else [newest]
        return PendingValue([*candidates, candidate])

    def array(self) -> Any:
        """Return the array, or None if none was computed. Waits for the flags."""
        return next((on_host(s.array) for s in reversed(self._candidates) if s.ran), None)


def keep(kind: str, name: str, tensor: Tensor, ran: Any = None) -> None:
    """Store the value of an operator as the newest value of its name."""
    key = f"{name}[:{kind.capitalize()}]"
    with _lock:
        if ran is None:
            _values[key] = tensor if not isinstance(tensor, Parameter) else Tensor(tensor.asnumpy())
            return
        before = _values.get(key, PendingValue([]))
        if not isinstance(before, PendingValue):
            before = PendingValue([Candidate(before._array, np.True_)])
        _values[key] = before.followed_by(Candidate(tensor._array, ran))


def put(values: dict[str, Tensor]) -> None:
    """Store values as if operators had returned them."""
    with _lock:
        _values.update(values)


def take() -> dict[str, "Tensor | PendingValue"]:
    """Return and remove the stored values, by name. For values that are not computed yet it is a `PendingValue`."""
    with _lock:
        values = dict(_values)
        _values.clear()
    return values


def has_values() -> bool:
    """Return whether there are values to take."""
    return bool(_values)
