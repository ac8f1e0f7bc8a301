"""What lowerings write with: values that know their type, and a builder of nodes, constants and graphs within."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from msnb.core.facets import Facet
from msnb.exchange.symbolic import Extent as Extent
from msnb.exchange.symbolic import Refused as Refused
from msnb.formats import onnx

OPSET = 18  # what PyTorch's exporter writes, too; onnxruntime reads it since 1.14, and LayerNormalization (17) is in it
IR_VERSION = 8

lowerings: Facet = Facet(
    "a lowering to ONNX",
    "Write @lowerings.register(ops.{name}) in msnb/exchange/onnx/write, or express the network with operators that "
    "have one (docs/operators.md).",
)
primitives: Facet = Facet("a lowering to ONNX", "Express it with operators of msnb.ops.", key=str)

_FEW = 8  # numbers that are told in the name of a constant
_TITLES = {"bool": np.dtype("bool"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
# what runtimes compute with: narrow types are widened, and cast back
_COMPUTED = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}
_COMPUTED.update({"uint64": "int64", "bfloat16": "float32"})
_COMPLEX = {"complex64", "complex128"}
# ONNX's operators that take complex numbers: they move them, and none computes with them
_MOVING = set(
    """Compress Concat Constant Expand Gather GatherElements GatherND Identity If Loop Pad Reshape ReverseSequence Scan
    ScatterElements ScatterND Shape Size Slice Split Squeeze Tile Transpose Unsqueeze Where""".split()
)


class Value:
    """A value in the file.

    Attributes:
        name (str): Its name; "" for an input that is left out.
        dtype (str): Element type, as numpy calls it.
        shape (tuple): Dimensions, of which some may be an `Extent`; None where nobody asked.
        known (Any): The array or the Python number of a constant, else None.
    """

    __slots__ = ("name", "dtype", "shape", "known")

    def __init__(self, name: str, dtype: str, shape: tuple[Any, ...] | None = None, known: Any = None) -> None:
        self.name: str = name
        self.dtype: str = dtype
        self.shape: tuple[Any, ...] | None = shape
        self.known: Any = known

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        if self.shape is None:
            raise Refused("its rank is not known")
        return len(self.shape)

    @property
    def weak(self) -> bool:
        """Whether it is a number of Python's, which widens nothing."""
        return isinstance(self.known, (bool, int, float, complex))

    @property
    def is_float(self) -> bool:
        """Whether it is of floating point."""
        return "float" in self.dtype


class File:
    """What all graphs of a model share: names, constants, and the axes that are not known.

    Attributes:
        constants (dict): {name: array}.
        values (dict): {name: Value} of Parameters and results.
        inputs (dict): {name in the graph: name in the file}.
        calls (dict): {name of a node: name of the call that it was written for}.
    """

    def __init__(self) -> None:
        self.constants: dict[str, np.ndarray] = {}
        self.values: dict[str, Value] = {}
        self.inputs: dict[str, str] = {}
        self.calls: dict[str, str] = {}
        self._taken: set[str] = set()
        self._by_bytes: dict[Any, str] = {}

    def name(self, wanted: str) -> str:
        """A name that nothing has: the one that is wanted, or numbered."""
        found, number = wanted, 1
        while found in self._taken:
            found, number = f"{wanted}_{number}", number + 1
        self._taken.add(found)
        return found

    def constant(self, value: np.ndarray) -> str:
        """The name of a constant, which says what it is; equal small ones share one."""
        key = (value.dtype.name, value.shape, value.tobytes()) if value.size <= 64 else None
        found = self._by_bytes.get(key) if key else None
        if found is None:
            found = self.name(_told(value))
            self.constants[found] = value
            if key:
                self._by_bytes[key] = found
        return found


class Builder:
    """Writes the nodes of one graph.

    Attributes:
        nodes (list[dict]): Node messages, in order.
        place (str): What new names begin with: the scope and the operator.
        types (tuple): (element type, shape) of each result of the call that is written.
    """

    def __init__(self, file: File, place: str = "") -> None:
        self.file: File = file
        self.nodes: list[dict[str, Any]] = []
        self.place: str = place
        self.types: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def inner(self) -> "Builder":
        """A builder for a graph within; it sees all values of this one."""
        return Builder(self.file, self.place)

    @property
    def dtype(self) -> str:
        """Element type of the (first) result."""
        return self.types[0][0]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Shape of the (first) result."""
        return self.types[0][1]

    def given(self, name: str, dtype: str, shape: tuple[Any, ...] | None) -> Value:
        """A value that the graph is given, called by the name or, where something has that, by a numbered one."""
        value = Value(self.file.name(f"{self.place}.{name}"), dtype, shape)
        self.file.values[value.name] = value
        return value

    # ------------------------------------------------------------------ nodes
    def op(self, op: str, *inputs: Value | None, dtype: str | None = None, shape: Any = None, **attrs: Any) -> Value:
        """Write a node of one result; an attribute that is None is left out.

        Args:
            op (str): ONNX's name.
            inputs (Value): What it takes; None for one that is left out.
            dtype (str): Element type of the result. Default: None, that of the first input.
            shape (tuple): Its shape, if known.
            attrs: Attributes.
        """
        return self.ops(op, *inputs, count=1, dtypes=[dtype] if dtype else None, shapes=[shape], **attrs)[0]

    def ops(
        self, op: str, *inputs: Value | None, count: int, dtypes: Any = None, shapes: Any = None, **attrs: Any
    ) -> list[Value]:
        """The same of `count` results; a dtype that is None leaves a result out."""
        if op not in _MOVING and _COMPLEX & {*(v.dtype for v in inputs if v is not None), *(dtypes or ())}:
            raise Refused("ONNX does not compute with complex numbers")
        given = [value.name if value is not None else "" for value in inputs]
        while given and not given[-1]:
            given.pop()
        name = self.file.name(f"{self.place}/{op}" if self.place else op)
        self.file.calls[name] = self.place
        dtypes = dtypes or [inputs[0].dtype] * count
        shapes = shapes or [None] * count
        results = []
        for number in range(count):
            made = name if not number else self.file.name(f"{name}.{number}")
            results.append(Value(made if dtypes[number] else "", dtypes[number] or "", shapes[number]))
        self.file.values.update((r.name, r) for r in results)
        node = {"input": given, "output": [r.name for r in results], "name": name, "op_type": op}
        node["attribute"] = [onnx.attribute(key, value) for key, value in attrs.items() if value is not None]
        self.nodes.append(node)
        return results

    def cast(self, value: Value, dtype: str) -> Value:
        """The value in another element type."""
        if value.dtype == dtype:
            return value
        if value.known is not None:
            return self.const(np.asarray(value.known).astype(numpy_type(dtype)))
        return self.op("Cast", value, dtype=dtype, shape=value.shape, to=onnx.NUMBERS[dtype])

    def const(self, value: Any, dtype: str | None = None) -> Value:
        """A constant."""
        made = np.asarray(value, numpy_type(dtype) if dtype else None)
        if made.dtype.name not in onnx.NUMBERS:
            raise Refused(f"ONNX has no constants of {made.dtype.name}")
        name = self.file.constant(made)
        self.file.values[name] = value = Value(name, made.dtype.name, made.shape, made)
        return value

    def like(self, number: float, value: Value) -> Value:
        """A number in the element type of a value."""
        return self.const(number, value.dtype)

    def ints(self, values: Iterable[Any]) -> Value:
        """A list of whole numbers, of which some may be an `Extent`."""
        values = list(values)
        if not any(isinstance(v, Extent) for v in values):
            return self.const(np.array(values, np.int64).reshape(-1))
        parts = [self.length(v) if isinstance(v, Extent) else self.const(np.array([v], np.int64)) for v in values]
        return self.op("Concat", *parts, axis=0, shape=(len(values),)) if len(parts) > 1 else parts[0]

    def length(self, extent: Extent) -> Value:
        """An `Extent` as int64 of shape (1,)."""
        made = self.const(np.array([extent.factor], np.int64))
        for name, axis in extent.axes:
            given = Value(self.file.inputs.get(name, name), "float32")
            one = self.op("Shape", given, dtype="int64", start=axis, end=axis + 1)
            made = one if extent.axes[0] == (name, axis) and extent.factor == 1 else self.op("Mul", made, one)
        return made

    # ------------------------------------------------------------------ what many lowerings need
    def reshape(self, value: Value, shape: Sequence[Any]) -> Value:
        """The value in another shape; one dimension that is not known is what is left."""
        shape = tuple(shape)
        open_ = [n for n in shape if isinstance(n, Extent)]
        wanted = [-1 if isinstance(n, Extent) else n for n in shape] if len(open_) == 1 and 0 not in shape else shape
        zeros = 1 if 0 in shape else None
        return self.op("Reshape", value, self.ints(wanted), shape=shape, allowzero=zeros)

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        """The value with its axes in another order."""
        if list(perm) == list(range(len(perm))):
            return value
        shape = None if value.shape is None else tuple(value.shape[p] for p in perm)
        return self.op("Transpose", value, perm=list(perm), shape=shape)

    def expand(self, value: Value, shape: Sequence[Any]) -> Value:
        """The value broadcast to a shape."""
        if value.shape == tuple(shape):
            return value
        return self.op("Expand", value, self.ints(shape), shape=tuple(shape))

    def squeeze(self, value: Value, axes: Sequence[int]) -> Value:
        """The value without these axes of length 1."""
        shape = None if value.shape is None else tuple(n for i, n in enumerate(value.shape) if i not in axes)
        return self.op("Squeeze", value, self.ints(axes), shape=shape) if axes else value

    def unsqueeze(self, value: Value, axes: Sequence[int]) -> Value:
        """The value with new axes of length 1 at these places of the result."""
        if not axes:
            return value
        shape = None
        if value.shape is not None:
            rest = iter(value.shape)
            shape = tuple(1 if i in axes else next(rest) for i in range(len(value.shape) + len(axes)))
        return self.op("Unsqueeze", value, self.ints(axes), shape=shape)

    def slice(
        self, value: Value, begin: Sequence[int], end: Sequence[int], axes: Any = None, steps: Any = None
    ) -> Value:
        """Part of the value, see ONNX's Slice."""
        axes = list(range(len(begin))) if axes is None else list(axes)
        return self.op(
            "Slice", value, self.ints(begin), self.ints(end), self.ints(axes), self.ints(steps) if steps else None
        )

    def computing(self, dtype: str) -> str:
        """The type that runtimes compute with for an element type."""
        return _COMPUTED.get(dtype, dtype)

    def common(self, *values: Value) -> list[Value]:
        """The values in one element type, which is that of a comparison; numbers of Python's widen nothing."""
        strong = [v for v in values if not v.weak] or list(values)
        found = strong[0].dtype
        for value in strong[1:]:
            found = promoted(found, value.dtype)
        if any(isinstance(v.known, float) for v in values) and "float" not in found:
            found = "float32"
        if found == "bool" and any(v.weak and not isinstance(v.known, bool) for v in values):
            found = "int64"
        return [self.cast(v, found) for v in values]


def _told(value):
    """A constant as a name: ``float32(0.5)``, ``int64[2,-1]``, and of more than a few numbers the shape."""
    if value.size <= _FEW and value.ndim <= 1:
        numbers = ",".join(f"{number:g}" if value.dtype.kind == "f" else str(number) for number in value.reshape(-1))
        return f"{value.dtype.name}[{numbers}]" if value.ndim else f"{value.dtype.name}({numbers})"
    return f"{value.dtype.name}_{'x'.join(map(str, value.shape))}"


def promoted(a: str, b: str) -> str:
    """The element type of what is computed of two."""
    import jax.numpy as jnp

    return a if a == b else jnp.promote_types(numpy_type(a), numpy_type(b)).name


def numpy_type(dtype: str) -> np.dtype:
    """The numpy dtype of a name."""
    return _TITLES.get(dtype) or np.dtype(dtype)


def type_of(kind: Any) -> tuple[str, tuple[Any, ...]]:
    """(element type, shape) of a TensorType, as numpy writes them."""
    name = kind.dtype.lower()
    return name, tuple(kind.shape)


def size(shape: Iterable[Any]) -> int:
    """Number of elements of a shape that is known."""
    return math.prod(int(n) for n in shape)


Lowering = Callable[..., Any]
