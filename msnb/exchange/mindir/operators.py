"""What an operator is in MINDIR: a function with all its arguments as inputs, or a primitive with attributes.

`functions.json` has the arguments of MindSpore's functions (made by tests/golden/make_mindir_functions.py). Where they
are those of the operator here, in number and name, the table is its form: nothing has to be written. The others, and
all primitives, have entries in `msnb.exchange.mindir.forms`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.facets import Facet
from msnb.core.operator import REGISTRY, Operator
from msnb.exchange.mindir.spelling import is_length
from msnb.ops import operations  # noqa: F401 - declares the operators

forms = Facet("a form in MINDIR", "Write it with other operators, or leave it out of what is exported.")

_ENUMS = {  # argument -> text -> number
    "pad_mode": {"pad": 0, "same": 1, "valid": 2},
    "data_format": {"NCHW": 0, "NHWC": 1},
    "reduction": {"sum": 0, "mean": 1, "none": 2},
}
_TYPE_IDS = {
    mstype.bool_: 30, mstype.int8: 32, mstype.int16: 33, mstype.int32: 34, mstype.int64: 35, mstype.uint8: 37,
    mstype.uint16: 38, mstype.uint32: 39, mstype.uint64: 40, mstype.float16: 42, mstype.float32: 43,
    mstype.float64: 44, mstype.bfloat16: 45,
}  # fmt: skip
_TYPES = {number: kind for kind, number in _TYPE_IDS.items()}
# What MindSpore's functions take in addition, and msnb's operators always mean.
_ALWAYS: dict[str, dict[str, Any]] = {
    "ResizeNearestNeighbor": {"half_pixel_centers": False},
    "Cholesky": {"upper": False},
    "Round": {"decimals": 0},
}


class Unsayable(Exception):
    """A call that an operator's form cannot express."""


class Function:
    """The form of an operator that is a function.

    Args:
        op (Operator): The operator.
        told (str): Its arguments in MindSpore, as `functions.json` has them.

    Raises:
        Unsayable: If the arguments are not those of the operator.
    """

    def __init__(self, op: Operator, told: str) -> None:
        self.op = op
        inputs, settings = ([part.partition(":")[::2] for part in side.split()] for side in told.split("|"))
        every = inputs + settings
        own = [inp.name for inp in op.inputs]
        always = _ALWAYS.get(op.name, {})
        self.arguments: list[tuple[str | None, str, Any]] = []  # (what it is called here, kind, what it always is)
        for i, (name, kind) in enumerate(every):
            if i < len(own):
                self.arguments.append((own[i], f"{kind}.{name}" if kind == "enum" else kind, None))
            elif name in op.attributes:
                self.arguments.append((name, f"{kind}.{name}" if kind == "enum" else kind, None))
            elif name in always:
                self.arguments.append((None, kind, always[name]))
            else:
                raise Unsayable(name)
        if len(own) > len(every) or {a for a, _, _ in self.arguments if a} != {*own, *op.attributes}:
            raise Unsayable(op.name)
        if any(kind.startswith("enum.") and kind[5:] not in _ENUMS for _, kind, _ in self.arguments):
            raise Unsayable(op.name)

    def __call__(self, writer: Any, node: Any, given: dict[str, Any]) -> Any:
        """Write the call."""
        if self.op.name == "StridedSlice" and len(given["begin"]) > len(node.inputs[0].types[node.slots[0]].shape):
            raise Unsayable("a new axis")  # MindSpore's own check counts it as one too many
        if self.op.name == "Reshape":
            given = {**given, "shape": _with_one_open(given["shape"])}
        values = [always if name is None else _there(kind, given[name]) for name, kind, always in self.arguments]
        return writer.call(self.op.name, values, node)

    def back(self, values: list[Any]) -> dict[str, Any]:
        """What the operator here is given, of the inputs of a node in a file."""
        if len(values) != len(self.arguments):
            raise Unsayable(f"{len(values)} inputs, where {len(self.arguments)} are known")
        given = {}
        for value, (name, kind, always) in zip(values, self.arguments):
            if name is not None:
                given[name] = _here(kind, value)
            elif value != always:
                raise Unsayable(f"an argument that is {value!r}, where only {always!r} is known")
        return given


def _with_one_open(shape):
    """A shape with -1 for the one length that cannot be computed."""
    places = [i for i, size in enumerate(shape) if is_length(size) and not hasattr(size, "axes")]
    return tuple(-1 if [i] == places else size for i, size in enumerate(shape))


def _there(kind, value):
    """A value as MindSpore passes it."""
    if kind.startswith("enum."):
        table = _ENUMS[kind[5:]]
        found = table.get(value, table.get(value.lower()) if isinstance(value, str) else None)
        if found is None:
            raise Unsayable(f"{kind[5:]}={value!r}")
        return found
    if kind == "dtype" and value is not None:
        if value not in _TYPE_IDS:
            raise Unsayable(f"element type {value}")
        return _TYPE_IDS[value]
    if kind in ("ints", "pair") and isinstance(value, int) and not isinstance(value, bool):
        return (value,) * (2 if kind == "pair" else 1)
    return value


def _here(kind, value):
    """The same back."""
    if kind.startswith("enum.") and isinstance(value, int):
        found = [text for text, number in _ENUMS[kind[5:]].items() if number == value]
        if not found:
            raise Unsayable(f"{kind[5:]} number {value}")
        return found[0]
    if kind == "dtype" and isinstance(value, int):
        if value not in _TYPES:
            raise Unsayable(f"element type number {value}")
        return _TYPES[value]
    return value


def dtype_numbered(number: int) -> np.dtype[Any]:
    """The dtype of MindSpore's number of an element type.

    Raises:
        Unsayable: If there is none.
    """
    if number not in _TYPES:
        raise Unsayable(f"element type number {number}")
    return np.dtype(mstype.dtype_to_nptype(_TYPES[number]))


FUNCTIONS: dict[str, str] = json.loads(Path(__file__).with_name("functions.json").read_text(encoding="utf-8"))
# Those whose arguments are called the same and mean something else, or whose results are others.
_OTHERS = frozenset(
    "Range Dropout ReduceStd Arange Eye LinSpace AdaptiveMaxPool2D GroupNorm LayerNormGrad LayerNormGradGrad".split()
)
_OWN = frozenset(("ArgMaxWithValue", "ArgMinWithValue"))  # they are written otherwise, see `forms`
# Those that MindSpore 2.7.1 has no CPU kernel for: whether their form is right, nobody has seen.
_UNSEEN = frozenset(
    "AdaptiveAvgPool1D AdaptiveMaxPool1D AvgPool1D AvgPool2D ConvTranspose2D Dot Frac Hardtanh Im2ColExt L1LossExt "
    "Log10 Log2 LogSigmoid LogSumExp MSELossExt Norm Outer PixelShuffle RmsNorm Roll SoftMarginLoss SoftplusExt".split()
)


table: dict[str, Function] = {}  # of the operators whose arguments agree: what reads them, and mostly what writes


def _enter():
    """The table's entries."""
    for name, told in FUNCTIONS.items():
        op = REGISTRY.get(name)
        if op is None or op.name != name or op.random or name in _OTHERS:
            continue
        try:
            table[name] = Function(op, told)
        except Unsayable:
            continue
        if name not in _UNSEEN | _OWN and not op.written:  # what writes is `write_order`'s
            forms.register(op)(table[name])


_enter()


# ---------------------------------------------------------------------- reading: MindSpore's name -> what it is here
Call = tuple[str, dict[str, Any]]  # name of the operator, what each input and attribute of it is
readers: dict[str, Callable[[list[Any], dict[str, Any]], Call]] = {}


def reads(*names: str) -> Callable[[Any], Any]:
    """Decorator: a function of (inputs, attributes) reads the nodes of MindSpore's operators `names`."""

    def enter(function):
        for name in names:
            readers[name] = function
        return function

    return enter


def call_of(name: str, function: bool, values: list[Any], attributes: dict[str, Any]) -> Call:
    """What a node of a file calls here.

    Args:
        name (str): MindSpore's name of the operator.
        function (bool): Whether all its arguments are inputs.
        values (list): Its inputs.
        attributes (dict): Its attributes.

    Raises:
        Unsayable: If msnb has no such operator, or not with these arguments.
    """
    if name in readers:
        return readers[name](values, attributes)
    op = REGISTRY.get(name)
    if op is None:
        raise Unsayable("no such operator")
    if function and op.name in table:
        return op.name, table[op.name].back(values)
    if function:
        raise Unsayable("its arguments are others here")
    inputs = [inp.name for inp in op.inputs]
    if len(values) > len(inputs):
        raise Unsayable(f"{len(values)} inputs, where {len(inputs)} are known")
    given = {**{k: v for k, v in attributes.items() if k in op.attributes}, **dict(zip(inputs, values))}
    for own, kind, _ in table[op.name].arguments if op.name in table else ():
        if own in given:
            given[own] = _here(kind, given[own])
    return op.name, given
