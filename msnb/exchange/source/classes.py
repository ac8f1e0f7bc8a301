"""Classes of the source text. Cells that differ only in literals share one class. The arguments of its `__init__` set
these literals.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from msnb.exchange.source.expressions import Group, Line, Placeholder, atoms, call, lines, literal
from msnb.exchange.source.init_writer import Instance, identifier
from msnb.ir.anf import ParameterNode, TensorType
from msnb.ir.read import dtype_name

from .blocks import Block, Blocks, Call
from .layers import find_layers, is_plain, sequential_cells
from .methods import Method

_RESERVED = frozenset(("Cell", "Parameter", "Tensor"))


class Class:
    """A class of the source text.

    Attributes:
        name (str): Name of the class.
        blocks (list[Block]): The Cells that are instances of the class.
        arguments (list[tuple[str, int]]): Arguments of `__init__`: the name, and the index of the literal that it sets.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.blocks: list[Block] = []
        self.arguments: list[tuple[str, int]] = []
        self.argument_of_literal: dict[int, str] = {}  # index of a literal -> argument name
        self.stored_arguments: list[str] = []  # arguments that `construct` reads


class Text:
    """The source text of a graph.

    Args:
        blocks (Blocks): The graph.

    Attributes:
        constants (dict): {name: array} of constants that are too large for the text and become Parameters.
        names (dict): {name of a Parameter in the text: its name in the graph}.
        frozen (list[str]): Names of Parameters that are not trained although the layer's Parameters usually are.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks: Blocks = blocks
        self.constants: dict[str, np.ndarray] = {}
        self.names: dict[str, str] = {}
        self.frozen: list[str] = []
        self._values: dict[ParameterNode, np.ndarray] = {}
        self._methods: dict[Block, Method] = {}
        self._keys: dict[Block, Any] = {}
        self._literals: dict[Block, list[Placeholder]] = {}
        self._classes: dict[Any, Class] = {}  # in definition order
        self._replace_by_layers(blocks.root)
        self._write_methods(blocks.root)
        self._collect_class_arguments()
        self._record_parameter_names(blocks.root, "")

    # ------------------------------------------------------------------ Cells
    def _replace_by_layers(self, block: Block) -> None:
        """Replace Cells that are layers of `mindspore.nn` or single operators, innermost first."""
        for child in _list_child_blocks(block.steps):
            self._replace_by_layers(child)
        block.steps = list(_inline_operators(block.steps))
        find_layers(self.blocks, block)

    def _write_methods(self, block: Block) -> None:
        """Write the methods of a Cell and of its children, and assign each to a class."""
        if block in self._methods or block.layer is not None:
            return
        sequence = sequential_cells(block) if block is not self.blocks.root else None
        if sequence is not None:
            for child in sequence:
                self._write_methods(child)
            return
        for child in _list_child_blocks(block.steps):
            self._write_methods(child)
        method = self._methods[block] = Method(self.blocks, block, self._add_constant_parameter)
        key, placeholders = [tuple(method.arguments)], []
        for words in (*method.init, *method.construct):
            depth, words = (words.depth, words.words) if isinstance(words, Line) else (-1, words)
            key.append(depth)
            for word in atoms(words):
                if isinstance(word, Placeholder):
                    key.append(None)
                    placeholders.append(word)
                elif isinstance(word, Instance):
                    key.append(self._keys[word.block])
                    placeholders += self._literals[word.block]
                else:
                    key.append(word)
        self._literals[block] = placeholders
        key = self._keys[block] = _Key(key)
        kind = self._classes.get(key)
        if kind is None:
            kind = self._classes[key] = Class(self._make_class_name(block))
        kind.blocks.append(block)

    def _add_constant_parameter(self, value: np.ndarray) -> ParameterNode:
        kind = TensorType(dtype_name(value.dtype), value.shape, value.dtype.itemsize)
        parameter = ParameterNode("constant", (kind,), True)
        self._values[parameter] = value
        return parameter

    def _make_class_name(self, block):
        base = block.kind or re.sub(r"\d+$", "", block.attribute.rpartition(".")[0] or block.attribute) or "Block"
        base = "".join(word[:1].upper() + word[1:] for word in identifier(base, "Block").split("_") if word)
        base = base if base[:1].isalpha() and base not in _RESERVED else f"{base}Block"
        used_names, number, name = {kind.name for kind in self._classes.values()}, 1, base
        while name in used_names:
            number += 1
            name = f"{base}{number}"
        return name

    def _collect_class_arguments(self) -> None:
        """Make each literal that differs between the Cells of a class an argument of the class. Literals with the same
        values in all Cells share one argument.
        """
        for block, method in self._methods.items():
            kind = self._classes[self._keys[block]]
            if kind.blocks[0] is not block:
                continue
            columns: dict[Any, str] = {}
            used_names = set(method.arguments)
            for index, placeholders in enumerate(zip(*(self._literals[b] for b in kind.blocks), strict=True)):
                column = tuple(
                    (type(placeholder.value).__name__, repr(placeholder.value)) for placeholder in placeholders
                )
                if len(set(column)) == 1:
                    continue
                name = columns.get(column)
                if name is None:
                    name = identifier(placeholders[0].name, "value")
                    while name in used_names:
                        name = _increment_suffix(name)
                    used_names.add(name)
                    columns[column] = name
                    kind.arguments.append((name, index))
                kind.argument_of_literal[index] = name

    # ------------------------------------------------------------------ names of Parameters
    def _record_parameter_names(self, block: Block, prefix: str) -> None:
        """Record, for each Parameter name in the source text, its name in the graph."""
        sequence = sequential_cells(block) if block is not self.blocks.root else None
        if block.layer is not None:
            parameters, cells = list(block.layer.weights.items()), []
        elif sequence is not None:
            parameters, cells = [], [(str(number), child) for number, child in enumerate(sequence)]
        else:
            parameters, cells = self._methods[block].parameters, self._methods[block].cells
        for name, weight in parameters:
            # a constant is named by its attribute, not by its value, so Cells with different constants can share a
            # class
            if weight in self._values:
                weight.name = prefix + name
                while weight.name in self.blocks.graph.weights:
                    weight.name += "_"
                self.constants[weight.name] = self._values[weight]
            self.names[prefix + name] = weight.name
            short_name = name.rpartition(".")[2]
            is_of_layer = "." in name or block.layer is not None
            if is_of_layer and not weight.requires_grad and not short_name.startswith("moving_"):
                self.frozen.append(weight.name)
        for name, child in cells:
            self._record_parameter_names(child, f"{prefix}{name}.")

    # ------------------------------------------------------------------ text
    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        body = []
        for kind in self._classes.values():
            body += ["", "", *self._iterate_class_lines(kind)]
        text = "\n".join(body)
        graph = self.blocks.graph.name
        yield f'"""The network {graph}, as msnb.to_source wrote it."""'
        yield ""
        if re.search(r"\bmindspore\.", text):
            yield "import mindspore"
        used = [n for n in ("Parameter", "Tensor", "nn", "ops") if re.search(rf"(?<![.\w]){n}[.(]", text)]
        if used:
            yield f"from mindspore import {', '.join(used)}"
        renamed = {text_name: graph_name for text_name, graph_name in self.names.items() if text_name != graph_name}
        if renamed:
            yield ""
            yield "# Names of Parameters in the network that this was made from"
            yield "NAMES = {"
            for text_name, graph_name in renamed.items():
                yield from lines([f"{literal(text_name)}: {literal(graph_name)}"], 4, ",")
            yield "}"
        if self.frozen:
            yield ""
            yield "# Parameters that are not trained"
            yield from lines(
                ["FROZEN = ", Group("(", [[literal(n)] for n in self.frozen], _choose_closing_bracket(self.frozen))], 0
            )
        yield from body

    def _iterate_class_lines(self, kind: Class) -> Iterator[str]:
        block = kind.blocks[0]
        method, is_root = self._methods[block], block is self.blocks.root
        yield f"class {kind.name}(nn.Cell):"
        index, init, construct = 0, [], []
        stored: list[str] = []
        for words in method.init:
            filled, index = self._fill_placeholders(kind, words, index, None)
            init += lines(filled, 8)
        for line in method.construct:
            filled, index = self._fill_placeholders(kind, line.words, index, stored)
            construct += lines(filled, 8 + 4 * line.depth)
        arguments = ["self", *(name for name, _ in kind.arguments)]
        assignments = [f"        self.{name} = {name}" for name in dict.fromkeys(stored)]
        ending = []
        if is_root and any(a != b for a, b in self.names.items()):
            ending += [
                "        for parameter in self.get_parameters():",
                "            parameter.name = NAMES.get(parameter.name, parameter.name)",
            ]
        if is_root and self.frozen:
            ending += [
                "        for parameter in self.get_parameters():",
                "            if parameter.name in FROZEN:",
                "                parameter.requires_grad = False",
            ]
        if init or assignments or ending:
            yield from lines(["def __init__", Group("(", [[a] for a in arguments], ")")], 4, ":")
            yield "        super().__init__()"
            yield from (*assignments, *init, *ending)
            yield ""
        yield from lines(["def construct", Group("(", [["self"], *([a] for a in method.arguments)], ")")], 4, ":")
        yield from construct

    def _fill_placeholders(
        self, kind: Class, words: Iterable[Any], index: int, stored: list[str] | None
    ) -> tuple[list[Any], int]:
        """Replace each literal by the name of its argument, or by its text if it has no argument. `stored` collects the
        arguments that `construct` reads; None in `__init__`.
        """
        filled: list[Any] = []
        for word in words:
            if isinstance(word, Placeholder):
                name = kind.argument_of_literal.get(index)
                if name is None:
                    text = literal(word.value)
                elif stored is None:
                    text = name
                else:
                    stored.append(name)
                    text = f"self.{name}"
                filled.append(text)
                index += 1
            elif isinstance(word, Instance):
                other = self._classes[self._keys[word.block]]
                literals = self._literals[word.block]
                items = []
                for _, inner in other.arguments:
                    name = kind.argument_of_literal.get(index + inner)
                    items.append([literal(literals[inner].value) if name is None else name])
                filled += call(other.name, items)
                index += len(literals)
            elif isinstance(word, Group):
                items = []
                for item in word.items:
                    last = item[-1] if item else None
                    is_default = (
                        isinstance(last, Placeholder)
                        and last.value == last.usual
                        and index not in kind.argument_of_literal
                    )
                    filled_item, index = self._fill_placeholders(kind, item, index, stored)
                    items += [] if is_default else [filled_item]
                filled.append(Group(word.head, items, word.tail))
            else:
                filled.append(word)
        return filled, index


class _Key(tuple):
    """Key of a class: the words of its text, with None in place of each literal."""

    __slots__ = ()


def _increment_suffix(name):
    match = re.fullmatch(r"(.*?)_(\d+)", name)
    return f"{match[1]}_{int(match[2]) + 1}" if match else f"{name}_2"


def _choose_closing_bracket(items):
    return ",)" if len(items) == 1 else ")"


def _list_child_blocks(steps):
    children: dict[Block, None] = {}
    for step in steps:
        if isinstance(step, Call):
            children[step.block] = None
        for body in getattr(step, "bodies", ()):
            children.update(dict.fromkeys(_list_child_blocks(body.steps)))
    return list(children)


def _inline_operators(steps):
    """Replace each Cell that contains a single operator by that operator."""
    for step in steps:
        if isinstance(step, Call) and step.block.layer is None and is_plain(step.block):
            yield type(step.block.steps[0])(step.nodes[0])
            continue
        for body in getattr(step, "bodies", ()):
            body.steps = list(_inline_operators(body.steps))
        yield step
