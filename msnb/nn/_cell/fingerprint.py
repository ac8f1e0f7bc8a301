"""Comparable form of the attributes of a Cell: programs are compiled again when it changes."""

from collections import OrderedDict

from msnb.common import dtype as mstype
from msnb.core.operator.annotations import changes
from msnb.core.state import trace_state
from msnb.core.tensor.cell_state import CellState
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor

# Bookkeeping attributes of a Cell. They never invalidate a compiled program.
INTERNAL = frozenset(
    (
        "_params",
        "_cells",
        "_programs",
        "_attr_name",
        "_id",
        "_auto_prefix",
        "_param_prefix",
        "_scope",
        "_pipeline_stage",
        "_phase",
        "cell_init_args",
        "__msnb_made_with__",
        "_create_time",
        "_bprop_debug",
        "_parallel_inputs",
        "_func_graph_flags",
        "_has_bprop",
        "_made_at",
        "_parts",
        "_buffers",
        "_state_hooks",
        "_layouts",
        "_compile_always",
    )
)


class IdentityKey:
    """A key that compares by identity. It keeps its object alive, so that the id is not reused."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, IdentityKey) and self.value is other.value

    __hash__ = None


def comparable_form(value):
    """Return an attribute in a form whose == compares everything that a graph depends on."""
    if value is None or isinstance(value, (bool, int, float, str, mstype.Type)):
        return type(value), value
    if isinstance(value, Parameter):
        return IdentityKey(value), value._requires_grad
    if type(value) is CellState:  # an input of the program, not a constant
        return IdentityKey(value)
    if isinstance(value, Tensor):
        trace_state.constants[value] = True
        return IdentityKey(value), IdentityKey(value._array)
    if type(value) in (tuple, list):
        return [comparable_form(v) for v in value]
    if type(value) in (dict, OrderedDict):
        return [(k, comparable_form(v)) for k, v in value.items()]
    return IdentityKey(value), changes(value)
