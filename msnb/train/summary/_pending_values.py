"""Storage of the values of summary operators until `take` is called.

A compiled program returns arrays that may not be computed yet. For an operator in a branch or loop it also returns a
flag, which is True if the operator ran. Storing a value does not wait for these arrays, unless many values of one
operator are pending.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train.summary._writer import on_host

_MAX_CANDIDATES = 16  # maximum number of stored values of one operator; then all but one are dropped
_lock = threading.Lock()
_values: dict[str, "Tensor | PendingValue"] = {}  # by "tag[:Kind]"


class Candidate(NamedTuple):
    """An array together with a bool array that tells whether the array was computed."""

    array: Any
    ran: Any


class PendingValue:
    """Successive values of an operator in a branch or loop. `array` returns the newest value of an operator that
    ran.
    """

    def __init__(self, candidates: list[Candidate]) -> None:
        self._candidates = candidates

    def followed_by(self, candidate: Candidate) -> "PendingValue":
        """Return a copy with one more value. If there are too many, only the newest value of an operator that ran
        remains.
        """
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
    """Return and remove the stored values, by name. The value of an operator in a branch or loop is a
    `PendingValue`.
    """
    with _lock:
        values = dict(_values)
        _values.clear()
    return values


def has_values() -> bool:
    """Return whether there are values to take."""
    return bool(_values)
