"""`__init__` of a Cell: the Parameters, layers, Cells and constants that it holds, and their names."""

import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.tensor import Tensor
from msnb.ir.anf import ParameterNode, TensorType, ValueNode
from msnb.nn.cell import Cell

from .blocks import Block, Call, Value
from .layers import Step, chain
from .words import Expression, Group, Hole, Unwritten, call, literal, shortest

_WRITTEN_OUT = 64  # elements of a constant; more of them are a Parameter


class Made:
    """An instance of a class of the text."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block: Block = block


def identifier(text: str, other: str = "x") -> str:
    """A text as a name of Python's."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or other
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


class Holder:
    """What of a `Method` writes `__init__`.

    Args:
        block (Block): The Cell.
        constants (Callable): Makes a Parameter of a constant that is too large to be written out.

    Attributes:
        init (list[Expression]): Statements of `__init__`.
        held (list): [(attribute, Parameter)], those of layers at ``attribute.name``.
        cells (list): [(attribute, Block)] of the Cells.
    """

    def __init__(self, block: Block, constants: Callable[[np.ndarray], ParameterNode]) -> None:
        self.block, self._parameter = block, constants
        self.init: list[Expression] = []
        self.held: list[tuple[str, ParameterNode]] = []
        self.cells: list[tuple[str, Block]] = []
        self._of: dict[Any, Expression] = {}  # what `self` holds, by what it stands for
        self._taken: set[str] = set()
        self._tensors: dict[Any, str] = {}
        for weight in block.weights:
            self._hold_weight(weight)
        self._declare(block.steps)

    def _name(self, wanted: str) -> str:
        """An attribute that is not taken."""
        for number in itertools.count(1):
            name = wanted if number == 1 else f"{wanted}_{number}"
            if name not in self._taken and not hasattr(Cell, name):
                self._taken.add(name)
                return name
        raise AssertionError

    def _tail(self, name: str) -> list[str]:
        """The components of a Parameter's name behind the path to this Cell."""
        parts = name.split(".")
        path = [part for step in self.block.path for part in step.split(".")]
        while path and parts and path[0] != parts[0]:
            del path[0]
        return parts[len(path) :] if path and parts[: len(path)] == path else parts if not path else parts[-1:]

    def _hold_weight(self, weight: ParameterNode) -> None:
        name = self._name(identifier("_".join(self._tail(weight.name)), "weight"))
        kind = weight.types[0]
        made = call("ops.zeros", [[Hole("shape", kind.shape)], [f"mindspore.{dtype_of(kind)}"]])
        settings = [made, [f'name="{name}"'], *([] if weight.requires_grad else [["requires_grad=False"]])]
        self.init.append([f"self.{name} = ", *call("Parameter", settings)])
        self.held.append((name, weight))
        self._of[weight, 0] = [f"self.{name}"]

    def _declare(self, steps: Iterable[Any]) -> None:
        """Make the Cells that steps call, in their order."""
        steps = list(steps)
        listed = _lists(_blocks_in(steps))
        for step in _flat(steps):
            if isinstance(step, Step):
                wanted = self._layer_name(step.layer)
                name = self._name(wanted)
                self.init.append([f"self.{name} = ", *made_layer(step.layer)])
                self._of[step] = [f"self.{name}"]
                self.held += [(f"{name}.{own}", weight) for own, weight in step.layer.weights.items()]
            elif isinstance(step, Call) and step.block not in self._of:
                block = step.block
                if block in listed:
                    owner, members = listed[block]
                    name = self._name(owner)
                    items = []
                    for number, member in enumerate(members):
                        items.append(made(member))
                        self._of[member] = [f"self.{name}[{number}]"]
                        self.cells.append((f"{name}.{number}", member))
                    self.init.append([f"self.{name} = ", Group("nn.CellList(", [[Group("[", items, "]")]], ")")])
                    continue
                plain = block.layer is not None and not block.layer.weights
                alike = (block.attribute, block.layer.kind, repr(block.layer.settings)) if plain else block
                if alike in self._of:
                    self._of[block] = self._of[alike]
                    continue
                attribute = block.attribute
                kind = identifier(block.kind or (block.layer.kind if block.layer else "cell"), "cell").lower()
                if not attribute or attribute.isdigit():
                    attribute = kind + attribute
                name = self._name(identifier(attribute.replace(".", "_"), kind))
                self.init.append([f"self.{name} = ", *made(block)])
                self._of[block] = self._of[alike] = [f"self.{name}"]
                self.cells.append((name, block))

    def _layer_name(self, layer):
        tails = [self._tail(weight.name) for weight in layer.weights.values()]
        if tails and all(len(tail) > 1 and tail[:-1] == tails[0][:-1] for tail in tails):
            return identifier("_".join(tails[0][:-1]), "layer")
        return {"Conv2d": "conv", "BatchNorm2d": "norm", "BatchNorm1d": "norm", "LayerNorm": "norm"}.get(
            layer.kind, layer.kind.lower()
        )

    def _constant(self, node: ValueNode, beside: Sequence[Value]) -> Expression:
        value = node.value
        if isinstance(value, Tensor):
            value = value.asnumpy()
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return [Hole("value", value)]
        if not isinstance(value, (np.ndarray, np.generic, jax.Array)):
            raise Unwritten(f"a constant is of {type(value).__name__}")
        value, kind = np.asarray(value), node.types[0]
        mates = [v[0].types[v[1]] for v in beside if not isinstance(v[0], ValueNode)]
        plain = value.size == 1 and any(m.dtype == kind.dtype and len(m.shape) >= value.ndim for m in mates)
        if plain and value.dtype.kind in "biuf":
            return [Hole("value", shortest(value.reshape(())))]
        return [f"self.{self._tensor(value, kind)}"]

    def _tensor(self, value, kind):
        key = value.tobytes(), value.shape, kind.dtype
        name = self._tensors.get(key)
        if name is None:
            if value.size > _WRITTEN_OUT and not _uniform(value):
                weight = self._parameter(value)
                self._hold_weight(weight)
                name = self.held[-1][0]
            else:
                name = self._name("constant")
                self.init.append([f"self.{name} = ", *_array(value, kind)])
            self._tensors[key] = name
        return name


# ---------------------------------------------------------------------- what __init__ says
def made_layer(layer: Any) -> Expression:
    """``nn.Dense(3, 4)``."""
    items = []
    for name, *value in layer.settings:
        hole = Hole(name.lstrip("*"), *value)
        items.append([hole] if name[0] == "*" else [f"{name}=", hole])
    return call(f"nn.{layer.kind}", items)


def made(block: Block) -> Expression:
    """The Cell of a Block: a layer, a row of Cells, or an instance of its class."""
    if block.layer is not None:
        return made_layer(block.layer)
    row = chain(block)
    if row is not None:
        return [Group("nn.SequentialCell(", [[Group("[", [made(child) for child in row], "]")]], ")")]
    return [Made(block)]


def dtype_of(kind: TensorType) -> str:
    """What `mindspore` calls an element type."""
    return "bool_" if kind.dtype == "Bool" else kind.dtype.lower()


def _uniform(value):
    return value.size > 0 and value.dtype.kind in "biuf" and bool((value == value.flat[0]).all())


def _array(value, kind):
    """A Tensor that is written out."""
    dtype = f"mindspore.{dtype_of(kind)}"
    if value.size > 1 and _uniform(value):
        return call("ops.full", [[literal(value.shape)], [literal(value.flat[0])], [f"dtype={dtype}"]])

    def told(part):
        return [literal(part)] if part.ndim == 0 else [Group("[", [told(inner) for inner in part], "]")]

    return call("Tensor", [told(value), [dtype]])


def _flat(steps):
    """Steps with those of graphs within."""
    for step in steps:
        yield step
        for body in getattr(step, "bodies", ()):
            yield from _flat(body.steps)


def _blocks_in(steps):
    return list(dict.fromkeys(step.block for step in _flat(steps) if isinstance(step, Call)))


def _lists(blocks):
    """{Block: (attribute of the CellList, all that are in it)}."""
    owners: dict[str, dict[int, Block]] = {}
    for block in blocks:
        owner, _, number = block.attribute.rpartition(".")
        if owner and number.isdigit():
            owners.setdefault(owner, {}).setdefault(int(number), block)
    found = {}
    for owner, members in owners.items():
        if len(members) > 1 or set(members) == {0}:
            row = [members[n] for n in sorted(members)]
            found.update(dict.fromkeys(row, (identifier(owner.replace(".", "_")), row)))
    return found
