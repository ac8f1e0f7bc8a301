"""What a value is while a MINDIR file is read: a result of a node, a function, a choice; names and types of a file."""

from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.formats import mindir
from msnb.ir.anf import AnfNode, CNode, TensorType
from msnb.nn.graph_cell import targets


class Ref(NamedTuple):
    """A result of a node."""

    node: AnfNode
    slot: int


class Closure(NamedTuple):
    """A function with its first arguments."""

    function: str
    values: tuple[Any, ...]


class Choice(NamedTuple):
    """One of two functions."""

    predicate: Any
    yes: Closure
    no: Closure


class Layers(NamedTuple):
    """One of several functions."""

    index: Any
    ways: tuple[Closure, ...]


class Again(NamedTuple):
    """The next round of a loop, or what follows both branches: a call that whoever looks for it makes."""

    function: str
    values: tuple[Any, ...]


class Order:
    """What only says in which order something happens: a point in time.

    Args:
        written (dict): The Parameters that were given another value before that time -> that value.
    """

    def __init__(self, written: dict[AnfNode, Ref] | None = None) -> None:
        self.written = written or {}

    def __repr__(self) -> str:
        return "U"

    def loaded(self, value: Any) -> Any:
        """What a Parameter is at this time; everything else is what it is."""
        return self.written.get(value.node, value) if isinstance(value, Ref) else value

    def after(self, values: Any) -> "Order":
        """The time when `values` are there as well."""
        written = dict(self.written)
        for leaf in leaves(values):
            if isinstance(leaf, Order):
                written.update(leaf.written)
            elif isinstance(leaf, Ref) and isinstance(leaf.node, CNode):
                written.update((leaf.node.inputs[i], Ref(leaf.node, slot)) for slot, i in enumerate(targets(leaf.node)))
        return Order(written)


ORDER = Order()


class Hole(NamedTuple):
    """Where the results of two branches differ."""

    place: int


NamedTuples = (Ref, Closure, Choice, Layers, Again, Hole)


def filled(value, refs):
    """A merged value with the results of the Switch in its holes."""
    if isinstance(value, Hole):
        return refs[value.place]
    if isinstance(value, (Again, Closure)):
        return type(value)(value.function, filled(tuple(value.values), refs))
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return tuple(filled(item, refs) for item in value)
    return value


def same(a, b):
    if isinstance(a, Ref) or isinstance(b, Ref):
        return isinstance(a, Ref) and isinstance(b, Ref) and a.node is b.node and a.slot == b.slot
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b
    return type(a) is type(b) and a == b


def is_leaf(value):
    return isinstance(value, (Ref, bool, int, float, np.ndarray))


def leaves(value):
    """The Tensors and constants of nested tuples in order."""
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def slot_of(value):
    return value.slot if isinstance(value, Ref) else 0


# ---------------------------------------------------------------------- names and types
def own_name(name):
    """A name without the function that it stands in."""
    return name.partition(":")[2] or name


def class_name(name):
    """The name of the class: ``70_1_net_LeNet_construct_14`` is LeNet."""
    parts = name.split("_")
    if "construct" in parts:
        return parts[parts.index("construct") - 1] or name
    return name


def is_spelling(attribute):
    return attribute.get("name") in ("input_names", "output_names", "shape")


def spelled(dtype):
    return str(mstype.pytype_to_dtype(np.dtype(dtype)))


def type_of(tensor):
    dtype, shape = mindir.type_of(tensor)
    return TensorType(spelled(dtype), shape, dtype.itemsize)


def types_of(abstract):
    """What a node gives, Tensor by Tensor."""
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
    return TensorType(spelled(array.dtype), array.shape, array.dtype.itemsize)
