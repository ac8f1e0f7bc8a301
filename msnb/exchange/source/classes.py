"""The classes of the text: Cells that differ in literals alone share one, which takes these as arguments."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from msnb.ir.anf import ParameterNode, TensorType
from msnb.ir.read import dtype_name

from .blocks import Block, Blocks, Call
from .holding import Made, identifier
from .layers import chain, find, is_plain
from .methods import Method
from .words import Group, Hole, Line, atoms, call, lines, literal

_KNOWN = frozenset(("Cell", "Parameter", "Tensor"))


class Class:
    """A class of the text.

    Attributes:
        name (str): Its name.
        blocks (list[Block]): The Cells that are instances of it.
        arguments (list[tuple[str, int]]): What `__init__` takes: the name, and which of the literals of the Cell it is.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.blocks: list[Block] = []
        self.arguments: list[tuple[str, int]] = []
        self.by_place: dict[int, str] = {}  # literal -> the argument that it is
        self.kept: list[str] = []  # arguments that `construct` asks for


class Text:
    """The text of a graph.

    Args:
        blocks (Blocks): The graph.

    Attributes:
        constants (dict): {name: array} of the constants that are too large to be written out, which are Parameters.
        names (dict): {name of a Parameter in the text: its name in the graph}.
        frozen (list[str]): Names of Parameters that are not trained, though those of such layers are.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks: Blocks = blocks
        self.constants: dict[str, np.ndarray] = {}
        self.names: dict[str, str] = {}
        self.frozen: list[str] = []
        self._values: dict[ParameterNode, np.ndarray] = {}
        self._methods: dict[Block, Method] = {}
        self._keys: dict[Block, Any] = {}
        self._literals: dict[Block, list[Hole]] = {}
        self._classes: dict[Any, Class] = {}  # in the order in which they have to be written
        self._simplify(blocks.root)
        self._write(blocks.root)
        self._argue()
        self._name_parameters(blocks.root, "")

    # ------------------------------------------------------------------ Cells
    def _simplify(self, block: Block) -> None:
        """From the innermost Cells on, find those that are layers, and those that are but one operator."""
        for child in _children(block.steps):
            self._simplify(child)
        block.steps = list(_opened(block.steps))
        find(self.blocks, block)

    def _write(self, block: Block) -> None:
        """The methods of a Cell and of all that it holds, and which class that is."""
        if block in self._methods or block.layer is not None:
            return
        row = chain(block) if block is not self.blocks.root else None
        if row is not None:
            for child in row:
                self._write(child)
            return
        for child in _children(block.steps):
            self._write(child)
        method = self._methods[block] = Method(self.blocks, block, self._constant)
        key, found = [tuple(method.arguments)], []
        for words in (*method.init, *method.construct):
            depth, words = (words.depth, words.words) if isinstance(words, Line) else (-1, words)
            key.append(depth)
            for word in atoms(words):
                if isinstance(word, Hole):
                    key.append(None)
                    found.append(word)
                elif isinstance(word, Made):
                    key.append(self._keys[word.block])
                    found += self._literals[word.block]
                else:
                    key.append(word)
        self._literals[block] = found
        key = self._keys[block] = _Key(key)
        kind = self._classes.get(key)
        if kind is None:
            kind = self._classes[key] = Class(self._class_name(block))
        kind.blocks.append(block)

    def _constant(self, value: np.ndarray) -> ParameterNode:
        kind = TensorType(dtype_name(value.dtype), value.shape, value.dtype.itemsize)
        made = ParameterNode("constant", (kind,), True)
        self._values[made] = value
        return made

    def _class_name(self, block):
        wanted = block.kind or re.sub(r"\d+$", "", block.attribute.rpartition(".")[0] or block.attribute) or "Block"
        wanted = "".join(part[:1].upper() + part[1:] for part in identifier(wanted, "Block").split("_") if part)
        wanted = wanted if wanted[:1].isalpha() and wanted not in _KNOWN else f"{wanted}Block"
        taken, number, name = {kind.name for kind in self._classes.values()}, 1, wanted
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name

    def _argue(self) -> None:
        """Find the literals in which the Cells of a class differ: what differs in the same way is one argument."""
        for block, method in self._methods.items():
            kind = self._classes[self._keys[block]]
            if kind.blocks[0] is not block:
                continue
            columns: dict[Any, str] = {}
            taken = set(method.arguments)
            for place, holes in enumerate(zip(*(self._literals[b] for b in kind.blocks), strict=True)):
                column = tuple((type(hole.value).__name__, repr(hole.value)) for hole in holes)
                if len(set(column)) == 1:
                    continue
                name = columns.get(column)
                if name is None:
                    name = identifier(holes[0].name, "value")
                    while name in taken:
                        name = _next(name)
                    taken.add(name)
                    columns[column] = name
                    kind.arguments.append((name, place))
                kind.by_place[place] = name

    # ------------------------------------------------------------------ names of Parameters
    def _name_parameters(self, block: Block, prefix: str) -> None:
        """Which Parameter of the text is which of the graph."""
        row = chain(block) if block is not self.blocks.root else None
        if block.layer is not None:
            held, cells = list(block.layer.weights.items()), []
        elif row is not None:
            held, cells = [], [(str(number), child) for number, child in enumerate(row)]
        else:
            held, cells = self._methods[block].held, self._methods[block].cells
        for name, weight in held:
            if weight in self._values:  # called as it stands there, so that Cells with other values share a class
                weight.name = prefix + name
                while weight.name in self.blocks.graph.weights:
                    weight.name += "_"
                self.constants[weight.name] = self._values[weight]
            self.names[prefix + name] = weight.name
            own = name.rpartition(".")[2]
            of_layer = "." in name or block.layer is not None
            if of_layer and not weight.requires_grad and not own.startswith("moving_"):
                self.frozen.append(weight.name)
        for name, child in cells:
            self._name_parameters(child, f"{prefix}{name}.")

    # ------------------------------------------------------------------ text
    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        body = []
        for kind in self._classes.values():
            body += ["", "", *self._class(kind)]
        text = "\n".join(body)
        graph = self.blocks.graph.name
        yield f'"""The network {graph}, as msnb.to_source wrote it."""'
        yield ""
        if re.search(r"\bmindspore\.", text):
            yield "import mindspore"
        used = [n for n in ("Parameter", "Tensor", "nn", "ops") if re.search(rf"(?<![.\w]){n}[.(]", text)]
        if used:
            yield f"from mindspore import {', '.join(used)}"
        renamed = {ours: theirs for ours, theirs in self.names.items() if ours != theirs}
        if renamed:
            yield ""
            yield "# Names of Parameters in the network that this was made from"
            yield "NAMES = {"
            for ours, theirs in renamed.items():
                yield from lines([f"{literal(ours)}: {literal(theirs)}"], 4, ",")
            yield "}"
        if self.frozen:
            yield ""
            yield "# Parameters that are not trained"
            yield from lines(["FROZEN = ", Group("(", [[literal(n)] for n in self.frozen], _end(self.frozen))], 0)
        yield from body

    def _class(self, kind: Class) -> Iterator[str]:
        block = kind.blocks[0]
        method, root = self._methods[block], block is self.blocks.root
        yield f"class {kind.name}(nn.Cell):"
        place, init, construct = 0, [], []
        kept: list[str] = []
        for words in method.init:
            told, place = self._told(kind, words, place, None)
            init += lines(told, 8)
        for line in method.construct:
            told, place = self._told(kind, line.words, place, kept)
            construct += lines(told, 8 + 4 * line.depth)
        arguments = ["self", *(name for name, _ in kind.arguments)]
        keeping = [f"        self.{name} = {name}" for name in dict.fromkeys(kept)]
        ending = []
        if root and any(a != b for a, b in self.names.items()):
            ending += [
                "        for parameter in self.get_parameters():",
                "            parameter.name = NAMES.get(parameter.name, parameter.name)",
            ]
        if root and self.frozen:
            ending += [
                "        for parameter in self.get_parameters():",
                "            if parameter.name in FROZEN:",
                "                parameter.requires_grad = False",
            ]
        if init or keeping or ending:
            yield from lines(["def __init__", Group("(", [[a] for a in arguments], ")")], 4, ":")
            yield "        super().__init__()"
            yield from (*keeping, *init, *ending)
            yield ""
        yield from lines(["def construct", Group("(", [["self"], *([a] for a in method.arguments)], ")")], 4, ":")
        yield from construct

    def _told(self, kind: Class, words: Iterable[Any], place: int, kept: list[str] | None) -> tuple[list[Any], int]:
        """Words with the arguments of a class in the place of its literals; `kept` gets those of `construct`."""
        made_: list[Any] = []
        for word in words:
            if isinstance(word, Hole):
                name = kind.by_place.get(place)
                if name is None:
                    text = literal(word.value)
                elif kept is None:
                    text = name
                else:
                    kept.append(name)
                    text = f"self.{name}"
                made_.append(text)
                place += 1
            elif isinstance(word, Made):
                other = self._classes[self._keys[word.block]]
                literals = self._literals[word.block]
                items = []
                for _, inner in other.arguments:
                    name = kind.by_place.get(place + inner)
                    items.append([literal(literals[inner].value) if name is None else name])
                made_ += call(other.name, items)
                place += len(literals)
            elif isinstance(word, Group):
                items = []
                for item in word.items:
                    hole = item[-1] if item else None
                    as_usual = isinstance(hole, Hole) and hole.value == hole.usual and place not in kind.by_place
                    told, place = self._told(kind, item, place, kept)
                    items += [] if as_usual else [told]
                made_.append(Group(word.head, items, word.tail))
            else:
                made_.append(word)
        return made_, place


class _Key(tuple):
    """What a class says, literals left out, with a hash that is counted once."""

    __slots__ = ()


def _next(name):
    found = re.fullmatch(r"(.*?)_(\d+)", name)
    return f"{found[1]}_{int(found[2]) + 1}" if found else f"{name}_2"


def _end(items):
    return ",)" if len(items) == 1 else ")"


def _children(steps):
    found: dict[Block, None] = {}
    for step in steps:
        if isinstance(step, Call):
            found[step.block] = None
        for body in getattr(step, "bodies", ()):
            found.update(dict.fromkeys(_children(body.steps)))
    return list(found)


def _opened(steps):
    """Steps with the operator itself in the place of a Cell that is nothing else."""
    for step in steps:
        if isinstance(step, Call) and step.block.layer is None and is_plain(step.block):
            yield type(step.block.steps[0])(step.nodes[0])
            continue
        for body in getattr(step, "bodies", ()):
            body.steps = list(_opened(body.steps))
        yield step
