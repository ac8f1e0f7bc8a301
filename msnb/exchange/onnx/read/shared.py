"""State shared by all graphs of a model: its initializers and functions, and limits of expansion."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from msnb.formats import onnx
from msnb.ir.anf import CNode

from .values import UnsupportedOperator

_MAX_ELEMENTS = 1 << 26  # elements of all computed constants
_MAX_ROUNDS = 4096  # iterations of all unrolled loops
_MAX_DEPTH, _MAX_CALLS = 64, 100_000  # nested function calls, and all function calls


class Weights(Mapping[str, np.ndarray]):
    """The initializers of a model by name, read on access."""

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
        """Return the Tensor message."""
        return self._tensors[name]


class Shared:
    """State shared by all graphs of a model.

    Attributes:
        weights (Weights): Initializers of the model.
        functions (dict): Functions that the model defines, by domain and name.
        samples (dict): Arrays for inputs that shapes depend on.
        used (set): Names of the samples that were read.
        missing (dict): (operator, reason) -> name of the first node that cannot be read.
        needs_all_branches (bool): False if a branch that cannot be read gives NaN.
        unread (set): Names of values that such branches use.
        static_results (dict): Node -> its results as arrays, of nodes on which shapes depend.
    """

    def __init__(
        self,
        message: dict[str, Any],
        folder: Any,
        samples: Mapping[str, np.ndarray] | None = None,
        needs_all_branches: bool = True,
    ) -> None:
        self.folder = folder
        self.needs_all_branches = needs_all_branches
        self.message: dict[str, Any] = message
        self.weights: Weights = Weights(message["graph"].get("initializer", []), folder)
        self.functions: dict[Any, dict[str, Any]] = {
            (f.get("domain", ""), f.get("name", "")): f for f in message.get("functions", [])
        }
        self.samples: Mapping[str, np.ndarray] = samples or {}
        self.used: set[str] = set()
        self.unread: set[str] = set()
        self.static_results: dict[CNode, tuple[np.ndarray, ...]] = {}
        self.missing: dict[tuple[str, str], str] = {}
        self.version: int = 1
        self._element_count = self._round_count = self._call_count = self._depth = 0
        for opset in message.get("opset_import", []):
            if opset.get("domain", "") in ("", "ai.onnx"):
                self.version = opset.get("version", 1)

    def reserve_elements(self, count: int) -> None:
        """Count the elements of a new constant; raise an error if there are too many.

        Raises:
            UnsupportedOperator: If all constants exceed the limit. A file of a few bytes can ask for any size.
        """
        self._element_count += count
        if self._element_count > _MAX_ELEMENTS:
            raise UnsupportedOperator(f"it makes a constant of {count} elements, which is no initializer of the model")

    def begin_round(self) -> None:
        """Count a subgraph that is inlined; raise an error if there are too many.

        Raises:
            UnsupportedOperator: If there are too many, for example by nested loops.
        """
        self._round_count += 1
        if self._round_count > _MAX_ROUNDS:
            raise UnsupportedOperator(f"more than {_MAX_ROUNDS} rounds of loops would be written out")

    def enter_function(self, function: dict[str, Any]) -> None:
        """Count a call of one of the model's functions, until `leave_function`.

        Raises:
            UnsupportedOperator: If the recursion is too deep or there are too many calls.
        """
        self._call_count += 1
        self._depth += 1
        if self._depth > _MAX_DEPTH or self._call_count > _MAX_CALLS:
            raise UnsupportedOperator(f"the model's function '{function.get('name', '')}' is called without an end")

    def leave_function(self) -> None:
        """End the call of a function."""
        self._depth -= 1
