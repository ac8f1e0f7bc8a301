"""Write operator calls as source. Most are written as ``ops.Softmax(axis=-1)(x)``. Others are written as Python
operators, indices or function calls.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.operator.declare import SPELLINGS
from msnb.core.operator.operator_types import FUNCTIONAL, REGISTRY
from msnb.core.operator.rule_table import RuleTable
from msnb.exchange.source.expressions import (
    Expression,
    Group,
    IndexedUpdate,
    NoPythonForm,
    Placeholder,
    call,
    literal,
    tuple_expression,
)
from msnb.ir.anf import CNode, ValueNode
from msnb.ops import operations as P
from msnb.ops.array.where import _Where
from msnb.ops.index import ALL, ARRAY, NEW, NUMBER, _TensorGetItem, _TensorGetRow, _TensorSetItem, _TensorSetMask
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast
from msnb.ops.nn.conv.conv2d import _Conv1D
from msnb.ops.nn.pool.max_pool import _MaxPool2D

call_syntax = RuleTable("a spelling", "It is called by its class.")
_CallSyntax = Callable[["Arguments"], Expression]


class Arguments:
    """Arguments of an operator call: Tensors and attributes.

    Args:
        node (CNode): The call.
        values (Sequence[Expression]): Tensor inputs of the call, flattened.
    """

    def __init__(self, node: CNode, values: Sequence[Expression]) -> None:
        self.node: CNode = node
        self.values: Sequence[Expression] = values
        self.operator: Any = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        if self.operator is None:
            raise NoPythonForm("msnb has no operator of this name")
        if self.operator.random:
            raise NoPythonForm("it draws random numbers")
        settings = {name: self[name] for name in self.operator.attributes}
        if self.operator.select_variant(settings).written:
            raise NoPythonForm("it changes a Parameter")

    def __getitem__(self, name: str) -> Any:
        """Return an attribute or a static input."""
        if name in self.node.attrs:
            return self.node.attrs[name]
        return self.operator.usual[name]

    def placeholder(self, name: str) -> Expression:
        """Return an attribute or a static input as a literal of the source text."""
        return [Placeholder(name, self[name])]

    def inputs(self) -> list[Expression]:
        """Return the inputs in order, without trailing ones that have their default."""
        remaining, words, length = iter(self.values), [], 0
        for declared, entry in zip(self.operator.inputs, self.node.layout or (1,) * len(self.operator.inputs)):
            if entry == -1:
                value = self.node.attrs.get(declared.name, declared.default)
                words.append([Placeholder(declared.name, value)])
                is_default = value in ((), None) and repr(value) == repr(declared.default)
            elif isinstance(entry, tuple):
                words.append(tuple_expression([next(remaining) for _ in range(entry[0])]))
                is_default = False
            else:
                words.append(next(remaining) if entry else ["None"])
                is_default = not entry
            length = length if is_default else len(words)
        return words[:length]


def call_expression(node: CNode, values: Sequence[Expression]) -> Expression:
    """Return a call of an operator as an expression.

    Raises:
        NotImplementedError: If there is no way to write it.
    """
    args = Arguments(node, values)
    entry = call_syntax.get(args.operator)
    expression = entry(args) if entry is not None else None
    return _write_call_by_class(args) if expression is None else expression


def _write_call_by_class(args):
    op = args.operator
    settings = [
        [f"{name}=", *args.placeholder(name)]
        for name, (_, default) in op.attributes.items()
        if name in args.node.attrs and repr(args.node.attrs[name]) != repr(default)
    ]
    if op.primitive.__name__ == op.name and hasattr(P, op.name):
        return [Group(f"ops.{op.name}(", settings, ")"), Group("(", args.inputs(), ")")]
    name = op.functional.__name__
    if FUNCTIONAL.get(name) is op.functional:
        return call(f"ops.{name}", [*args.inputs(), *settings])
    name = _collect_numpy_names().get(op.primitive)
    if name is None or settings:
        raise NoPythonForm("no public name stands for it")
    return call(f"mindspore.numpy.{name}", args.inputs())


@functools.cache
def _collect_numpy_names():
    """Return {class: name} of elementwise operators that have a name in `mindspore.numpy`."""
    names_by_class = {}
    for spelling in SPELLINGS.values():
        if spelling.kind == "numpy" and len(spelling.operators) == 1:
            names = list(inspect.signature(spelling.target).parameters)
            if names[-1] == "dtype" and len(names) == 1 + len(spelling.operators[0].operator.inputs):
                names_by_class.setdefault(spelling.operators[0], spelling.name)
    return names_by_class


def _write_call_by_function(args):
    """Write a call of an operator by its function, because MindSpore does not export its class."""
    settings = [
        [f"{name}=", *args.placeholder(name)]
        for name, (_, default) in args.operator.attributes.items()
        if repr(args[name]) != repr(default)
    ]
    return call(f"ops.{args.operator.functional.__name__}", [*args.inputs(), *settings])


for _name in (
    "AdaptiveAvgPool1D AdaptiveMaxPool1D AvgPool1D AvgPool2D ConvTranspose2D Diagonal Dot Frac GeluExt GroupNorm "
    "Hardtanh Im2ColExt L1LossExt LeakyReLUExt Log10 Log2 LogSigmoid LogSumExp MSELossExt Norm Outer PixelShuffle "
    "SequenceMask SiLU SoftplusExt Threshold"
).split():
    call_syntax.register(getattr(P, _name))(_write_call_by_function)


# ---------------------------------------------------------------------- Python operators
_SIGNS = {
    P.Add: "+", P.Sub: "-", P.Mul: "*", _TrueDiv: "/", P.Less: "<", P.LessEqual: "<=", P.Greater: ">",
    P.GreaterEqual: ">=", P.Equal: "==", P.NotEqual: "!=",
}  # fmt: skip


def _make_infix_writer(sign):
    def spelling(args):
        if all(isinstance(node, ValueNode) for node in args.node.inputs):
            return None
        x, y = args.values
        return [*x, f" {sign} ", *y]

    return spelling


for _class, _sign in _SIGNS.items():
    call_syntax.register(_class)(_make_infix_writer(_sign))


@call_syntax.register(P.Neg)
def _write_neg(args: Arguments) -> Expression:
    return ["-", *args.values[0]]


# ---------------------------------------------------------------------- indices
@call_syntax.register(_TensorGetItem)
def _write_getitem(args: Arguments) -> Expression:
    """Write ``x[:, 0, ::2, None]``."""
    return [*args.values[0], *_make_index_expression(args, 1)]


@call_syntax.register(_TensorSetItem)
def _write_setitem(args: Arguments) -> Expression:
    """Write ``x[:, 0] = value`` on a copy of x."""
    return [IndexedUpdate(args.values[0], _make_index_expression(args, 2), args.values[1])]


@call_syntax.register(_TensorSetMask)
def _write_masked_setitem(args: Arguments) -> Expression:
    x, mask, value = args.values
    return [IndexedUpdate(x, ["[", *mask, "]"], value)]


def _make_index_expression(args, first):
    """Return an index, ``[...]``, as an expression. The integers of the index start at input `first`, and index Tensors
    follow them.
    """
    count = args.node.layout[first][0]
    rest = list(args.values[first:])
    constants = [
        node.value if isinstance(node, ValueNode) else None for node in args.node.inputs[first : first + count]
    ]
    number, tensor, entries = 0, count, []
    for entry in args["plan"]:
        if entry == ALL:
            entries.append(":")
        elif entry == NEW:
            entries.append("None")
        elif entry == ARRAY:
            entries.append(rest[tensor])
            tensor += 1
        elif entry == NUMBER:
            entries.append(rest[number] if constants[number] is None else str(int(constants[number])))
            number += 1
        # next to index Tensors a slice is (start, stop, step), and integers are Tensors too
        elif ARRAY in args["plan"]:
            entries.append(":".join("" if n is None else str(n) for n in entry))
        else:
            if constants[number] is None:
                raise NoPythonForm("a slice begins where a Tensor says")
            entries.append(_format_slice(int(constants[number]), *entry))
            number += 1
    while entries and entries[-1] == ":" and len(entries) > 1:
        entries.pop()
    words: Expression = []
    for entry_words in entries:
        words += [", "] * bool(words) + ([entry_words] if isinstance(entry_words, str) else entry_words)
    return ["[", *(words or ["..."]), "]"]


def _format_slice(start, length, step):
    if step > 0:
        text = f"{start or ''}:{start + (length - 1) * step + 1}"
        return text if step == 1 else f"{text}:{step}"
    first = start - (length - 1) * step
    return f"{first}:{start - 1 if start else ''}:{step}"


@call_syntax.register(_TensorGetRow)
def _write_row_index(args: Arguments) -> Expression:
    x, index = args.values
    node = args.node.inputs[1]
    return [*x, "[", *([str(int(node.value))] if isinstance(node, ValueNode) else index), "]"]


# ---------------------------------------------------------------------- functions
@call_syntax.register(_MatMulBroadcast)
def _write_matmul(args: Arguments) -> Expression:
    return call("ops.matmul", args.values)


@call_syntax.register(_Where)
def _write_where(args: Arguments) -> Expression:
    return call("ops.where", args.values)


@call_syntax.register(_Conv1D)
def _write_conv1d(args: Arguments) -> Expression:
    settings = [
        [f"{argument}=", *args.placeholder(attribute)]
        for argument, attribute in (
            ("stride", "stride"), ("pad_mode", "pad_mode"), ("padding", "padding"), ("dilation", "dilation"),
            ("groups", "groups"),
        )
    ]  # fmt: skip
    return call("ops.conv1d", [*args.values, *settings])


@call_syntax.register(_MaxPool2D)
def _write_max_pool(args: Arguments) -> Expression:
    """Write a max-pooling with padding as a Pad with -inf and a MaxPool of valid windows."""
    if args["ceil_mode"] or set(args["dilation"]) != {1}:
        raise NoPythonForm("its windows have gaps, or end outside of the image")
    top, bottom, left, right = args["pads"]
    x = args.values[0]
    if any(args["pads"]):
        x = call("ops.pad", [x, [literal((left, right, top, bottom))], ['"constant"'], ['float("-inf")']])
    settings = [
        ["kernel_size=", *args.placeholder("kernel_size")],
        ["strides=", Placeholder("stride", args["strides"])],
    ]
    return [Group("ops.MaxPool(", settings, ")"), Group("(", [x], ")")]


@call_syntax.register(P.Reshape)
def _write_reshape(args: Arguments) -> Expression:
    """Write a Reshape with -1 as the first dimension, so the source also works with other batch sizes."""
    shape = tuple(args.node.shape)
    if shape and 0 not in shape and -1 not in shape:
        shape = (-1, *shape[1:])
    return [Group("ops.Reshape()(", [args.values[0], [Placeholder("shape", shape)]], ")")]
