"""What handlers read and make: values of a graph, attributes, nodes, and the initializers of a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from msnb.ir.anf import AnfNode, TensorType, ValueNode
from msnb.ir.read import dtype_name

Handler = Callable[..., Any]
HANDLERS: dict[str, Handler] = {}  # "Conv", or "com.microsoft.Gelu" -> what makes our nodes of such a node


class Unread(NotImplementedError):
    """msnb has nothing for an operator of a model, or not with these attributes."""


class Unfit(ValueError):
    """Nodes of a model that do not fit together."""


class NeedsValue(Exception):
    """An input of the model decides on shapes: the graph is another one for other values.

    Attributes:
        name (str): The input.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"the input '{name}' decides on shapes")
        self.name: str = name


class Ref(NamedTuple):
    """A result of a node.

    Attributes:
        node (AnfNode): The node.
        slot (int): Which of its results.
    """

    node: AnfNode
    slot: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return self.node.types[self.slot].shape

    @property
    def rank(self) -> int:
        """How many it has."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Its element type."""
        return numpy_type(self.node.types[self.slot].dtype)

    @property
    def is_float(self) -> bool:
        """Whether that is one of floating point."""
        return "float" in self.dtype.name

    @property
    def value(self) -> np.ndarray | None:
        """The array of a constant, else None."""
        return self.node.value if isinstance(self.node, ValueNode) else None


class Attributes(dict[str, Any]):
    """Attributes of a node by name, which remember those that somebody has asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self._asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self._asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._asked.add(str(name))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._asked.update(super().keys())
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, `default` where there is none."""
        self._asked.add(name)
        return super().get(name, default)

    def unasked(self) -> list[str]:
        """Names of those that nobody has asked for."""
        return [name for name in super().keys() if name not in self._asked]


class Node(NamedTuple):
    """A node of the model.

    Attributes:
        op (str): Its operator.
        inputs (list): What it takes, None for what is left out.
        attrs (Attributes): Its attributes, see `formats.onnx.attributes`.
        outputs (list[str]): Names of its results, "" for one that nobody wants.
        version (int): Of the set of operators.
    """

    op: str
    inputs: list[Ref | None]
    attrs: Attributes
    outputs: list[str]
    version: int

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attrs.get(name, default)

    def input(self, place: int) -> Ref | None:
        """What it takes at a place, None where that is left out."""
        return self.inputs[place] if place < len(self.inputs) else None


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Decorator: what makes our nodes of ONNX's of these names, called as ``handler(r, node)``."""

    def enter(handler):
        for name in names:
            HANDLERS[name] = handler
        return handler

    return enter


def numpy_type(name: str) -> np.dtype:
    """The numpy dtype that MindSpore spells so."""
    name = name.lower()
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def type_of(shape: Iterable[int], dtype: Any) -> TensorType:
    """The TensorType of an array."""
    dtype = np.dtype(dtype)
    return TensorType(dtype_name(dtype), tuple(int(n) for n in shape), dtype.itemsize)
