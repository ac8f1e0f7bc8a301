"""List the Cells that a call of a network calls, in order, with outputs, Parameters and FLOPs of each.

The network is traced once on shapes: no value is computed, nothing is compiled and no program is cached. The trace puts
each call of a Cell into a named scope, which assigns the operators of the graph to their calls.
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
    """One call of a Cell, or several consecutive calls with equal rows in the table.

    Attributes:
        path (str): The attribute path of the Cell, such as "layer3.2.conv2"; "" for the network itself.
        last (str): The path of the Cell in the last of the `times` calls.
        times (int): Number of consecutive calls that this one represents.
        kind (str): Class of the Cell.
        depth (int): Number of enclosing Cells.
        inputs (list[tuple]), outputs (list[tuple]): (dtype, shape, bytes) of each input and output Tensor.
        parameters (int), trained (int): Number of elements of the Cell's own Parameters, all and trainable ones.
            A Parameter is counted only at its first call.
        shared (bool): True if Parameters were left out because an earlier call has counted them.
        flops (int): FLOPs of the call without its `inner` calls; a multiply-add counts as two.
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
        self.marked: bool = False  # True if an operator of the graph belongs to this call

    def calls(self) -> "Iterator[Layer]":
        """Iterate over this call and all calls within it, in order."""
        yield self
        for layer in self.inner:
            yield from layer.calls()

    def look(self) -> Any:
        """Return a key that is equal for calls with the same row in the table."""
        own = (self.kind, tuple(self.outputs), self.parameters, self.trained, self.shared, self.flops, self.times)
        return own, tuple(layer.look() for layer in self.inner)

    def __repr__(self) -> str:
        return f"Layer({self.path or self.kind}: {self.outputs})"


def layers(net: Cell, *inputs: Any) -> Layer:
    """Trace a network and return the calls of its Cells.

    Args:
        net (Cell): The network.
        inputs: Inputs of the call. A Tensor can be replaced by its shape (dtype float32) or by a pair (shape, dtype).
            If the only input is a dataset, the shapes of its columns are used, as many as `construct` takes.

    Returns:
        Layer, the call of the network itself.

    Raises:
        TypeError: If `net` is not a Cell, or `construct` needs other inputs.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'summary', 'net' should be a Cell, but got {describe(net)}.")
    args = _make_trace_arguments(net, inputs)
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
    _drop_unused_calls(calls[0])
    _count_parameters(calls[0])
    return calls[0]


class _Trace:
    """One trace of a network, which records the calls of Cells."""

    def __init__(self, net):
        self.net = net
        self.paths = {}  # keyed by the Cells themselves, which are compared by identity
        for path, cell in net.cells_and_names():
            self.paths[cell] = path
        self.calls, self.open = [], []

    def run(self, args):
        fn, args, kwargs, name, _ = self.net._graph_call(args, {})

        def run_recorded(*args, **kwargs):
            self.calls, self.open = [Layer(self.net, "", 0)], []  # the trace is repeated if it finds new Parameters
            self.open.append((self.calls[0], None))
            self.calls[0].inputs = _describe_tensors((args, kwargs))
            out = fn(*args, **kwargs)
            self.calls[0].outputs = _describe_tensors(out)
            return out

        listening = events.listen(entered=self.enter, left=self.leave, name="summary", here=True, vital=True)
        with listening:
            return find(self.net, run_recorded, args, kwargs, name, for_inspection=True, programs=Programs())[0]

    def enter(self, call):
        if not self.open or not isinstance(call.net, Cell):
            return
        around = self.open[-1][0]
        path = self.paths.get(call.net)
        if path is None:  # a Cell in a plain list, or created inside construct
            path = ".".join(filter(None, (around.path, f"({type(call.net).__name__})")))
        layer = Layer(call.net, path, around.depth + 1)
        layer.inputs = _describe_tensors((call.args, call.kwargs))
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
        layer.outputs = _describe_tensors(call.out)


def _describe_tensors(value):
    tensors = [leaf for leaf in flatten(value)[0] if isinstance(leaf, Tensor)]
    return [(str(t.dtype), tuple(t.shape), t.size * t._array.dtype.itemsize) for t in tensors]


def _drop_unused_calls(layer):
    """Drop calls without an operator in the graph if another call of the same Cell has one. The body of a loop is
    traced several times, but only one trace is used.
    """
    real = {id(inner.cell) for inner in layer.inner if inner.marked}
    layer.inner = [inner for inner in layer.inner if inner.marked or id(inner.cell) not in real]
    for inner in layer.inner:
        _drop_unused_calls(inner)


def _count_parameters(root):
    """Assign each Parameter to the first call of the Cell that owns it.

    A Cell that only lists Parameters of other Cells, such as an optimizer, does not own them.
    """
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
    """Return a copy in which equal neighbours are one call, and calls deeper than `depth` are added to enclosing calls.

    Args:
        layer (Layer): The result of `layers`.
        depth (int): Number of levels. Default: None, all of them.

    Returns:
        Layer. The argument is not modified.
    """
    merged = Layer(layer.cell, layer.path, layer.depth)
    merged.inputs, merged.outputs, merged.shared, merged.flops = layer.inputs, layer.outputs, layer.shared, layer.flops
    merged.parameters, merged.trained = layer.parameters, layer.trained
    if depth is not None and layer.depth >= depth:
        for inner in list(layer.calls())[1:]:
            merged.flops += inner.flops
            merged.parameters += inner.parameters
            merged.trained += inner.trained
            merged.shared = merged.shared or inner.shared
        return merged
    for inner in layer.inner:
        one = folded(inner, depth)
        before = merged.inner[-1] if merged.inner else None
        if before is not None and _has_equal_row(before, one):
            before.times += 1
            before.last = one.path
        else:
            merged.inner.append(one)
    return merged


def _has_equal_row(before, one):
    """Return True if a call has the same row in the table as `before`, apart from the number of calls."""
    times, before.times = before.times, 1
    try:
        return before.look() == one.look()
    finally:
        before.times = times


# ---------------------------------------------------------------------- inputs
def _make_trace_arguments(net, inputs):
    """Return the arguments of the trace, a tuple; a shape becomes a Tensor without values."""
    names = net.argument_names
    if len(inputs) == 1 and isinstance(inputs[0], Dataset):
        types, shapes = inputs[0].output_types(), inputs[0].output_shapes()
        column_count = len(shapes) if any(name.startswith("*") for name in names) else len(names)
        return tuple(
            _make_tensor_of_shape(shape, kind) for shape, kind in list(zip(shapes, types, strict=True))[:column_count]
        )
    needed = [p.name for p in _list_positional_parameters(net) if p.default is p.empty][len(inputs) :]
    if needed:
        raise TypeError(
            f"For 'summary', construct of {type(net).__name__} also takes {', '.join(needed)}: give a Tensor, a shape "
            f"such as (1, 3, 32, 32), or a data set."
        )
    return tuple(map(_to_input, inputs))


def _list_positional_parameters(net):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(net.construct).parameters.values() if p.kind in kinds]


def _to_input(value):
    if _is_shape(value):
        return _make_tensor_of_shape(value, mstype.float32)
    if (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and _is_shape(value[0])
        and isinstance(value[1], mstype.Type)
    ):
        return _make_tensor_of_shape(*value)
    return _make_tensor_of_shape(value.shape, value.dtype) if isinstance(value, np.ndarray) else value


def _is_shape(value):
    is_int_sequence = isinstance(value, (tuple, list)) and all(type(size) is int and size >= 0 for size in value)
    return is_int_sequence and len(value) > 0


def _make_tensor_of_shape(shape, kind):
    kind = mstype.np_dtype(kind) if isinstance(kind, mstype.Type) else kind
    return box(jax.ShapeDtypeStruct(tuple(shape), kind))
