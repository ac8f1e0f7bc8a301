"""What all graphs of a model share: its initializers and functions, and how much has been made of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from msnb.formats import onnx

from .values import Unread

_MADE = 1 << 26  # elements of all constants that are made and stand in no file
_ROUNDS = 4096  # rounds of loops that are written out
_DEEPEST, _CALLS = 64, 100_000  # calls of functions within another, and of all


class Weights(Mapping[str, np.ndarray]):
    """The initializers of a model by name; each is read when it is asked for."""

    def __init__(self, tensors: Iterable[dict[str, Any]], folder: Any) -> None:
        self._tensors: dict[str, dict[str, Any]] = {tensor.get("name", ""): tensor for tensor in tensors}
        self._folder = folder

    def __getitem__(self, name: str) -> np.ndarray:
        return onnx.array(self._tensors[name], self._folder)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def message(self, name: str) -> dict[str, Any]:
        """The Tensor message."""
        return self._tensors[name]


class Shared:
    """What all graphs of a model share.

    Attributes:
        weights (Weights): Its initializers.
        functions (dict): Functions of its own, by domain and name.
        samples (dict): Arrays for inputs that decide on shapes.
        used (set): Those of them that were asked for.
        missing (dict): (operator, why) -> name of the first node that cannot be read.
    """

    def __init__(self, message: dict[str, Any], folder: Any, samples: Mapping[str, np.ndarray] | None = None) -> None:
        self.folder = folder
        self.message: dict[str, Any] = message
        self.weights: Weights = Weights(message["graph"].get("initializer", []), folder)
        self.functions: dict[Any, dict[str, Any]] = {
            (f.get("domain", ""), f.get("name", "")): f for f in message.get("functions", [])
        }
        self.samples: Mapping[str, np.ndarray] = samples or {}
        self.used: set[str] = set()
        self.missing: dict[tuple[str, str], str] = {}
        self.version: int = 1
        self._made = self._rounds = self._calls = self._depth = 0
        for opset in message.get("opset_import", []):
            if opset.get("domain", "") in ("", "ai.onnx"):
                self.version = opset.get("version", 1)

    def make(self, count: int) -> None:
        """Take note of a constant of so many elements that is about to be made.

        Raises:
            Unread: If the constants get too large: a file of a few bytes can ask for any number.
        """
        self._made += count
        if self._made > _MADE:
            raise Unread(f"it makes a constant of {count} elements, which is no initializer of the model")

    def begin_round(self) -> None:
        """Take note of a graph within that is read in place of its node.

        Raises:
            Unread: If there are too many: loops within loops.
        """
        self._rounds += 1
        if self._rounds > _ROUNDS:
            raise Unread(f"more than {_ROUNDS} rounds of loops would be written out")

    def enter(self, function: dict[str, Any]) -> None:
        """Take note of a call of one of the model's functions, which `leave` ends.

        Raises:
            Unread: If functions call each other without an end.
        """
        self._calls += 1
        self._depth += 1
        if self._depth > _DEEPEST or self._calls > _CALLS:
            raise Unread(f"the model's function '{function.get('name', '')}' is called without an end")

    def leave(self) -> None:
        """The call is over."""
        self._depth -= 1
