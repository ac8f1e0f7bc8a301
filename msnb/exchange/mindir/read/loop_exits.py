"""State of a loop that is being read: its exits, and the types of its variables."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb.exchange.mindir.read.values import Choice, Closure, NamedTuples, Ref, type_of, type_of_either
from msnb.ir.anf import AnfNode, TensorType


class EarlyExit(NotImplementedError):
    """Raised if a branch leaves the loop although the caller expected a single exit."""


class RoundExits(NamedTuple):
    """Result of tracing one iteration of a loop.

    Attributes:
        number (Any): Number of the exit, which selects the function called at the end of the iteration.
        values (dict): The arguments of each function that may be called there.
    """

    number: Any
    values: dict[str, tuple[Any, ...]]


class Loop:
    """A loop that is being read.

    Args:
        name (str): The function that is the loop.
        after (str): The function that is called when the condition is false, or None.
        state (tuple): The arguments of the function in this iteration.
    """

    def __init__(self, name: str, after: str | None, state: tuple[Any, ...]) -> None:
        self.name, self.after, self.state = name, after, state
        self._numbers: dict[str, np.ndarray] = {}
        self.number(name)

    def number(self, function: str) -> np.ndarray:
        """Return the number of the exit that calls `function`. Exit 0 starts the next iteration."""
        return self._numbers.setdefault(function, np.array(len(self._numbers), np.int32))


class ExitValue(NamedTuple):
    """Stands for a value that is computed in a loop and used after the loop."""

    position: int


def zeros_of(kind: TensorType) -> np.ndarray:
    """Return zeros in place of a value that is not used."""
    return np.zeros(kind.shape, kind.dtype.lower() if kind.dtype != "BFloat16" else np.float32)


def zeros_outside_branch(branch_nodes: set[AnfNode]) -> Callable[[Any], Any]:
    """Return a function that replaces values computed by `branch_nodes` by zeros, for use in the other branch."""

    def leaf(value):
        return (
            zeros_of(value.node.types[value.slot]) if isinstance(value, Ref) and value.node in branch_nodes else value
        )

    return leaf


def map_leaves(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to each leaf of nested tuples, closures and choices."""
    if isinstance(value, Closure):
        return Closure(value.function, tuple(map_leaves(change, v) for v in value.values))
    if isinstance(value, Choice):
        return Choice(change(value.predicate), map_leaves(change, value.yes), map_leaves(change, value.no))
    if isinstance(value, (tuple, list)) and not isinstance(value, (*NamedTuples, ExitValue)):
        return tuple(map_leaves(change, v) for v in value)
    return change(value)


def variable_type(value: Any, tensor: dict[str, Any]) -> TensorType:
    """Return the type of a loop variable: the type in the file, or the actual type if the file leaves lengths open."""
    declared = type_of(tensor)
    return type_of_either((value,)) if any(size < 0 for size in declared.shape) else declared
