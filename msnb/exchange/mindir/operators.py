"""Table of the functions that write operators as nodes of a MINDIR file (`forms`) and read them back (`readers`).

A node calls either a function, whose arguments are all inputs, or a primitive with attributes.

`functions.json` lists the arguments of MindSpore's functions; tests/golden/make_mindir_functions.py writes it. If
they agree with the operator in number and name, `Function` writes and reads its calls. The other functions and all
primitives have entries in `msnb.exchange.mindir.operator_mappings`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.operator.operator_types import REGISTRY, Operator
from msnb.core.operator.rule_table import RuleTable
from msnb.exchange.mindir.encoding import is_length
from msnb.ops import operations  # noqa: F401 - declares the operators

forms = RuleTable("a form in MINDIR", "Write it with other operators, or leave it out of what is exported.")

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
# arguments of MindSpore's functions that msnb's operators lack, with the only value that msnb implements
_FIXED_ARGUMENTS: dict[str, dict[str, Any]] = {
    "ResizeNearestNeighbor": {"half_pixel_centers": False},
    "Cholesky": {"upper": False},
    "Round": {"decimals": 0},
}


class NotExpressible(Exception):
    """Raised if a MINDIR file cannot express a call of an operator."""


class Function:
    """Writes and reads an operator that is a function in MindSpore.

    Args:
        op (Operator): The operator.
        declaration (str): The operator's arguments in MindSpore, as in `functions.json`.

    Raises:
        NotExpressible: If the arguments are not those of the operator.
    """

    def __init__(self, op: Operator, declaration: str) -> None:
        self.op = op
        inputs, settings = ([entry.partition(":")[::2] for entry in side.split()] for side in declaration.split("|"))
        declared = inputs + settings
        input_names = [inp.name for inp in op.inputs]
        fixed = _FIXED_ARGUMENTS.get(op.name, {})
        self.arguments: list[tuple[str | None, str, Any]] = []  # (name in msnb, kind, fixed value)
        for i, (name, kind) in enumerate(declared):
            if i < len(input_names):
                self.arguments.append((input_names[i], f"{kind}.{name}" if kind == "enum" else kind, None))
            elif name in op.attributes:
                self.arguments.append((name, f"{kind}.{name}" if kind == "enum" else kind, None))
            elif name in fixed:
                self.arguments.append((None, kind, fixed[name]))
            else:
                raise NotExpressible(name)
        if len(input_names) > len(declared) or {a for a, _, _ in self.arguments if a} != {*input_names, *op.attributes}:
            raise NotExpressible(op.name)
        if any(kind.startswith("enum.") and kind[5:] not in _ENUMS for _, kind, _ in self.arguments):
            raise NotExpressible(op.name)

    def __call__(self, writer: Any, node: Any, args: dict[str, Any]) -> Any:
        """Write a call of the operator."""
        if self.op.name == "StridedSlice" and len(args["begin"]) > len(node.inputs[0].types[node.slots[0]].shape):
            raise NotExpressible("a new axis")  # MindSpore rejects more entries than the input has axes
        if self.op.name == "Reshape":
            args = {**args, "shape": _replace_unknown_length(args["shape"])}
        values = [fixed if name is None else _encode_argument(kind, args[name]) for name, kind, fixed in self.arguments]
        return writer.call(self.op.name, values, node)

    def read_arguments(self, values: list[Any]) -> dict[str, Any]:
        """Return the arguments of the operator in msnb from the inputs of a node in a file."""
        if len(values) != len(self.arguments):
            raise NotExpressible(f"{len(values)} inputs, where {len(self.arguments)} are known")
        args = {}
        for value, (name, kind, fixed) in zip(values, self.arguments):
            if name is not None:
                args[name] = _decode_argument(kind, value)
            elif value != fixed:
                raise NotExpressible(f"an argument that is {value!r}, where only {fixed!r} is known")
        return args


def _replace_unknown_length(shape):
    """Return `shape` for a Reshape, with -1 in place of an unknown length if there is exactly one."""
    axes = [i for i, size in enumerate(shape) if is_length(size) and not hasattr(size, "axes")]
    return tuple(-1 if [i] == axes else size for i, size in enumerate(shape))


def _encode_argument(kind, value):
    """Convert an argument to the value that MindSpore stores for it."""
    if kind.startswith("enum."):
        table = _ENUMS[kind[5:]]
        number = table.get(value, table.get(value.lower()) if isinstance(value, str) else None)
        if number is None:
            raise NotExpressible(f"{kind[5:]}={value!r}")
        return number
    if kind == "dtype" and value is not None:
        if value not in _TYPE_IDS:
            raise NotExpressible(f"element type {value}")
        return _TYPE_IDS[value]
    if kind in ("ints", "pair") and isinstance(value, int) and not isinstance(value, bool):
        return (value,) * (2 if kind == "pair" else 1)
    return value


def _decode_argument(kind, value):
    """Convert an argument that MindSpore stored to msnb's value."""
    if kind.startswith("enum.") and isinstance(value, int):
        names = [text for text, number in _ENUMS[kind[5:]].items() if number == value]
        if not names:
            raise NotExpressible(f"{kind[5:]} number {value}")
        return names[0]
    if kind == "dtype" and isinstance(value, int):
        if value not in _TYPES:
            raise NotExpressible(f"element type number {value}")
        return _TYPES[value]
    return value


def dtype_of_id(number: int) -> np.dtype[Any]:
    """Return the dtype that has this number in MindSpore.

    Raises:
        NotExpressible: If there is none.
    """
    if number not in _TYPES:
        raise NotExpressible(f"element type number {number}")
    return np.dtype(mstype.dtype_to_nptype(_TYPES[number]))


FUNCTIONS: dict[str, str] = json.loads(Path(__file__).with_name("functions.json").read_text(encoding="utf-8"))
# functions of MindSpore whose arguments have the names of msnb's operator, but another meaning
_DIFFERENT = frozenset(
    "Range Dropout ReduceStd Arange Eye LinSpace AdaptiveMaxPool2D GroupNorm LayerNormGrad LayerNormGradGrad".split()
)
_SPECIAL = frozenset(("ArgMaxWithValue", "ArgMinWithValue"))  # `operator_mappings` has writers for them
# These are read but not written: MindSpore 2.7.1 has no CPU kernel for them, so a written file was never tested.
_UNVERIFIED = frozenset(
    "AdaptiveAvgPool1D AdaptiveMaxPool1D AvgPool1D AvgPool2D ConvTranspose2D Dot Frac Hardtanh Im2ColExt L1LossExt "
    "Log10 Log2 LogSigmoid LogSumExp MSELossExt Norm Outer PixelShuffle RmsNorm Roll SoftMarginLoss SoftplusExt".split()
)


table: dict[str, Function] = {}  # operators whose arguments agree: used to read all of them and to write most


def _register_functions():
    """Add a `Function` to `table` for each entry of `FUNCTIONS` that fits an operator, and to `forms` if tested."""
    for name, declaration in FUNCTIONS.items():
        op = REGISTRY.get(name)
        if op is None or op.name != name or op.random or name in _DIFFERENT:
            continue
        try:
            table[name] = Function(op, declaration)
        except NotExpressible:
            continue
        # `EffectOrder` writes the operators that write Parameters
        if name not in _UNVERIFIED | _SPECIAL and not op.written:
            forms.register(op)(table[name])


_register_functions()


# ---------------------------------------------------------------------- reading, by MindSpore's name
Call = tuple[str, dict[str, Any]]  # name of the operator, its inputs and attributes
readers: dict[str, Callable[[list[Any], dict[str, Any]], Call]] = {}


def reads(*names: str) -> Callable[[Any], Any]:
    """Register a function of (inputs, attributes) as the reader of MindSpore's operators `names`."""

    def register(function):
        for name in names:
            readers[name] = function
        return function

    return register


def call_of(name: str, function: bool, values: list[Any], attributes: dict[str, Any]) -> Call:
    """Return the operator call in msnb for a node of a file.

    Args:
        name (str): MindSpore's name of the operator.
        function (bool): True if all arguments of the operator are inputs.
        values (list): Inputs of the node.
        attributes (dict): Attributes of the node.

    Raises:
        NotExpressible: If msnb has no such operator, or not with these arguments.
    """
    if name in readers:
        return readers[name](values, attributes)
    op = REGISTRY.get(name)
    if op is None:
        raise NotExpressible("no such operator")
    if function and op.name in table:
        return op.name, table[op.name].read_arguments(values)
    if function:
        raise NotExpressible("its arguments are others here")
    inputs = [inp.name for inp in op.inputs]
    if len(values) > len(inputs):
        raise NotExpressible(f"{len(values)} inputs, where {len(inputs)} are known")
    args = {**{k: v for k, v in attributes.items() if k in op.attributes}, **dict(zip(inputs, values))}
    for argument, kind, _ in table[op.name].arguments if op.name in table else ():
        if argument in args:
            args[argument] = _decode_argument(kind, args[argument])
    return op.name, args
