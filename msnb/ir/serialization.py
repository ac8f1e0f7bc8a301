"""A FuncGraph as plain rows that say all of it: what is pickled, and what two graphs are compared by.

Nodes are numbered in the order of execution, so that a deep graph is no deep recursion. Of what an operator does
inside (`CNode.kernel`, a jaxpr) the primitives and their shapes are kept, which is what reports ask for.
"""

import pickle
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph

_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))
_NODE = ("scope", "direction", "source", "id", "flops", "nbytes", "instruction", "origins", "problem", "layout")


def of_graph(graph: "FuncGraph") -> Any:
    """The rows of a FuncGraph: (name, parameters, calls, outputs, feeds, free, written), inner graphs likewise."""
    return _graph(graph, {}, {})


def _graph(graph, numbers, kernels):
    def number(node):
        return numbers.setdefault(node, len(numbers))

    def types(node):
        return tuple((t.dtype, t.shape, t.itemsize) for t in node.types)

    def values(uses):
        """Rows of the constants among what is used that have no number yet."""
        found = []
        for node in uses:
            if node not in numbers:
                number(node)
                found.append(("value", types(node), _constant(node.value)))
        return tuple(found)

    parameters = []
    for node in graph.parameters:
        number(node)
        parameters.append(("parameter", types(node), node.name, node.is_weight, node.requires_grad))
    calls = []
    for node in graph.nodes:
        taken = values(node.inputs)
        number(node)
        fields = {name: getattr(node, name) for name in _NODE}
        fields["attrs"] = tuple((key, _picklable(value)) for key, value in node.attrs.items())
        fields["kernel"] = _kernel(node.kernel, kernels)
        row = ("call", types(node), node.op, tuple(map(number, node.inputs)), tuple(node.slots), fields)
        calls.append((taken, row, tuple(_graph(inner, numbers, kernels) for inner in node.graphs)))
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


def _constant(value):
    """A constant that needs no device; None for one whose value cannot be read."""
    if type(value) in _PLAIN or type(value) is np.ndarray or isinstance(value, np.generic):
        return value
    try:
        return np.asarray(value)
    except Exception:  # a random key, an array that a step has taken over
        return None


def _picklable(value):
    """An attribute, as its text where it cannot be pickled."""
    if type(value) in _PLAIN:
        return value
    try:
        pickle.dumps(value)
    except Exception:  # whatever the object's own code raises
        return getattr(value, "__qualname__", None) or type(value).__qualname__
    return value


# ---------------------------------------------------------------------- inside of operators
def _kernel(kernel, known):
    """Rows (primitive, inputs, outputs, inner rows) of a jaxpr or of what `opened` made; None for None."""
    if kernel is None:
        return None
    jaxpr = getattr(kernel, "jaxpr", kernel)
    found = known.get(id(jaxpr))
    if found is None:
        made = tuple(
            (
                eqn.primitive.name,
                tuple(map(_var, eqn.invars)),
                tuple(map(_var, eqn.outvars)),
                tuple(_kernel(inner, known) for inner in _inner(eqn)),
            )
            for eqn in jaxpr.eqns
        )
        found = known[id(jaxpr)] = made, jaxpr  # kept: its id is its own while it lives
    return found[0]


def _var(var):
    return tuple(getattr(var.aval, "shape", ())), str(getattr(var.aval, "dtype", ""))


def _inner(eqn):
    for value in eqn.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(getattr(item, "jaxpr", item), "eqns"):
                yield item


def opened(made: Any) -> Any:
    """What `CNode.kernel` is in a graph that was read: `eqns` with the primitives, shapes and inner ones of a jaxpr."""
    if made is None:
        return None
    eqns = [
        SimpleNamespace(
            primitive=SimpleNamespace(name=name),
            invars=[_spec(*each) for each in taken],
            outvars=[_spec(*each) for each in given],
            params={f"jaxpr{number}": opened(each) for number, each in enumerate(inner)},
        )
        for name, taken, given, inner in made
    ]
    return SimpleNamespace(eqns=eqns)


def _spec(shape, dtype):
    return SimpleNamespace(aval=SimpleNamespace(shape=shape, dtype=dtype))


# ---------------------------------------------------------------------- comparing
def alike(some: Any, others: Any) -> bool:
    """Whether two rows, or parts of them, say the same; a NaN is a NaN, and arrays are compared by their elements."""
    if some is others:
        return True
    if type(some) is not type(others):
        return False
    if isinstance(some, (tuple, list)):
        return len(some) == len(others) and all(map(alike, some, others))
    if isinstance(some, dict):
        return list(some) == list(others) and all(map(alike, some.values(), others.values()))
    if isinstance(some, (np.ndarray, np.generic)):
        return some.dtype == others.dtype and some.shape == others.shape and some.tobytes() == others.tobytes()
    if isinstance(some, (float, complex)):
        return repr(some) == repr(others)
    try:
        return bool(some == others) or pickle.dumps(some) == pickle.dumps(others)
    except Exception:  # objects that cannot be compared are equal only to themselves
        return False
