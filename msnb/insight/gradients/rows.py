"""Which values of a train step are worth recording, and what they are called."""

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

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.tensor.parameter import Parameter
    from msnb.ir.anf import FuncGraph
    from msnb.nn.cell import Cell

LABEL = "gradient:"  # what core.autodiff labels the gradient of a Parameter with
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
        kind (str): "parameter": the gradient of a Parameter; "output": what an operator gives in the forward pass;
            "gradient": the gradient with respect to that output; "weight": a Parameter's own values.
        name (str): of the Parameter, or the Cell's attribute path and the operator, such as "layer3.2.conv2/Conv2D".
        shape (tuple), dtype (str): of the tensor.
        op (str): operator that made it; of a Parameter, the one that reads it first.
        cell (str): attribute path of the Cell it belongs to, such as "layer3.2.conv2".
        source (Union[tuple, None]): (file, line, function).
        node (int): id in the graph of the forward node; -1 where there is none.
        order (int): place in the forward pass.
        maker (int): id in the graph of the node that makes the tensor, for a gradient a backward one; -1 where unknown.
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
        """What identifies it in a recording."""
        return self.kind, self.name

    @property
    def size(self) -> int:
        """Number of elements."""
        return size_of(self.shape)


def size_of(shape: tuple[int, ...]) -> int:
    """Number of elements of a tensor of this shape."""
    return int(np.prod(shape, dtype=np.int64))


dtype_name = functools.lru_cache(maxsize=64)(str)  # of a numpy dtype, which takes microseconds to tell its name


@functools.lru_cache(maxsize=64)
def is_real(dtype):
    """Whether statistics of values of this dtype make sense. JAX is asked: numpy does not know random keys."""
    return jax.dtypes.issubdtype(dtype, np.floating)


def forward_order(graph: "FuncGraph", results: int) -> Any:
    """{parameter name: (place, operator node that reads it first)} in the order of the forward pass.

    Args:
        graph (FuncGraph): a train step.
        results (int): how many of its outputs are results; the others are new values of Parameters.
    """
    found, place = {}, 0
    needed = _needed(graph, results)
    for node in graph.nodes:
        for inner in (node, *(n for sub in node.graphs for n in sub.all_nodes())):
            place += 1
            # an optimizer reads Parameters too, but nothing is differentiated through it
            if node.id not in needed or node.direction != "forward":
                continue
            for source in inner.inputs:
                if isinstance(source, ParameterNode) and source.is_weight:
                    found.setdefault(source.name, (place - 1, inner))
    return found


def operators(graph: "FuncGraph") -> Any:
    """[(name, place, node)] of the forward pass; a name that comes again carries its number."""
    number, found = {}, []
    for place, node in enumerate(graph.all_nodes()):
        if node.direction != "forward":
            continue
        base = "/".join(part for part in (attribute_path(node.scope, graph.name), node.op) if part)
        number[base] = number.get(base, 0) + 1
        found.append((base if number[base] == 1 else f"{base} ({number[base]})", place, node))
    return found


def _needed(graph, results):
    """Ids of the nodes that the results or the backward pass are computed from."""
    todo = [node for node, _ in graph.outputs[:results]] + [n for n in graph.nodes if n.direction == "backward"]
    seen = set()
    while todo:
        node = todo.pop()
        if isinstance(node, CNode) and node.id not in seen:
            seen.add(node.id)
            todo += node.inputs
    return seen


def cotangents(graph: "FuncGraph") -> Any:
    """{id of a forward node: (node, slot) whose value is the gradient with respect to its output}.

    A backward operator takes what the forward one left for it, then the gradients of its results.
    """
    lists = {}
    for node in graph.nodes:
        if node.kernel is not None and node.direction in ("forward", "backward") and not node.is_recomputed:
            lists.setdefault((node.scope, node.op), ([], []))[node.direction == "backward"].append(node)
    found = {}
    for forwards, backwards in lists.values():
        pairs, rest = _by_residuals(forwards, backwards)
        if len(rest[0]) == len(rest[1]):  # gradients come in the opposite order
            pairs += zip(rest[0], reversed(rest[1]))
        for forward, backward in pairs:
            mate = _cotangent_of(forward, backward)
            if mate is not None:
                found[forward.id] = mate
    return found


def _by_residuals(forwards, backwards):
    """Pairs that are certain, since the backward node reads what only its own forward node made; and the rest."""
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


def _cotangent_of(forward, backward):
    shape = forward.shape
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
    """The trainable Parameters of a Cell, without what its optimizers keep for themselves, such as moments."""
    optimizers = [cell for _, cell in net.cells_and_names() if isinstance(cell, Optimizer)]
    given = {id(p) for optimizer in optimizers for p in optimizer.parameters}
    own = {id(p) for optimizer in optimizers for p in optimizer.get_parameters()} - given
    return [p for p in net.trainable_params() if id(p) not in own]


def chosen(patterns: Sequence[str], rows: "list[Row]") -> "list[Row]":
    """Rows whose name, or kind:name, one of the patterns of `fnmatch` matches."""
    return [
        row
        for row in rows
        if any(
            fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (row.name, f"{row.kind}:{row.name}")
        )
    ]
