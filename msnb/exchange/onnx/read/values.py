"""Values, attributes and nodes of a graph: the inputs of the functions that import ONNX operators."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from msnb.ir.anf import AnfNode, TensorType, ValueNode
from msnb.ir.read import dtype_name

Handler = Callable[..., Any]
HANDLERS: dict[str, Handler] = {}  # "Conv", or "com.microsoft.Gelu" -> the function that reads such a node


class UnsupportedOperator(NotImplementedError):
    """Raised if msnb does not support an operator of a model, or not with these attributes."""


class InconsistentModel(ValueError):
    """Raised if the types or shapes of a model's nodes do not fit together."""


class NeedsValue(Exception):
    """Raised if a shape depends on an input of the model. A separate graph is then built for each value of this input.

    Attributes:
        name (str): The input.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"the input '{name}' decides on shapes")
        self.name: str = name


class Ref(NamedTuple):
    """Reference to one result of a node.

    Attributes:
        node (AnfNode): The node.
        slot (int): Index of the result.
    """

    node: AnfNode
    slot: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self.node.types[self.slot].shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return numpy_type(self.node.types[self.slot].dtype)

    @property
    def is_float(self) -> bool:
        """True for a floating-point type."""
        return "float" in self.dtype.name

    @property
    def value(self) -> np.ndarray | None:
        """The array of a constant, or None for any other value."""
        return self.node.value if isinstance(self.node, ValueNode) else None


class Attributes(dict[str, Any]):
    """Attributes of a node by name. The names that are read are recorded."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._read_names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self._read_names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._read_names.add(str(name))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._read_names.update(super().keys())
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or `default`."""
        self._read_names.add(name)
        return super().get(name, default)

    def unread_names(self) -> list[str]:
        """Return the names of attributes that were never read."""
        return [name for name in super().keys() if name not in self._read_names]


class Node(NamedTuple):
    """A node of an ONNX model.

    Attributes:
        op (str): Name of the ONNX operator.
        inputs (list): Inputs of the node, None for an omitted one.
        attrs (Attributes): Attributes of the node, see `formats.onnx.attributes`.
        outputs (list[str]): Names of the node's results, "" for an unused one.
        version (int): Version of the ONNX operator set.
    """

    op: str
    inputs: list[Ref | None]
    attrs: Attributes
    outputs: list[str]
    version: int

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or `default`."""
        return self.attrs.get(name, default)

    def input(self, index: int) -> Ref | None:
        """Return an input, or None if it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else None


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a function ``handler(r, node)`` that imports the ONNX operators of these names."""

    def register(handler):
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def numpy_type(name: str) -> np.dtype:
    """Return the numpy dtype that has this name in MindSpore."""
    name = name.lower()
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def type_of(shape: Iterable[int], dtype: Any) -> TensorType:
    """Return the TensorType of an array."""
    dtype = np.dtype(dtype)
    return TensorType(dtype_name(dtype), tuple(int(n) for n in shape), dtype.itemsize)
