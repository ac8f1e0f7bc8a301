"""Write `__init__` of a Cell: its Parameters, layers, child Cells and constants, and their attribute names."""

import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.exchange.source.expressions import Expression, Group, NoPythonForm, Placeholder, call, literal, shortest
from msnb.ir.anf import ParameterNode, TensorType, ValueNode
from msnb.nn.cell import Cell

from .blocks import Block, Call, Value
from .layers import LayerCall, sequential_cells

_MAX_INLINE = 64  # maximum size of a constant written into the text; a larger one becomes a Parameter


class Instance:
    """Construction of a child Cell, an instance of a class of the source text."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block: Block = block


def identifier(text: str, other: str = "x") -> str:
    """Return `text` as a valid Python identifier."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or other
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


class InitWriter:
    """The part of `Method` that writes `__init__`.

    Args:
        block (Block): The Cell.
        constants (Callable): Function that returns a Parameter for an array that is too large for the text.

    Attributes:
        init (list[Expression]): Statements of `__init__`.
        parameters (list): [(attribute path, Parameter)], such as "dense.weight" for the weight of a layer.
        cells (list): [(attribute, Block)] of the Cells inside.
    """

    def __init__(self, block: Block, constants: Callable[[np.ndarray], ParameterNode]) -> None:
        self.block, self._parameter = block, constants
        self.init: list[Expression] = []
        self.parameters: list[tuple[str, ParameterNode]] = []
        self.cells: list[tuple[str, Block]] = []
        self._expressions: dict[Any, Expression] = {}  # value, step or Block -> the attribute that contains it
        self._used_names: set[str] = set()
        self._tensors: dict[Any, str] = {}
        for weight in block.weights:
            self._declare_weight(weight)
        self._declare_cells(block.steps)

    def _make_unique_name(self, base: str) -> str:
        """Return an unused attribute name."""
        for number in itertools.count(1):
            name = base if number == 1 else f"{base}_{number}"
            if name not in self._used_names and not hasattr(Cell, name):
                self._used_names.add(name)
                return name
        raise AssertionError

    def _strip_cell_path(self, name: str) -> list[str]:
        """Return the parts of a Parameter's name that follow the path to this Cell."""
        components = name.split(".")
        path = [component for step in self.block.path for component in step.split(".")]
        while path and components and path[0] != components[0]:
            del path[0]
        return (
            components[len(path) :]
            if path and components[: len(path)] == path
            else components
            if not path
            else components[-1:]
        )

    def _declare_weight(self, weight: ParameterNode) -> None:
        name = self._make_unique_name(identifier("_".join(self._strip_cell_path(weight.name)), "weight"))
        kind = weight.types[0]
        zeros = call("ops.zeros", [[Placeholder("shape", kind.shape)], [f"mindspore.{dtype_of(kind)}"]])
        settings = [zeros, [f'name="{name}"'], *([] if weight.requires_grad else [["requires_grad=False"]])]
        self.init.append([f"self.{name} = ", *call("Parameter", settings)])
        self.parameters.append((name, weight))
        self._expressions[weight, 0] = [f"self.{name}"]

    def _declare_cells(self, steps: Iterable[Any]) -> None:
        """Write the construction of the Cells that the steps call, in call order."""
        steps = list(steps)
        cell_lists = _group_blocks_in_cell_lists(_list_blocks(steps))
        for step in _flatten_steps(steps):
            if isinstance(step, LayerCall):
                base = self._choose_layer_name(step.layer)
                name = self._make_unique_name(base)
                self.init.append([f"self.{name} = ", *layer_expression(step.layer)])
                self._expressions[step] = [f"self.{name}"]
                self.parameters += [
                    (f"{name}.{short_name}", weight) for short_name, weight in step.layer.weights.items()
                ]
            elif isinstance(step, Call) and step.block not in self._expressions:
                block = step.block
                if block in cell_lists:
                    owner, members = cell_lists[block]
                    name = self._make_unique_name(owner)
                    items = []
                    for number, member in enumerate(members):
                        items.append(block_expression(member))
                        self._expressions[member] = [f"self.{name}[{number}]"]
                        self.cells.append((f"{name}.{number}", member))
                    self.init.append([f"self.{name} = ", Group("nn.CellList(", [[Group("[", items, "]")]], ")")])
                    continue
                has_no_weights = block.layer is not None and not block.layer.weights
                sharing_key = (
                    (block.attribute, block.layer.kind, repr(block.layer.settings)) if has_no_weights else block
                )
                if sharing_key in self._expressions:
                    self._expressions[block] = self._expressions[sharing_key]
                    continue
                attribute = block.attribute
                kind = identifier(block.kind or (block.layer.kind if block.layer else "cell"), "cell").lower()
                if not attribute or attribute.isdigit():
                    attribute = kind + attribute
                name = self._make_unique_name(identifier(attribute.replace(".", "_"), kind))
                self.init.append([f"self.{name} = ", *block_expression(block)])
                self._expressions[block] = self._expressions[sharing_key] = [f"self.{name}"]
                self.cells.append((name, block))

    def _choose_layer_name(self, layer):
        tails = [self._strip_cell_path(weight.name) for weight in layer.weights.values()]
        if tails and all(len(tail) > 1 and tail[:-1] == tails[0][:-1] for tail in tails):
            return identifier("_".join(tails[0][:-1]), "layer")
        return {"Conv2d": "conv", "BatchNorm2d": "norm", "BatchNorm1d": "norm", "LayerNorm": "norm"}.get(
            layer.kind, layer.kind.lower()
        )

    def _make_constant_expression(self, node: ValueNode, operands: Sequence[Value]) -> Expression:
        value = node.value
        if isinstance(value, Tensor):
            value = value.asnumpy()
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return [Placeholder("value", value)]
        if not isinstance(value, (np.ndarray, np.generic, jax.Array)):
            raise NoPythonForm(f"a constant is of {type(value).__name__}")
        value, kind = np.asarray(value), node.types[0]
        operand_types = [v[0].types[v[1]] for v in operands if not isinstance(v[0], ValueNode)]
        is_scalar = value.size == 1 and any(m.dtype == kind.dtype and len(m.shape) >= value.ndim for m in operand_types)
        if is_scalar and value.dtype.kind in "biuf":
            return [Placeholder("value", shortest(value.reshape(())))]
        return [f"self.{self._add_tensor_attribute(value, kind)}"]

    def _add_tensor_attribute(self, value, kind):
        key = value.tobytes(), value.shape, kind.dtype
        name = self._tensors.get(key)
        if name is None:
            if value.size > _MAX_INLINE and not _is_uniform(value):
                weight = self._parameter(value)
                self._declare_weight(weight)
                name = self.parameters[-1][0]
            else:
                name = self._make_unique_name("constant")
                self.init.append([f"self.{name} = ", *_make_array_expression(value, kind)])
            self._tensors[key] = name
        return name


# ---------------------------------------------------------------------- expressions in __init__
def layer_expression(layer: Any) -> Expression:
    """Return the expression that constructs a layer, such as ``nn.Dense(3, 4)``."""
    items = []
    for name, *value in layer.settings:
        placeholder = Placeholder(name.lstrip("*"), *value)
        items.append([placeholder] if name[0] == "*" else [f"{name}=", placeholder])
    return call(f"nn.{layer.kind}", items)


def block_expression(block: Block) -> Expression:
    """Return the expression that constructs a Block: a layer, a SequentialCell, or a class of the text."""
    if block.layer is not None:
        return layer_expression(block.layer)
    sequence = sequential_cells(block)
    if sequence is not None:
        return [Group("nn.SequentialCell(", [[Group("[", [block_expression(child) for child in sequence], "]")]], ")")]
    return [Instance(block)]


def dtype_of(kind: TensorType) -> str:
    """Return the name of an element type in `mindspore`."""
    return "bool_" if kind.dtype == "Bool" else kind.dtype.lower()


def _is_uniform(value):
    return value.size > 0 and value.dtype.kind in "biuf" and bool((value == value.flat[0]).all())


def _make_array_expression(value, kind):
    """Return an expression that constructs a Tensor from its values."""
    dtype = f"mindspore.{dtype_of(kind)}"
    if value.size > 1 and _is_uniform(value):
        return call("ops.full", [[literal(value.shape)], [literal(value.flat[0])], [f"dtype={dtype}"]])

    def nested_list(array):
        return [literal(array)] if array.ndim == 0 else [Group("[", [nested_list(inner) for inner in array], "]")]

    return call("Tensor", [nested_list(value), [dtype]])


def _flatten_steps(steps):
    """Yield steps, including those of subgraphs."""
    for step in steps:
        yield step
        for body in getattr(step, "bodies", ()):
            yield from _flatten_steps(body.steps)


def _list_blocks(steps):
    return list(dict.fromkeys(step.block for step in _flatten_steps(steps) if isinstance(step, Call)))


def _group_blocks_in_cell_lists(blocks):
    """Return {Block: (attribute of the CellList, all its members)}."""
    owners: dict[str, dict[int, Block]] = {}
    for block in blocks:
        owner, _, number = block.attribute.rpartition(".")
        if owner and number.isdigit():
            owners.setdefault(owner, {}).setdefault(int(number), block)
    lists = {}
    for owner, members in owners.items():
        if len(members) > 1 or set(members) == {0}:
            members_in_order = [members[n] for n in sorted(members)]
            lists.update(dict.fromkeys(members_in_order, (identifier(owner.replace(".", "_")), members_in_order)))
    return lists
