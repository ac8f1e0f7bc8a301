"""Tools for lowerings to ONNX: typed values, and a builder of nodes, constants and subgraphs."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from msnb.core.operator.rule_table import RuleTable
from msnb.exchange.symbolic import Extent as Extent
from msnb.exchange.symbolic import Refused as Refused
from msnb.formats import onnx

# PyTorch's exporter uses this opset, too; onnxruntime 1.14 supports it; LayerNormalization needs at least 17
OPSET = 18
IR_VERSION = 8

lowerings: RuleTable = RuleTable(
    "a lowering to ONNX",
    "Write @lowerings.register(ops.{name}) in msnb/exchange/onnx/write, or express the network with operators that "
    "have one (docs/operators.md).",
)
primitives: RuleTable = RuleTable("a lowering to ONNX", "Express it with operators of msnb.ops.", key=str)

_MAX_NUMBERS_IN_NAME = 8  # a constant of at most this many elements has them in its name
_DTYPES = {"bool": np.dtype("bool"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
# Element type -> the type that ONNX runtimes can compute with. Inputs are cast to it, and results are cast back.
_COMPUTE_TYPES = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}
_COMPUTE_TYPES.update({"uint64": "int64", "bfloat16": "float32"})
_COMPLEX = {"complex64", "complex128"}
# ONNX operators that accept complex numbers. They move data; none computes with complex numbers.
_ACCEPT_COMPLEX = set(
    """Compress Concat Constant Expand Gather GatherElements GatherND Identity If Loop Pad Reshape ReverseSequence Scan
    ScatterElements ScatterND Shape Size Slice Split Squeeze Tile Transpose Unsqueeze Where""".split()
)


class Value:
    """A value in an ONNX model.

    Attributes:
        name (str): Name of the value; "" for an input that is left out.
        dtype (str): Element type, in numpy's notation.
        shape (tuple): Dimensions, some of which may be an `Extent`; None if unknown.
        constant (Any): The array or the Python number of a constant, else None.
    """

    __slots__ = ("name", "dtype", "shape", "constant")

    def __init__(self, name: str, dtype: str, shape: tuple[Any, ...] | None = None, constant: Any = None) -> None:
        self.name: str = name
        self.dtype: str = dtype
        self.shape: tuple[Any, ...] | None = shape
        self.constant: Any = constant

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        if self.shape is None:
            raise Refused("its rank is not known")
        return len(self.shape)

    @property
    def weak(self) -> bool:
        """True for a Python number, whose type does not take part in type promotion."""
        return isinstance(self.constant, (bool, int, float, complex))

    @property
    def is_float(self) -> bool:
        """True for a floating-point type."""
        return "float" in self.dtype


class File:
    """State shared by all graphs of a model: names, constants, inputs and operator calls.

    Attributes:
        constants (dict): {name: array}.
        values (dict): {name: Value} of Parameters and results.
        inputs (dict): {name in the graph: name in the file}.
        calls (dict): {name of a node: name of the operator call that it belongs to}.
    """

    def __init__(self) -> None:
        self.constants: dict[str, np.ndarray] = {}
        self.values: dict[str, Value] = {}
        self.inputs: dict[str, str] = {}
        self.calls: dict[str, str] = {}
        self._used_names: set[str] = set()
        self._by_bytes: dict[Any, str] = {}

    def name(self, base: str) -> str:
        """Return an unused name: `base`, with a number if necessary."""
        name, number = base, 1
        while name in self._used_names:
            name, number = f"{base}_{number}", number + 1
        self._used_names.add(name)
        return name

    def constant(self, value: np.ndarray) -> str:
        """Add a constant and return its name, which describes the value. Equal constants of up to 64 elements are
        stored once.
        """
        key = (value.dtype.name, value.shape, value.tobytes()) if value.size <= 64 else None
        name = self._by_bytes.get(key) if key else None
        if name is None:
            name = self.name(_make_constant_name(value))
            self.constants[name] = value
            if key:
                self._by_bytes[key] = name
        return name


class Builder:
    """Writes the nodes of one graph of an ONNX model.

    Attributes:
        nodes (list[dict]): Node messages, in order.
        prefix (str): Prefix of new names: the scope and the operator.
        types (tuple): (element type, shape) of each result of the current call.
    """

    def __init__(self, file: File, prefix: str = "") -> None:
        self.file: File = file
        self.nodes: list[dict[str, Any]] = []
        self.prefix: str = prefix
        self.types: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def inner(self) -> "Builder":
        """Return a builder for a subgraph, which can use all values of this graph."""
        return Builder(self.file, self.prefix)

    @property
    def dtype(self) -> str:
        """Element type of the first result."""
        return self.types[0][0]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Shape of the first result."""
        return self.types[0][1]

    def graph_input(self, name: str, dtype: str, shape: tuple[Any, ...] | None) -> Value:
        """Return a new input of the graph. A number is appended to `name` if it is in use."""
        value = Value(self.file.name(f"{self.prefix}.{name}"), dtype, shape)
        self.file.values[value.name] = value
        return value

    # ------------------------------------------------------------------ nodes
    def op(self, op: str, *inputs: Value | None, dtype: str | None = None, shape: Any = None, **attrs: Any) -> Value:
        """Write a node with one result. Attributes that are None are omitted.

        Args:
            op (str): ONNX's name.
            inputs (Value): Inputs of the node; None for an omitted one.
            dtype (str): Element type of the result. Default: None, that of the first input.
            shape (tuple): Shape of the result, if known.
            attrs: Attributes.
        """
        return self.ops(op, *inputs, count=1, dtypes=[dtype] if dtype else None, shapes=[shape], **attrs)[0]

    def ops(
        self, op: str, *inputs: Value | None, count: int, dtypes: Any = None, shapes: Any = None, **attrs: Any
    ) -> list[Value]:
        """Write a node with `count` results. A result whose dtype is None is omitted."""
        if op not in _ACCEPT_COMPLEX and _COMPLEX & {*(v.dtype for v in inputs if v is not None), *(dtypes or ())}:
            raise Refused("ONNX does not compute with complex numbers")
        input_names = [value.name if value is not None else "" for value in inputs]
        while input_names and not input_names[-1]:
            input_names.pop()
        name = self.file.name(f"{self.prefix}/{op}" if self.prefix else op)
        self.file.calls[name] = self.prefix
        dtypes = dtypes or [inputs[0].dtype] * count
        shapes = shapes or [None] * count
        results = []
        for number in range(count):
            output_name = name if not number else self.file.name(f"{name}.{number}")
            results.append(Value(output_name if dtypes[number] else "", dtypes[number] or "", shapes[number]))
        self.file.values.update((r.name, r) for r in results)
        node = {"input": input_names, "output": [r.name for r in results], "name": name, "op_type": op}
        node["attribute"] = [onnx.attribute(key, value) for key, value in attrs.items() if value is not None]
        self.nodes.append(node)
        return results

    def cast(self, value: Value, dtype: str) -> Value:
        """Cast a value to another element type."""
        if value.dtype == dtype:
            return value
        if value.constant is not None:
            return self.const(np.asarray(value.constant).astype(numpy_type(dtype)))
        return self.op("Cast", value, dtype=dtype, shape=value.shape, to=onnx.NUMBERS[dtype])

    def const(self, value: Any, dtype: str | None = None) -> Value:
        """Add a constant."""
        array = np.asarray(value, numpy_type(dtype) if dtype else None)
        if array.dtype.name not in onnx.NUMBERS:
            raise Refused(f"ONNX has no constants of {array.dtype.name}")
        name = self.file.constant(array)
        self.file.values[name] = value = Value(name, array.dtype.name, array.shape, array)
        return value

    def like(self, number: float, value: Value) -> Value:
        """Return a number as a constant with the element type of `value`."""
        return self.const(number, value.dtype)

    def ints(self, values: Iterable[Any]) -> Value:
        """Return a list of integers, some of which may be an `Extent`, as a value."""
        values = list(values)
        if not any(isinstance(v, Extent) for v in values):
            return self.const(np.array(values, np.int64).reshape(-1))
        items = [self.length(v) if isinstance(v, Extent) else self.const(np.array([v], np.int64)) for v in values]
        return self.op("Concat", *items, axis=0, shape=(len(values),)) if len(items) > 1 else items[0]

    def length(self, extent: Extent) -> Value:
        """Return an `Extent` as an int64 value of shape (1,)."""
        length = self.const(np.array([extent.factor], np.int64))
        for name, axis in extent.axes:
            graph_input = Value(self.file.inputs.get(name, name), "float32")
            dimension = self.op("Shape", graph_input, dtype="int64", start=axis, end=axis + 1)
            length = (
                dimension
                if extent.axes[0] == (name, axis) and extent.factor == 1
                else self.op("Mul", length, dimension)
            )
        return length

    # ------------------------------------------------------------------ common operations
    def reshape(self, value: Value, shape: Sequence[Any]) -> Value:
        """Reshape a value. A single unknown dimension is inferred by the runtime."""
        shape = tuple(shape)
        open_ = [n for n in shape if isinstance(n, Extent)]
        new_shape = [-1 if isinstance(n, Extent) else n for n in shape] if len(open_) == 1 and 0 not in shape else shape
        allowzero = 1 if 0 in shape else None
        return self.op("Reshape", value, self.ints(new_shape), shape=shape, allowzero=allowzero)

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        """Permute the axes of a value."""
        if list(perm) == list(range(len(perm))):
            return value
        shape = None if value.shape is None else tuple(value.shape[p] for p in perm)
        return self.op("Transpose", value, perm=list(perm), shape=shape)

    def expand(self, value: Value, shape: Sequence[Any]) -> Value:
        """Broadcast a value to a shape."""
        if value.shape == tuple(shape):
            return value
        return self.op("Expand", value, self.ints(shape), shape=tuple(shape))

    def squeeze(self, value: Value, axes: Sequence[int]) -> Value:
        """Remove axes of length 1."""
        shape = None if value.shape is None else tuple(n for i, n in enumerate(value.shape) if i not in axes)
        return self.op("Squeeze", value, self.ints(axes), shape=shape) if axes else value

    def unsqueeze(self, value: Value, axes: Sequence[int]) -> Value:
        """Insert axes of length 1 at these positions of the result."""
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
        """Slice a value along axes. The arguments are those of ONNX's Slice."""
        axes = list(range(len(begin))) if axes is None else list(axes)
        return self.op(
            "Slice", value, self.ints(begin), self.ints(end), self.ints(axes), self.ints(steps) if steps else None
        )

    def computing(self, dtype: str) -> str:
        """Return the element type with which ONNX runtimes compute on values of `dtype`."""
        return _COMPUTE_TYPES.get(dtype, dtype)

    def common(self, *values: Value) -> list[Value]:
        """Cast values to their common type for a comparison. A Python number does not change the common type, except
        that a float makes an integer type float32 and a number that is not a bool makes bool int64.
        """
        strong = [v for v in values if not v.weak] or list(values)
        dtype = strong[0].dtype
        for value in strong[1:]:
            dtype = promoted(dtype, value.dtype)
        if any(isinstance(v.constant, float) for v in values) and "float" not in dtype:
            dtype = "float32"
        if dtype == "bool" and any(v.weak and not isinstance(v.constant, bool) for v in values):
            dtype = "int64"
        return [self.cast(v, dtype) for v in values]


def _make_constant_name(value):
    """Return a name for a constant: ``float32(0.5)``, ``int64[2,-1]``, or its shape if it is large."""
    if value.size <= _MAX_NUMBERS_IN_NAME and value.ndim <= 1:
        numbers = ",".join(f"{number:g}" if value.dtype.kind == "f" else str(number) for number in value.reshape(-1))
        return f"{value.dtype.name}[{numbers}]" if value.ndim else f"{value.dtype.name}({numbers})"
    return f"{value.dtype.name}_{'x'.join(map(str, value.shape))}"


def promoted(a: str, b: str) -> str:
    """Return the promoted type of two element types."""
    import jax.numpy as jnp

    return a if a == b else jnp.promote_types(numpy_type(a), numpy_type(b)).name


def numpy_type(dtype: str) -> np.dtype:
    """Return the numpy dtype with this name."""
    return _DTYPES.get(dtype) or np.dtype(dtype)


def type_of(kind: Any) -> tuple[str, tuple[Any, ...]]:
    """Return element type and shape of a TensorType in numpy's notation."""
    name = kind.dtype.lower()
    return name, tuple(kind.shape)


def size(shape: Iterable[Any]) -> int:
    """Return the number of elements of a known shape."""
    return math.prod(int(n) for n in shape)


Lowering = Callable[..., Any]
