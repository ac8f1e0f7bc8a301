"""The Cells of a network in the order of one call: what each returns, its Parameters and its arithmetic.

The network is traced once, on shapes alone: no value is computed, nothing is compiled and no program is kept. While
each call of a Cell is traced it stands in a scope of its own, by which the operators of the graph find their call.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.program.program_cache import Programs, find
from msnb.core.state import events
from msnb.core.tensor.parameter import ParameterTuple
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.dataset.engine.dataset import Dataset
from msnb.ir.api import of_program
from msnb.nn.cell import Cell

_MARK = re.compile(r"#(\d+)$")


class Layer:
    """One call of a Cell; or several in a row that look the same, of which it is the first.

    Attributes:
        path (str): The attributes that lead to the Cell, such as "layer3.2.conv2"; "" for the network itself.
        last (str): The path of the last of `times` Cells.
        times (int): How many calls in a row this one stands for.
        kind (str): Class of the Cell.
        depth (int): How many Cells stand around it.
        inputs (list[tuple]), outputs (list[tuple]): (dtype, shape, bytes) of each Tensor that it was given, and that it
            returned.
        parameters (int), trained (int): Numbers in the Parameters that it holds itself; those that an earlier call has
            counted are left out.
        shared (bool): Whether some were left out.
        flops (int): Arithmetic of its own, a multiply-add as two; what its `inner` calls do is theirs.
        inner (list[Layer]): The calls of Cells within it.
    """

    __slots__ = (
        "cell",
        "path",
        "last",
        "times",
        "kind",
        "depth",
        "inputs",
        "outputs",
        "parameters",
        "trained",
        "shared",
        "flops",
        "inner",
        "marked",
    )

    def __init__(self, cell: Cell, path: str, depth: int) -> None:
        self.cell: Cell = cell
        self.path: str = path
        self.last: str = path
        self.times: int = 1
        self.kind: str = type(cell).__name__
        self.depth: int = depth
        self.inputs: list[tuple[str, tuple[int, ...], int]] = []
        self.outputs: list[tuple[str, tuple[int, ...], int]] = []
        self.parameters: int = 0
        self.trained: int = 0
        self.shared: bool = False
        self.flops: int = 0
        self.inner: list[Layer] = []
        self.marked: bool = False  # whether an operator of the graph says that it stands in this call

    def calls(self) -> "Iterator[Layer]":
        """This call and all within it, in order."""
        yield self
        for layer in self.inner:
            yield from layer.calls()

    def look(self) -> Any:
        """What makes two calls the same for a reader."""
        own = (self.kind, tuple(self.outputs), self.parameters, self.trained, self.shared, self.flops, self.times)
        return own, tuple(layer.look() for layer in self.inner)

    def __repr__(self) -> str:
        return f"Layer({self.path or self.kind}: {self.outputs})"


def layers(net: Cell, *inputs: Any) -> Layer:
    """The calls of Cells in one call of a network.

    Args:
        net (Cell): The network.
        inputs: What it would be called with: Tensors, arrays, or for a Tensor its shape (float32) or a pair of shape
            and dtype. One data set stands for the columns of its first batch, as many as `construct` takes.

    Returns:
        Layer, the call of the network itself.

    Raises:
        TypeError: If `net` is no Cell, or `construct` needs other inputs.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'summary', 'net' should be a Cell, but got {describe(net)}.")
    args = _given(net, inputs)
    trace = _Trace(net)
    graph = of_program(trace.run(args), type(net).__name__)
    calls = trace.calls
    for node in graph.nodes:
        marks = [_MARK.match(part) for part in node.scope.split("/")]
        call = next((calls[int(mark[1])] for mark in reversed(marks) if mark), calls[0])
        call.flops += node.flops
        for each in (node, *(below for inner in node.graphs for below in inner.all_nodes())):
            for mark in filter(None, map(_MARK.match, each.scope.split("/"))):
                calls[int(mark[1])].marked = True
    _drop_tried(calls[0])
    _count(calls[0])
    return calls[0]


class _Trace:
    """One trace of a network, and the calls of Cells that it heard of."""

    def __init__(self, net):
        self.net = net
        self.paths = {}  # by the Cells themselves: they are compared by identity
        for path, cell in net.cells_and_names():
            self.paths[cell] = path
        self.calls, self.open = [], []

    def run(self, args):
        fn, args, kwargs, name, _ = self.net._graph_call(args, {})

        def whole(*args, **kwargs):
            self.calls, self.open = [Layer(self.net, "", 0)], []  # Parameters come to light by tracing again
            self.open.append((self.calls[0], None))
            self.calls[0].inputs = _tensors((args, kwargs))
            out = fn(*args, **kwargs)
            self.calls[0].outputs = _tensors(out)
            return out

        listening = events.listen(entered=self.enter, left=self.leave, name="summary", here=True, vital=True)
        with listening:
            return find(self.net, whole, args, kwargs, name, for_inspection=True, programs=Programs())[0]

    def enter(self, call):
        if not self.open or not isinstance(call.net, Cell):
            return
        around = self.open[-1][0]
        path = self.paths.get(call.net)
        if path is None:  # in a plain list, or made while construct runs
            path = ".".join(filter(None, (around.path, f"({type(call.net).__name__})")))
        layer = Layer(call.net, path, around.depth + 1)
        layer.inputs = _tensors((call.args, call.kwargs))
        around.inner.append(layer)
        scope = jax.named_scope(f"#{len(self.calls)}")
        self.calls.append(layer)
        scope.__enter__()
        self.open.append((layer, scope))

    def leave(self, call):
        if len(self.open) < 2 or self.open[-1][0].cell is not call.net:
            return
        layer, scope = self.open.pop()
        scope.__exit__(None, None, None)
        layer.outputs = _tensors(call.out)


def _tensors(value):
    tensors = [leaf for leaf in flatten(value)[0] if isinstance(leaf, Tensor)]
    return [(str(t.dtype), tuple(t.shape), t.size * t._array.dtype.itemsize) for t in tensors]


def _drop_tried(layer):
    """Leave out the calls of attempts: the body of a loop is traced more than once, and the graph has one of them."""
    real = {id(inner.cell) for inner in layer.inner if inner.marked}
    layer.inner = [inner for inner in layer.inner if inner.marked or id(inner.cell) not in real]
    for inner in layer.inner:
        _drop_tried(inner)


def _count(root):
    """Give each Parameter to the first call of a Cell that holds it; of one that only lists it, such as an optimizer,
    to the Cell that it is for."""
    counted = set()
    for lists in (False, True):
        for layer in root.calls():
            listed = {id(p) for value in vars(layer.cell).values() if isinstance(value, ParameterTuple) for p in value}
            for parameter in layer.cell._params.values():
                if parameter is None or (id(parameter) in listed) is not lists:
                    continue
                if id(parameter) in counted:
                    layer.shared = layer.shared or not lists
                    continue
                counted.add(id(parameter))
                layer.parameters += parameter.size
                layer.trained += parameter.size * parameter.requires_grad


# ---------------------------------------------------------------------- folding
def folded(layer: Layer, depth: int | None = None) -> Layer:
    """The same calls with equal neighbours as one, and those deeper than `depth` added up in the ones around them.

    Args:
        layer (Layer): What `layers` returns.
        depth (int): How many levels of Cells are kept. Default: None, all of them.

    Returns:
        Layer, of Layers of its own.
    """
    made = Layer(layer.cell, layer.path, layer.depth)
    made.inputs, made.outputs, made.shared, made.flops = layer.inputs, layer.outputs, layer.shared, layer.flops
    made.parameters, made.trained = layer.parameters, layer.trained
    if depth is not None and layer.depth >= depth:
        for inner in list(layer.calls())[1:]:
            made.flops += inner.flops
            made.parameters += inner.parameters
            made.trained += inner.trained
            made.shared = made.shared or inner.shared
        return made
    for inner in layer.inner:
        one = folded(inner, depth)
        before = made.inner[-1] if made.inner else None
        if before is not None and _alike(before, one):
            before.times += 1
            before.last = one.path
        else:
            made.inner.append(one)
    return made


def _alike(before, one):
    """Whether a call looks like those that `before` stands for."""
    times, before.times = before.times, 1
    try:
        return before.look() == one.look()
    finally:
        before.times = times


# ---------------------------------------------------------------------- inputs
def _given(net, inputs):
    """What the network is traced with, a tuple; a shape becomes a Tensor without values."""
    names = net.argument_names
    if len(inputs) == 1 and isinstance(inputs[0], Dataset):
        types, shapes = inputs[0].output_types(), inputs[0].output_shapes()
        wanted = len(shapes) if any(name.startswith("*") for name in names) else len(names)
        return tuple(_shaped(shape, kind) for shape, kind in list(zip(shapes, types, strict=True))[:wanted])
    needed = [p.name for p in _positional(net) if p.default is p.empty][len(inputs) :]
    if needed:
        raise TypeError(
            f"For 'summary', construct of {type(net).__name__} also takes {', '.join(needed)}: give a Tensor, a shape "
            f"such as (1, 3, 32, 32), or a data set."
        )
    return tuple(map(_input, inputs))


def _positional(net):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(net.construct).parameters.values() if p.kind in kinds]


def _input(value):
    if _is_shape(value):
        return _shaped(value, mstype.float32)
    if (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and _is_shape(value[0])
        and isinstance(value[1], mstype.Type)
    ):
        return _shaped(*value)
    return _shaped(value.shape, value.dtype) if isinstance(value, np.ndarray) else value


def _is_shape(value):
    whole = isinstance(value, (tuple, list)) and all(type(size) is int and size >= 0 for size in value)
    return whole and len(value) > 0


def _shaped(shape, kind):
    kind = mstype.np_dtype(kind) if isinstance(kind, mstype.Type) else kind
    return box(jax.ShapeDtypeStruct(tuple(shape), kind))
