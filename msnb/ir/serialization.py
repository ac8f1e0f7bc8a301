"""Convert a FuncGraph to plain rows, for pickling and for comparing two graphs.

Nodes are numbered in the order of execution, so a deep graph needs no deep recursion. For `CNode.kernel`, the jaxpr of
an operator, the rows contain only the primitives and their shapes, which reports need.
"""

import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))
_NODE = ("scope", "direction", "source", "id", "flops", "nbytes", "instruction", "origins", "problem", "layout")


class Graph(Protocol):
    """Attributes of `ir.anf.FuncGraph` that its rows store. `anf` imports this module, so its class is not imported
    here."""

    name: str
    parameters: Sequence[Any]
    nodes: Sequence[Any]
    outputs: Sequence[tuple[Any, int]]
    feeds: Sequence[int]
    free: int
    written: int


def of_graph(graph: Graph) -> Any:
    """Return the rows of a FuncGraph: (name, parameters, calls, outputs, feeds, free, written). Inner graphs are
    converted in the same way."""
    return _convert_graph_to_rows(graph, {}, {})


def _convert_graph_to_rows(graph, numbers, kernels):
    def number(node):
        return numbers.setdefault(node, len(numbers))

    def types(node):
        return tuple((t.dtype, t.shape, t.itemsize) for t in node.types)

    def values(uses):
        """Return the rows of the constants in `uses` that have no number yet."""
        new_rows = []
        for node in uses:
            if node not in numbers:
                number(node)
                new_rows.append(("value", types(node), _read_constant(node.value)))
        return tuple(new_rows)

    parameters = []
    for node in graph.parameters:
        number(node)
        parameters.append(("parameter", types(node), node.name, node.is_weight, node.requires_grad))
    calls = []
    for node in graph.nodes:
        constants = values(node.inputs)
        number(node)
        fields = {name: getattr(node, name) for name in _NODE}
        fields["attrs"] = tuple((key, _make_picklable(value)) for key, value in node.attrs.items())
        fields["kernel"] = _convert_kernel_to_rows(node.kernel, kernels)
        row = ("call", types(node), node.op, tuple(map(number, node.inputs)), tuple(node.slots), fields)
        calls.append((constants, row, tuple(_convert_graph_to_rows(inner, numbers, kernels) for inner in node.graphs)))
    last = values(node for node, _ in graph.outputs)
    if last:
        calls.append((last, None, ()))
    outputs = tuple((number(node), slot) for node, slot in graph.outputs)
    return (
        graph.name,
        tuple(parameters),
        tuple(calls),
        outputs,
        tuple(graph.feeds),
        graph.free,
        graph.written,
    )


def _read_constant(value):
    """Return the value of a constant on the host; None if it cannot be read."""
    if type(value) in _PLAIN or type(value) is np.ndarray or isinstance(value, np.generic):
        return value
    try:
        return np.asarray(value)
    except Exception:  # a random key, or an array that a step has donated
        return None


def _make_picklable(value):
    """Return an attribute, or its text if it cannot be pickled."""
    if type(value) in _PLAIN:
        return value
    try:
        pickle.dumps(value)
    except Exception:  # whatever the object's code raises
        return getattr(value, "__qualname__", None) or type(value).__qualname__
    return value


# ---------------------------------------------------------------------- kernels of operators
def _convert_kernel_to_rows(kernel, cache):
    """Return rows (primitive, inputs, outputs, inner rows) of a kernel, which is a jaxpr or a result of `open_kernel`.
    Return None if `kernel` is None.
    """
    if kernel is None:
        return None
    jaxpr = getattr(kernel, "jaxpr", kernel)
    entry = cache.get(id(jaxpr))
    if entry is None:
        rows = tuple(
            (
                eqn.primitive.name,
                tuple(map(_get_shape_and_dtype, eqn.invars)),
                tuple(map(_get_shape_and_dtype, eqn.outvars)),
                tuple(_convert_kernel_to_rows(inner, cache) for inner in _iterate_inner_jaxprs(eqn)),
            )
            for eqn in jaxpr.eqns
        )
        entry = cache[id(jaxpr)] = rows, jaxpr  # The jaxpr is stored too: its id is unique only while it is alive.
    return entry[0]


def _get_shape_and_dtype(var):
    return tuple(getattr(var.aval, "shape", ())), str(getattr(var.aval, "dtype", ""))


def _iterate_inner_jaxprs(eqn):
    for value in eqn.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(getattr(item, "jaxpr", item), "eqns"):
                yield item


def open_kernel(rows: Any) -> Any:
    """Return an object like a jaxpr for `CNode.kernel` in a graph that was read: `eqns` with primitives, shapes and
    inner jaxprs.
    """
    if rows is None:
        return None
    eqns = [
        SimpleNamespace(
            primitive=SimpleNamespace(name=name),
            invars=[_make_var(*each) for each in input_specs],
            outvars=[_make_var(*each) for each in output_specs],
            params={f"jaxpr{number}": open_kernel(each) for number, each in enumerate(inner)},
        )
        for name, input_specs, output_specs, inner in rows
    ]
    return SimpleNamespace(eqns=eqns)


def _make_var(shape, dtype):
    return SimpleNamespace(aval=SimpleNamespace(shape=shape, dtype=dtype))


# ---------------------------------------------------------------------- comparing
def is_equal(first: Any, second: Any) -> bool:
    """Return whether two rows, or parts of rows, are equal. NaN equals NaN, and arrays are compared element by
    element.
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(is_equal, first, second))
    if isinstance(first, dict):
        return list(first) == list(second) and all(map(is_equal, first.values(), second.values()))
    if isinstance(first, (np.ndarray, np.generic)):
        return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
    if isinstance(first, (float, complex)):
        return repr(first) == repr(second)
    try:
        return bool(first == second) or pickle.dumps(first) == pickle.dumps(second)
    except Exception:  # objects that cannot be compared are equal only to themselves
        return False
