"""The names of operators in a graph: texts that a reader understands, objects that know what they stand for.

A call of an operator is one named `jax.jit`. The name says what differs from the operator's defaults,
``LayerNorm[epsilon=1e-05]``, and equal settings have equal names in every process. The object itself, which the
equation of the jaxpr holds, knows all settings: what a name means lives as long as something has that name, and
nowhere else. A Program lists the names of its graph (`named`), and numbers those that would share a text.
"""

import functools
import re
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.common import dtype as mstype
from msnb.common.kinds import hashable
from msnb.core.compat.jax_private import other_graphs

_LONGEST = 96  # letters of what stands in brackets: XLA makes file names of names
_LONGEST_VALUE = 32
_MOST = 6  # elements of a tuple that are shown
_UNSAFE = re.compile(r"[^\w.+\-=(),]", re.ASCII)  # whatever a name stack, StableHLO or HLO text would have to escape
_UNSAFE_IN_STRING = re.compile(r"[^\w.+\-]", re.ASCII)
_OPERATOR = re.compile(r"[^\[#]+")


class OpInfo(NamedTuple):
    """What a name in a graph stands for.

    Attributes:
        operator (str): Name of the operator.
        attributes (dict): Its attributes and static inputs, in normal form.
        marks (dict): What was set on the Primitive beyond these: ``"strategy"`` by `shard`, ``"stage"`` by
            `set_stage`, any other name by `add_prim_attr`.
    """

    operator: str
    attributes: dict[Any, Any]
    marks: dict[Any, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """Attributes and marks, as a node of the graph shows them."""
        return {**self.attributes, **self.marks}

    @property
    def strategy(self) -> Any:
        """The sharding strategy, None where there is none."""
        return self.settings.get("strategy")

    @property
    def stage(self) -> int | None:
        """The pipeline stage, None where there is none."""
        return self.settings.get("stage")


class GraphName(str):
    """Name of an operator's call in a graph: a text, and its `meaning`.

    Attributes:
        meaning (Meaning): What it stands for.
        layout (tuple): What the call was given for each input of the operator: 1 for a Tensor, 0 for none, -1 for a
            static value, ``(n,)`` for a tuple of n Tensors. None where each of them is one Tensor.
    """

    __slots__ = ("meaning", "layout")

    def __new__(cls, text: str, meaning: OpInfo | None = None, layout: tuple[Any, ...] | None = None) -> "GraphName":
        name = super().__new__(cls, text)
        name.meaning = OpInfo(operator_in(text), {}, {}) if meaning is None else meaning
        name.layout = layout
        return name

    @property
    def gradient(self) -> "GraphName":
        """Name of the operator's pullback, which has the same settings."""
        operator, attributes, marks = self.meaning
        return GraphName(f"{operator}Grad{self[len(operator) :]}", OpInfo(f"{operator}Grad", attributes, marks))


def graph_name(
    operator: str,
    settings: dict[str, Any],
    defaults: dict[str, Any] | None = None,
    marks: dict[str, Any] | None = None,
    layout: tuple[Any, ...] | None = None,
) -> GraphName:
    """Name under which a call of an operator shows in a graph.

    Args:
        operator (str): Name of the operator.
        settings (dict): Its attributes and static inputs.
        defaults (dict): Values that the text leaves out. Default: None, it leaves out none.
        marks (dict): What else the call was given, see `Meaning`. Default: None.
        layout (tuple): What each input was given, see `GraphName`; it is no part of the text. Default: None.

    Returns:
        GraphName.

    Examples:
        >>> graph_name("LayerNorm", {"begin_norm_axis": 1, "epsilon": 1e-5}, {"begin_norm_axis": 1, "epsilon": 1e-7})
        'LayerNorm[epsilon=1e-05]'
    """
    defaults, marks = defaults or {}, dict(marks or {})
    told = [f"{key}={short(v)}" for key, v in settings.items() if key not in defaults or not _same(v, defaults[key])]
    inside = ",".join(told + [f"{key}={short(value)}" for key, value in marks.items()])
    text = _UNSAFE.sub("_", operator)
    if inside or not text[:1].isupper():  # in HLO, brackets tell it from a function of jax.numpy
        text += f"[{_cut(inside, _LONGEST)}]"
    return GraphName(text, OpInfo(operator, settings, marks), layout)


def operator_in(text: str) -> str:
    """Name of the operator in the text of a name, wherever the text was found: in a graph, in HLO, in a trace."""
    found = _OPERATOR.match(text)
    return found.group() if found else text


def attributes_of(graph_name: str) -> tuple[str, dict[str, Any]]:
    """(operator name, attributes) of a name that stands in a graph; of a mere text only the operator is known, a
    Program's `names` knows the rest."""
    if isinstance(graph_name, GraphName):
        return graph_name.meaning[:2]
    return operator_in(graph_name), {}


def named(jaxpr: Any) -> tuple[Any, dict[str, GraphName]]:
    """What the names in a jaxpr stand for.

    Args:
        jaxpr (ClosedJaxpr): A graph.

    Returns:
        tuple, the graph and a dict {name: Meaning}. Where two settings share a text, all but the first one are
        numbered in the graph that is returned: ``Const[value=float32(9)]``, ``Const[value=float32(9)]#2``.
    """
    table, numbered = {}, {}

    def settled(name):
        if not isinstance(name, GraphName):
            return name
        known = table.get(name)
        if known is None:
            table[name] = name.meaning
        elif known is not name.meaning and not _same(known, name.meaning):
            mates = numbered.setdefault(str(name), [])
            mate = next((mate for mate in mates if _same(mate.meaning, name.meaning)), None)
            if mate is None:
                mate = GraphName(f"{name}#{len(mates) + 2}", name.meaning)
                mates.append(mate)
                table[mate] = mate.meaning
            return mate if mate.layout == name.layout else GraphName(mate, mate.meaning, name.layout)
        return name

    return _renamed(jaxpr, settled, {}), table


def _renamed(jaxpr, settled, known):
    """A jaxpr, open or closed, with `settled(name)` for the name of each call in it, however deep."""
    found = known.get(id(jaxpr))
    if found is None:
        inner = _renamed_equations(jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr, settled, known)
        if isinstance(jaxpr, ClosedJaxpr):
            inner = jaxpr if inner is jaxpr.jaxpr else jaxpr.replace(jaxpr=inner)
        found = known[id(jaxpr)] = inner, jaxpr  # the jaxpr is kept as well: its id is its own while it lives
    return found[0]


def _renamed_equations(jaxpr, settled, known):
    inside = functools.partial(_renamed, settled=settled, known=known)
    eqns, changed = [], False
    for eqn in jaxpr.eqns:
        new = other_graphs(eqn.params, inside)
        name = eqn.params.get("name")
        if (other := settled(name)) is not name:
            new["name"] = other
        if new:
            eqn, changed = eqn.replace(params={**eqn.params, **new}), True
        eqns.append(eqn)
    return jaxpr.replace(eqns=eqns) if changed else jaxpr


# ---------------------------------------------------------------------- values
def short(value: Any) -> str:
    """A value as a short text that no later reader of the name stumbles over. Unequal values may share it."""
    return _cut(_UNSAFE.sub("_", _short(value)), _LONGEST_VALUE)


def _short(value):
    if isinstance(value, str):
        return _UNSAFE_IN_STRING.sub("_", value)
    if isinstance(value, (bool, int, float, complex, mstype.Type, type(None))):
        return str(value)
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, (tuple, list)):
        told = [short(v) for v in value[:_MOST]]
        if len(value) > _MOST:
            told.append(f"..+{len(value) - _MOST}")
        return f"({','.join(told)}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"({','.join(f'{key}={short(v)}' for key, v in value.items())})"
    if isinstance(value, slice):
        return "..".join("" if v is None else short(v) for v in (value.start, value.stop))
    if isinstance(value, np.generic):
        return str(value.item())
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        if isinstance(value, np.ndarray) and value.size <= 4:
            return _short(tuple(value.tolist()) if value.ndim == 1 else value.tolist())
        return f"{_short(dtype)}({','.join(map(str, shape))})"
    return getattr(value, "__name__", None) or type(value).__name__


def _cut(text, longest):
    if len(text) <= longest:
        return text
    text = text[: longest - 2] + ".."
    return text + ")" * (text.count("(") - text.count(")"))


def _same(some: Any, others: Any):
    """Whether two settings are equal, types included: True is not 1 here, and one object is always equal to itself."""
    if some is others:
        return True
    if type(some) is not type(others):
        return False
    if isinstance(some, (tuple, list)):
        return len(some) == len(others) and all(map(_same, some, others))
    if isinstance(some, dict):
        return list(some) == list(others) and all(map(_same, some.values(), others.values()))
    if isinstance(some, (float, complex)):
        return repr(some) == repr(others)  # the two zeros are two, and a NaN is a NaN
    if not isinstance(some, np.ndarray) and hasattr(some, "shape"):  # comparing arrays on a device waits for them
        return False
    try:
        return bool(hashable(some) == hashable(others))
    except Exception:  # what cannot be compared is not known to be equal
        return False
