"""How calls of operators are written: most as ``ops.Softmax(axis=-1)(x)``, some as Python has them."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.declare import SPELLINGS
from msnb.core.facets import Facet
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.ir.anf import CNode, ValueNode
from msnb.ops import operations as P
from msnb.ops.array.choose import _Where
from msnb.ops.index import ALL, ARRAY, NEW, NUMBER, _TensorGetItem, _TensorGetRow, _TensorSetItem, _TensorSetMask
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast
from msnb.ops.nn.conv2d import _Conv1D
from msnb.ops.nn.max_pool import _MaxPool2D

from .words import Changed, Expression, Group, Hole, Unwritten, call, literal, many

spellings = Facet("a spelling", "It is called by its class.")
_Spelling = Callable[["Arguments"], Expression]


class Arguments:
    """What a call is given.

    Args:
        node (CNode): The call.
        values (Sequence[Expression]): Its Tensors, one after the other.
    """

    def __init__(self, node: CNode, values: Sequence[Expression]) -> None:
        self.node: CNode = node
        self.values: Sequence[Expression] = values
        self.operator: Any = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        if self.operator is None:
            raise Unwritten("msnb has no operator of this name")
        if self.operator.random:
            raise Unwritten("it draws random numbers")
        settings = {name: self[name] for name in self.operator.attributes}
        if self.operator.chosen(settings).written:
            raise Unwritten("it changes a Parameter")

    def __getitem__(self, name: str) -> Any:
        """An attribute, or a static input."""
        if name in self.node.attrs:
            return self.node.attrs[name]
        return self.operator.usual[name]

    def hole(self, name: str) -> Expression:
        """The same as a word of the text."""
        return [Hole(name, self[name])]

    def inputs(self) -> list[Expression]:
        """The inputs in order, without those at the end that are as usual."""
        given, words, kept = iter(self.values), [], 0
        for declared, entry in zip(self.operator.inputs, self.node.layout or (1,) * len(self.operator.inputs)):
            if entry == -1:
                value = self.node.attrs.get(declared.name, declared.default)
                words.append([Hole(declared.name, value)])
                usual = value in ((), None) and repr(value) == repr(declared.default)
            elif isinstance(entry, tuple):
                words.append(many([next(given) for _ in range(entry[0])]))
                usual = False
            else:
                words.append(next(given) if entry else ["None"])
                usual = not entry
            kept = kept if usual else len(words)
        return words[:kept]


def spelled(node: CNode, values: Sequence[Expression]) -> Expression:
    """A call of an operator.

    Raises:
        NotImplementedError: If there is no way to write it.
    """
    given = Arguments(node, values)
    entry = spellings.get(given.operator)
    made = entry(given) if entry is not None else None
    return _by_class(given) if made is None else made


def _by_class(given):
    op = given.operator
    settings = [
        [f"{name}=", *given.hole(name)]
        for name, (_, default) in op.attributes.items()
        if name in given.node.attrs and repr(given.node.attrs[name]) != repr(default)
    ]
    if op.primitive.__name__ == op.name and hasattr(P, op.name):
        return [Group(f"ops.{op.name}(", settings, ")"), Group("(", given.inputs(), ")")]
    name = op.functional.__name__
    if FUNCTIONAL.get(name) is op.functional:
        return call(f"ops.{name}", [*given.inputs(), *settings])
    name = _of_numpy().get(op.primitive)
    if name is None or settings:
        raise Unwritten("no public name stands for it")
    return call(f"mindspore.numpy.{name}", given.inputs())


@functools.cache
def _of_numpy():
    """{class: name} of what works element by element and has a name in `mindspore.numpy`."""
    found = {}
    for spelling in SPELLINGS.values():
        if spelling.kind == "numpy" and len(spelling.operators) == 1:
            names = list(inspect.signature(spelling.target).parameters)
            if names[-1] == "dtype" and len(names) == 1 + len(spelling.operators[0].operator.inputs):
                found.setdefault(spelling.operators[0], spelling.name)
    return found


def _by_function(given):
    """A class that MindSpore has no name for, though for the function."""
    settings = [
        [f"{name}=", *given.hole(name)]
        for name, (_, default) in given.operator.attributes.items()
        if repr(given[name]) != repr(default)
    ]
    return call(f"ops.{given.operator.functional.__name__}", [*given.inputs(), *settings])


for _name in (
    "AdaptiveAvgPool1D AdaptiveMaxPool1D AvgPool1D AvgPool2D ConvTranspose2D Diagonal Dot Frac GeluExt GroupNorm "
    "Hardtanh Im2ColExt L1LossExt LeakyReLUExt Log10 Log2 LogSigmoid LogSumExp MSELossExt Norm Outer PixelShuffle "
    "SequenceMask SiLU SoftplusExt Threshold"
).split():
    spellings.register(getattr(P, _name))(_by_function)


# ---------------------------------------------------------------------- signs
_SIGNS = {
    P.Add: "+", P.Sub: "-", P.Mul: "*", _TrueDiv: "/", P.Less: "<", P.LessEqual: "<=", P.Greater: ">",
    P.GreaterEqual: ">=", P.Equal: "==", P.NotEqual: "!=",
}  # fmt: skip


def _infix(sign):
    def spelling(given):
        if all(isinstance(node, ValueNode) for node in given.node.inputs):
            return None
        x, y = given.values
        return [*x, f" {sign} ", *y]

    return spelling


for _class, _sign in _SIGNS.items():
    spellings.register(_class)(_infix(_sign))


@spellings.register(P.Neg)
def _negative(given: Arguments) -> Expression:
    return ["-", *given.values[0]]


# ---------------------------------------------------------------------- indices
@spellings.register(_TensorGetItem)
def _part(given: Arguments) -> Expression:
    """``x[:, 0, ::2, None]``."""
    return [*given.values[0], *_index(given, 1)]


@spellings.register(_TensorSetItem)
def _changed(given: Arguments) -> Expression:
    """``x[:, 0] = value``, of a copy."""
    return [Changed(given.values[0], _index(given, 2), given.values[1])]


@spellings.register(_TensorSetMask)
def _masked(given: Arguments) -> Expression:
    x, mask, value = given.values
    return [Changed(x, ["[", *mask, "]"], value)]


def _index(given, first):
    """What stands in brackets, of numbers from the input `first` on and Tensors behind them."""
    count = given.node.layout[first][0]
    rest = list(given.values[first:])
    known = [node.value if isinstance(node, ValueNode) else None for node in given.node.inputs[first : first + count]]
    at, tensors, places = 0, count, []
    for entry in given["plan"]:
        if entry == ALL:
            places.append(":")
        elif entry == NEW:
            places.append("None")
        elif entry == ARRAY:
            places.append(rest[tensors])
            tensors += 1
        elif entry == NUMBER:
            places.append(rest[at] if known[at] is None else str(int(known[at])))
            at += 1
        elif ARRAY in given["plan"]:  # (start, stop, step), and numbers are arrays
            places.append(":".join("" if n is None else str(n) for n in entry))
        else:
            if known[at] is None:
                raise Unwritten("a slice begins where a Tensor says")
            places.append(_slice(int(known[at]), *entry))
            at += 1
    while places and places[-1] == ":" and len(places) > 1:
        places.pop()
    inside: Expression = []
    for place in places:
        inside += [", "] * bool(inside) + ([place] if isinstance(place, str) else place)
    return ["[", *(inside or ["..."]), "]"]


def _slice(start, length, step):
    if step > 0:
        text = f"{start or ''}:{start + (length - 1) * step + 1}"
        return text if step == 1 else f"{text}:{step}"
    first = start - (length - 1) * step
    return f"{first}:{start - 1 if start else ''}:{step}"


@spellings.register(_TensorGetRow)
def _row(given: Arguments) -> Expression:
    x, index = given.values
    node = given.node.inputs[1]
    return [*x, "[", *([str(int(node.value))] if isinstance(node, ValueNode) else index), "]"]


# ---------------------------------------------------------------------- functions
@spellings.register(_MatMulBroadcast)
def _matmul(given: Arguments) -> Expression:
    return call("ops.matmul", given.values)


@spellings.register(_Where)
def _where(given: Arguments) -> Expression:
    return call("ops.where", given.values)


@spellings.register(_Conv1D)
def _conv1d(given: Arguments) -> Expression:
    settings = [
        [f"{theirs}=", *given.hole(ours)]
        for theirs, ours in (
            ("stride", "stride"), ("pad_mode", "pad_mode"), ("padding", "padding"), ("dilation", "dilation"),
            ("groups", "groups"),
        )
    ]  # fmt: skip
    return call("ops.conv1d", [*given.values, *settings])


@spellings.register(_MaxPool2D)
def _max_pool(given: Arguments) -> Expression:
    """An edge of the least number, and what lies within: of windows that reach further there is nothing to write."""
    if given["ceil_mode"] or set(given["dilation"]) != {1}:
        raise Unwritten("its windows have gaps, or end outside of the image")
    top, bottom, left, right = given["pads"]
    x = given.values[0]
    if any(given["pads"]):
        x = call("ops.pad", [x, [literal((left, right, top, bottom))], ['"constant"'], ['float("-inf")']])
    settings = [["kernel_size=", *given.hole("kernel_size")], ["strides=", Hole("stride", given["strides"])]]
    return [Group("ops.MaxPool(", settings, ")"), Group("(", [x], ")")]


@spellings.register(P.Reshape)
def _reshape(given: Arguments) -> Expression:
    """The first dimension is left open, so that other batches fit."""
    shape = tuple(given.node.shape)
    if shape and 0 not in shape and -1 not in shape:
        shape = (-1, *shape[1:])
    return [Group("ops.Reshape()(", [given.values[0], [Hole("shape", shape)]], ")")]
