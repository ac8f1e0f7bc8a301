"""Select the values of a training step to record, and name them."""

import dataclasses
import fnmatch
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from msnb.core.errors.cell_path import attribute_path
from msnb.core.operator.rule_table import RuleTable
from msnb.ir.anf import CNode, ParameterNode
from msnb.nn.optim import Optimizer
from msnb.ops.operations import Sigmoid, Tanh

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.tensor.parameter import Parameter
    from msnb.ir.anf import FuncGraph
    from msnb.nn.cell import Cell

LABEL = "gradient:"  # prefix of the label that core gives to the gradient of a Parameter
KINDS = ("parameter", "output", "gradient", "weight")
SATURATES = RuleTable(
    "the range outside of which it is flat",
    "Say it in msnb/insight/gradients/rows.py: SATURATES.register(ops.{name}).",
)
SATURATES.register(Sigmoid)((0.02, 0.98))
SATURATES.register(Tanh)((-0.96, 0.96))  # the range of sigmoid, stretched to that of tanh


@dataclasses.dataclass
class Row:
    """One line of a recording.

    Attributes:
        kind (str): "parameter": the gradient of a Parameter; "output": an operator's output in the forward pass;
            "gradient": the gradient with respect to that output; "weight": a Parameter's own values.
        name (str): name of the Parameter, or the Cell's attribute path and the operator, such as
            "layer3.2.conv2/Conv2D".
        shape (tuple), dtype (str): shape and dtype of the tensor.
        op (str): the operator that computes the tensor; for a Parameter, the first operator that reads it.
        cell (str): attribute path of the operator's Cell, such as "layer3.2.conv2".
        source (Union[tuple, None]): (file, line, function) of the operator.
        node (int): id in the graph of the forward node; -1 if there is none.
        order (int): position of the operator in the forward pass.
        maker (int): id in the graph of the node that computes the tensor, a backward node for a gradient; -1 if
            unknown.
    """

    kind: str
    name: str
    shape: tuple[Any, ...]
    dtype: str
    op: str = ""
    cell: str = ""
    source: tuple[Any, ...] | None = None
    node: int = -1
    order: int = 0
    maker: int = -1

    @property
    def key(self) -> tuple[str, str]:
        """The key of the row in a recording."""
        return self.kind, self.name

    @property
    def size(self) -> int:
        """Number of elements."""
        return size_of(self.shape)


def size_of(shape: tuple[int, ...]) -> int:
    """Return the number of elements of a tensor of this shape."""
    return int(np.prod(shape, dtype=np.int64))


# cached, because the name of a numpy dtype takes microseconds to compute
dtype_name = functools.lru_cache(maxsize=64)(str)


@functools.lru_cache(maxsize=64)
def is_real(dtype):
    """Return True for floating-point dtypes. It uses JAX, because numpy does not know the dtype of random keys."""
    return jax.dtypes.issubdtype(dtype, np.floating)


def forward_order(graph: "FuncGraph", results: int) -> Any:
    """Return {parameter name: (position, first operator node that reads it)} in the order of the forward pass.

    Args:
        graph (FuncGraph): a training step.
        results (int): number of outputs that are results; the others are new values of Parameters.
    """
    readers, place = {}, 0
    needed = _collect_needed_nodes(graph, results)
    for node in graph.nodes:
        for inner in (node, *(n for sub in node.graphs for n in sub.all_nodes())):
            place += 1
            # an optimizer reads Parameters too, but is not differentiated
            if node.id not in needed or node.direction != "forward":
                continue
            for source in inner.inputs:
                if isinstance(source, ParameterNode) and source.is_weight:
                    readers.setdefault(source.name, (place - 1, inner))
    return readers


def operators(graph: "FuncGraph") -> Any:
    """Return [(name, position, node)] of the forward pass; repeated names are numbered."""
    number, entries = {}, []
    for place, node in enumerate(graph.all_nodes()):
        if node.direction != "forward":
            continue
        base = "/".join(part for part in (attribute_path(node.scope, graph.name), node.op) if part)
        number[base] = number.get(base, 0) + 1
        entries.append((base if number[base] == 1 else f"{base} ({number[base]})", place, node))
    return entries


def _collect_needed_nodes(graph, results):
    """Return ids of the nodes that the results or the backward pass depend on."""
    todo = [node for node, _ in graph.outputs[:results]] + [n for n in graph.nodes if n.direction == "backward"]
    needed = set()
    while todo:
        node = todo.pop()
        if isinstance(node, CNode) and node.id not in needed:
            needed.add(node.id)
            todo += node.inputs
    return needed


def main_slots(graph: "FuncGraph") -> dict[int, int]:
    """Return {id of a node: index of its first result that other nodes read}. Nodes whose results are not read are
    omitted.

    Other results of an operator are new values of Parameters, and values that its gradient needs.
    """
    slots: dict[int, int] = {}
    only_backward = []
    for reader in graph.all_nodes():
        for source, slot in reader.uses:
            if isinstance(source, CNode):
                if reader.direction == "backward" and source.direction == "forward":
                    only_backward.append((source, slot))
                else:
                    slots.setdefault(source.id, slot)
    results = graph.outputs[: len(graph.outputs) - graph.written]
    for source, slot in (*results, *only_backward):
        if isinstance(source, CNode):
            slots.setdefault(source.id, slot)
    return slots


def cotangents(graph: "FuncGraph") -> Any:
    """Return {id of a forward node: (node, slot) of the gradient with respect to its output}.

    The inputs of a backward operator are the residuals of the forward one, then the gradients of its results.
    """
    lists = {}
    for node in graph.nodes:
        if node.kernel is not None and node.direction in ("forward", "backward") and not node.is_recomputed:
            lists.setdefault((node.scope, node.op), ([], []))[node.direction == "backward"].append(node)
    gradient_slots, slots = {}, main_slots(graph)
    for forwards, backwards in lists.values():
        pairs, rest = _pair_by_residuals(forwards, backwards)
        if len(rest[0]) == len(rest[1]):  # backward nodes are in the opposite order
            pairs += zip(rest[0], reversed(rest[1]))
        for forward, backward in pairs:
            mate = _find_cotangent(forward.types[slots.get(forward.id, 0)].shape, backward) if forward.types else None
            if mate is not None:
                gradient_slots[forward.id] = mate
    return gradient_slots


def _pair_by_residuals(forwards, backwards):
    """Return the pairs in which the backward node reads a residual of the forward node, and the unpaired nodes."""
    pairs, used = [], set()
    left = list(forwards)
    for backward in backwards:
        for source, slot in backward.uses:
            if source in left and slot > 0:
                pairs.append((source, backward))
                left.remove(source)
                used.add(id(backward))
                break
    return pairs, (left, [b for b in backwards if id(b) not in used])


def _find_cotangent(shape, backward):
    for source, slot in reversed(list(backward.uses)):
        if (
            isinstance(source, CNode)
            and source.types
            and source.types[slot].shape == shape
            and source.direction != "forward"
            and not source.is_recomputed
        ):
            return source, slot
    return None


def trainable(net: "Cell") -> "list[Parameter]":
    """Return the trainable Parameters of a Cell, without its optimizers' state such as moments."""
    optimizers = [cell for _, cell in net.cells_and_names() if isinstance(cell, Optimizer)]
    optimized = {id(p) for optimizer in optimizers for p in optimizer.parameters}
    own = {id(p) for optimizer in optimizers for p in optimizer.get_parameters()} - optimized
    return [p for p in net.trainable_params() if id(p) not in own]


def chosen(patterns: Sequence[str], rows: "list[Row]") -> "list[Row]":
    """Return rows whose name, or kind:name, matches one of the `fnmatch` patterns."""
    return [
        row
        for row in rows
        if any(
            fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (row.name, f"{row.kind}:{row.name}")
        )
    ]
