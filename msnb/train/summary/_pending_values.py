"""What summary operators saw since somebody took it.

A compiled program hands its values over before it has computed them, and says later whether an operator in a branch or
a loop ran at all. Nothing here waits for that, unless many such values have come.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train.summary._writer import on_host

_MOST = 16  # values of one operator of which it is not known yet which is the last that was computed
_lock = threading.Lock()
_seen: dict[str, "Tensor | Perhaps"] = {}  # by "tag[:Kind]"


class Sight(NamedTuple):
    """An array, and a bool array that says whether it was computed."""

    array: Any
    ran: Any


class Perhaps:
    """The newest of some values that was computed."""

    def __init__(self, sights: list[Sight]) -> None:
        self._sights = sights

    def followed_by(self, sight: Sight) -> "Perhaps":
        """With one more; of too many, those that are no candidates any more are left out."""
        sights = self._sights
        if len(sights) >= _MOST:
            newest = next((s for s in reversed(sights) if s.ran), None)
            sights = [] if newest is None else [newest]
        return Perhaps([*sights, sight])

    def array(self) -> Any:
        """The numbers, None if none was computed; it waits until that is known."""
        return next((on_host(s.array) for s in reversed(self._sights) if s.ran), None)


def keep(kind: str, name: str, tensor: Tensor, ran: Any = None) -> None:
    """Keep what an operator saw, as the last of its name."""
    key = f"{name}[:{kind.capitalize()}]"
    with _lock:
        if ran is None:
            _seen[key] = tensor if not isinstance(tensor, Parameter) else Tensor(tensor.asnumpy())
            return
        before = _seen.get(key, Perhaps([]))
        if not isinstance(before, Perhaps):
            before = Perhaps([Sight(before._array, np.True_)])
        _seen[key] = before.followed_by(Sight(tensor._array, ran))


def put(values: dict[str, Tensor]) -> None:
    """Keep values as if operators had seen them."""
    with _lock:
        _seen.update(values)


def take() -> dict[str, "Tensor | Perhaps"]:
    """What was seen since the last call; a `Perhaps` where it is not known yet."""
    with _lock:
        taken = dict(_seen)
        _seen.clear()
    return taken


def anything() -> bool:
    """Return whether there is something to take."""
    return bool(_seen)
