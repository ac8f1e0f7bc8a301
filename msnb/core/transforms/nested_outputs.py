"""Results and side effects of a function that is traced in a frame of its own."""

from collections.abc import Callable, Iterable
from typing import Any

from msnb.core.state.trace_state import TraceFrame
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box


class NestedOutputs:
    """Passes results, written Parameters and hidden state from a nested trace to the outer one.

    JAX passes only arrays out of a trace. `collect` returns them inside; `apply` and `build` use them outside.
    """

    def __init__(self) -> None:
        self._rebuild: Callable[[list[Any]], Any] = list
        self._static: list[Any] = []  # per leaf of the result None for a Tensor, else (the leaf,)
        self._written: list[Any] = []  # Parameters
        self._hidden: tuple[str, ...] = ()

    def collect(self, frame: TraceFrame, result: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the arrays of the result's Tensors, of written Parameters, and of the hidden state.

        Call it inside `frame`, whose exit reverts Tensors that were changed in place.
        """
        leaves, self._rebuild = flatten(result)
        self._static = [None if isinstance(leaf, Tensor) else (leaf,) for leaf in leaves]
        writes = frame.writes()
        self._written = [p for p, _ in writes]
        self._hidden = frame.hidden_names()
        results = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
        return results, [array for _, array in writes], frame.hidden_arrays(self._hidden)

    def apply(self, frame: TraceFrame, written: Iterable[Any], hidden: list[Any]) -> None:
        """Set the written Parameters and the hidden state of the outer `frame` to these arrays."""
        for param, array in zip(self._written, written, strict=True):
            param._rebind_array(array)
        frame.adopt_hidden(self._hidden, hidden)

    def build(self, arrays: Iterable[Any]) -> Any:
        """Return the result of the function with these arrays in its Tensors."""
        boxes = map(box, arrays)
        return self._rebuild([next(boxes) if s is None else s[0] for s in self._static])
