"""Values that exist while a MINDIR file is read: results of nodes, closures, choices. Names and types in the file."""

from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.formats import mindir
from msnb.ir.anf import AnfNode, CNode, TensorType
from msnb.nn.graph_cell import written_inputs


class Ref(NamedTuple):
    """Reference to one result of a node."""

    node: AnfNode
    slot: int


class Closure(NamedTuple):
    """A function of the file with values for its leading arguments."""

    function: str
    values: tuple[Any, ...]


class Choice(NamedTuple):
    """A choice between two functions by a predicate."""

    predicate: Any
    yes: Closure
    no: Closure


class IndexedChoice(NamedTuple):
    """A choice among several functions by an index."""

    index: Any
    closures: tuple[Closure, ...]


class BackEdge(NamedTuple):
    """A call that is not traced but returned to the caller.

    It starts the next iteration of a loop, or it is the call that follows both branches.
    """

    function: str
    values: tuple[Any, ...]


class EffectToken:
    """A token that orders side effects, like an effect token of JAX.

    Args:
        written (dict): {Parameter: its value after the writes before this token}.
    """

    def __init__(self, written: dict[AnfNode, Ref] | None = None) -> None:
        self.written = written or {}

    def __repr__(self) -> str:
        return "U"

    def load(self, value: Any) -> Any:
        """Return the value of a Parameter after the writes before this token, and any other value unchanged."""
        return self.written.get(value.node, value) if isinstance(value, Ref) else value

    def join(self, values: Any) -> "EffectToken":
        """Return a token that comes after this one and after all `values`."""
        written = dict(self.written)
        for leaf in leaves(values):
            if isinstance(leaf, EffectToken):
                written.update(leaf.written)
            elif isinstance(leaf, Ref) and isinstance(leaf.node, CNode):
                written.update(
                    (leaf.node.inputs[i], Ref(leaf.node, slot)) for slot, i in enumerate(written_inputs(leaf.node))
                )
        return EffectToken(written)


START = EffectToken()


class Placeholder(NamedTuple):
    """Stands for a value that differs between the results of two branches."""

    position: int


NamedTuples = (Ref, Closure, Choice, IndexedChoice, BackEdge, Placeholder)


def fill_placeholders(value, refs):
    """Replace the placeholders in a merged value by the results of the Switch."""
    if isinstance(value, Placeholder):
        return refs[value.position]
    if isinstance(value, (BackEdge, Closure)):
        return type(value)(value.function, fill_placeholders(tuple(value.values), refs))
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return tuple(fill_placeholders(item, refs) for item in value)
    return value


def is_same(a, b):
    if isinstance(a, Ref) or isinstance(b, Ref):
        return isinstance(a, Ref) and isinstance(b, Ref) and a.node is b.node and a.slot == b.slot
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b
    return type(a) is type(b) and a == b


def is_leaf(value):
    return isinstance(value, (Ref, bool, int, float, np.ndarray))


def leaves(value):
    """Return the Tensors and constants in nested tuples, in order."""
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def slot_of(value):
    return value.slot if isinstance(value, Ref) else 0


# ---------------------------------------------------------------------- names and types
def local_name(name):
    """Return a name without the prefix that names its function."""
    return name.partition(":")[2] or name


def class_name(name):
    """Return the class in the name of a function: ``70_1_net_LeNet_construct_14`` is LeNet."""
    words = name.split("_")
    if "construct" in words:
        return words[words.index("construct") - 1] or name
    return name


def is_spelling(attribute):
    return attribute.get("name") in ("input_names", "output_names", "shape")


def element_type_name(dtype):
    return str(mstype.pytype_to_dtype(np.dtype(dtype)))


def type_of(tensor):
    dtype, shape = mindir.type_of(tensor)
    return TensorType(element_type_name(dtype), shape, dtype.itemsize)


def types_of(abstract):
    """Return the types of a node's results, flattened."""
    kind = abstract.get("type")
    if kind in (mindir.TUPLE, mindir.LIST):
        return [t for item in abstract.get("values", []) for t in types_of(item)]
    if kind in (mindir.TENSORS, mindir.TENSOR):
        return [type_of(t) for t in abstract.get("tensors", [])]
    return [TensorType("Int64", (), 8)]


def type_of_either(pair):
    for value in pair:
        if isinstance(value, Ref):
            return value.node.types[value.slot]
    array = np.asarray(pair[0])
    return TensorType(element_type_name(array.dtype), array.shape, array.dtype.itemsize)
