"""Names of operators in a graph: readable text, and an object with the operator's settings.

A call of an operator is one named `jax.jit`. The text shows attributes that differ from the operator's defaults,
``LayerNorm[epsilon=1e-05]``. Equal settings have equal texts in every process. The name is a parameter of the equation
and an object, a `GraphName`, that also has all settings. A Program lists the names of its graph (`number_names`). If
calls with different settings have equal texts, it adds a number to the text.
"""

import functools
import re
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.common import dtype as mstype
from msnb.common.kinds import hashable
from msnb.core.compat.jax_private import map_nested_graphs

_LONGEST = 96  # maximum length of the text in brackets: XLA uses names as file names
_LONGEST_VALUE = 32
_MAX_ITEMS = 6  # maximum number of elements of a tuple in the text
_UNSAFE = re.compile(r"[^\w.+\-=(),]", re.ASCII)  # characters that a name stack, StableHLO or HLO text would escape
_UNSAFE_IN_STRING = re.compile(r"[^\w.+\-]", re.ASCII)
_OPERATOR = re.compile(r"[^\[#]+")


class OpInfo(NamedTuple):
    """The operator and the settings that a name in a graph represents.

    Attributes:
        operator (str): Name of the operator.
        attributes (dict): Its attributes and static inputs, in normal form.
        marks (dict): Further settings of the Primitive: ``"strategy"`` by `shard`, ``"stage"`` by `set_stage`, other
            names by `add_prim_attr`.
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
        """The sharding strategy, or None."""
        return self.settings.get("strategy")

    @property
    def stage(self) -> int | None:
        """The pipeline stage, or None."""
        return self.settings.get("stage")


class GraphName(str):
    """Name of an operator's call in a graph: a text with its `OpInfo`.

    Attributes:
        meaning (OpInfo): Operator and settings.
        layout (tuple): Kind of each input of the operator: 1 for a Tensor, 0 for an absent input, -1 for a static
            value, ``(n,)`` for a tuple of n Tensors. None if each input is one Tensor.
    """

    __slots__ = ("meaning", "layout")

    def __new__(cls, text: str, meaning: OpInfo | None = None, layout: tuple[Any, ...] | None = None) -> "GraphName":
        name = super().__new__(cls, text)
        name.meaning = OpInfo(operator_in(text), {}, {}) if meaning is None else meaning
        name.layout = layout
        return name

    @property
    def gradient(self) -> "GraphName":
        """Name of the operator's pullback, with the same settings."""
        operator, attributes, marks = self.meaning
        return GraphName(f"{operator}Grad{self[len(operator) :]}", OpInfo(f"{operator}Grad", attributes, marks))


def graph_name(
    operator: str,
    settings: dict[str, Any],
    defaults: dict[str, Any] | None = None,
    marks: dict[str, Any] | None = None,
    layout: tuple[Any, ...] | None = None,
) -> GraphName:
    """Return the name of a call of an operator in a graph.

    Args:
        operator (str): Name of the operator.
        settings (dict): Its attributes and static inputs.
        defaults (dict): Values that the text omits. Default: None, it omits none.
        marks (dict): Further settings, see `OpInfo`. Default: None.
        layout (tuple): Kind of each input, see `GraphName`; not part of the text. Default: None.

    Returns:
        GraphName.

    Examples:
        >>> graph_name("LayerNorm", {"begin_norm_axis": 1, "epsilon": 1e-5}, {"begin_norm_axis": 1, "epsilon": 1e-7})
        'LayerNorm[epsilon=1e-05]'
    """
    defaults, marks = defaults or {}, dict(marks or {})
    settings_text = [
        f"{key}={format_short(v)}"
        for key, v in settings.items()
        if key not in defaults or not _are_settings_equal(v, defaults[key])
    ]
    inside = ",".join(settings_text + [f"{key}={format_short(value)}" for key, value in marks.items()])
    text = _UNSAFE.sub("_", operator)
    if inside or not text[:1].isupper():  # in HLO, brackets distinguish it from a function of jax.numpy
        text += f"[{_truncate_text(inside, _LONGEST)}]"
    return GraphName(text, OpInfo(operator, settings, marks), layout)


def operator_in(text: str) -> str:
    """Return the operator's name in `text`, a name of a call in a graph, in HLO or in a trace."""
    match = _OPERATOR.match(text)
    return match.group() if match else text


def attributes_of(graph_name: str) -> tuple[str, dict[str, Any]]:
    """Return (operator name, attributes) of a name in a graph.

    A plain string has no attributes; a Program's `names` has them.
    """
    if isinstance(graph_name, GraphName):
        return graph_name.meaning[:2]
    return operator_in(graph_name), {}


def number_names(jaxpr: Any) -> tuple[Any, dict[str, GraphName]]:
    """Collect the operator names in a jaxpr, and make the printed names unique by a number.

    Args:
        jaxpr (ClosedJaxpr): The graph with the calls of operators.

    Returns:
        tuple, the graph and a dict {name: OpInfo}. If operators with different attributes have the same printed
        name, all but the first one get a number in the returned graph: ``Const[value=float32(9)]`` and
        ``Const[value=float32(9)]#2``.
    """
    table, numbered = {}, {}

    def rename(name):
        if not isinstance(name, GraphName):
            return name
        first = table.get(name)
        if first is None:
            table[name] = name.meaning
        elif first is not name.meaning and not _are_settings_equal(first, name.meaning):
            mates = numbered.setdefault(str(name), [])
            mate = next((mate for mate in mates if _are_settings_equal(mate.meaning, name.meaning)), None)
            if mate is None:
                mate = GraphName(f"{name}#{len(mates) + 2}", name.meaning)
                mates.append(mate)
                table[mate] = mate.meaning
            return mate if mate.layout == name.layout else GraphName(mate, mate.meaning, name.layout)
        return name

    return _rename_calls(jaxpr, rename, {}), table


def _rename_calls(jaxpr, rename, cache):
    """Apply `rename` to the name of each call in a jaxpr, open or closed, at any depth."""
    entry = cache.get(id(jaxpr))
    if entry is None:
        inner = _rename_calls_in_equations(jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr, rename, cache)
        if isinstance(jaxpr, ClosedJaxpr):
            inner = jaxpr if inner is jaxpr.jaxpr else jaxpr.replace(jaxpr=inner)
        entry = cache[id(jaxpr)] = inner, jaxpr  # the reference keeps the id unique
    return entry[0]


def _rename_calls_in_equations(jaxpr, rename, cache):
    rename_nested = functools.partial(_rename_calls, rename=rename, cache=cache)
    eqns, changed = [], False
    for eqn in jaxpr.eqns:
        new = map_nested_graphs(eqn.params, rename_nested)
        name = eqn.params.get("name")
        if (other := rename(name)) is not name:
            new["name"] = other
        if new:
            eqn, changed = eqn.replace(params={**eqn.params, **new}), True
        eqns.append(eqn)
    return jaxpr.replace(eqns=eqns) if changed else jaxpr


# ---------------------------------------------------------------------- values
def format_short(value: Any) -> str:
    """Return a value as a short text without characters that HLO escapes. Unequal values may share a text."""
    return _truncate_text(_UNSAFE.sub("_", _format_value(value)), _LONGEST_VALUE)


def _format_value(value):
    if isinstance(value, str):
        return _UNSAFE_IN_STRING.sub("_", value)
    if isinstance(value, (bool, int, float, complex, mstype.Type, type(None))):
        return str(value)
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, (tuple, list)):
        items = [format_short(v) for v in value[:_MAX_ITEMS]]
        if len(value) > _MAX_ITEMS:
            items.append(f"..+{len(value) - _MAX_ITEMS}")
        return f"({','.join(items)}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"({','.join(f'{key}={format_short(v)}' for key, v in value.items())})"
    if isinstance(value, slice):
        return "..".join("" if v is None else format_short(v) for v in (value.start, value.stop))
    if isinstance(value, np.generic):
        return str(value.item())
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        if isinstance(value, np.ndarray) and value.size <= 4:
            return _format_value(tuple(value.tolist()) if value.ndim == 1 else value.tolist())
        return f"{_format_value(dtype)}({','.join(map(str, shape))})"
    return getattr(value, "__name__", None) or type(value).__name__


def _truncate_text(text, longest):
    if len(text) <= longest:
        return text
    text = text[: longest - 2] + ".."
    return text + ")" * (text.count("(") - text.count(")"))


def _are_settings_equal(some: Any, others: Any):
    """Return True if two settings are equal, types included: True differs from 1. An object always equals itself."""
    if some is others:
        return True
    if type(some) is not type(others):
        return False
    if isinstance(some, (tuple, list)):
        return len(some) == len(others) and all(map(_are_settings_equal, some, others))
    if isinstance(some, dict):
        return list(some) == list(others) and all(map(_are_settings_equal, some.values(), others.values()))
    if isinstance(some, (float, complex)):
        return repr(some) == repr(others)  # 0.0 differs from -0.0, and NaN equals NaN
    # a comparison of arrays on a device would wait for them
    if not isinstance(some, np.ndarray) and hasattr(some, "shape"):
        return False
    try:
        return bool(hashable(some) == hashable(others))
    except Exception:  # values that cannot be compared count as different
        return False
