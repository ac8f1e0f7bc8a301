"""Compute a node with other attributes of its operator, such as another epsilon, axis or probability.

A float attribute can be an input of the compiled program, unless the operator's Python code depends on its value. Other
values then need no compilation. Integers, such as an axis, are constants of the program.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax

from msnb.core.operator.operator_types import Operator
from msnb.insight.interventions.changes import UnsuitableValue
from msnb.ir.anf import CNode
from msnb.nn.graph_cell import operator_of

_AXIS = re.compile("axis|axes|dim")


class NumericAttribute(NamedTuple):
    """A number among the attributes of a node.

    Attributes:
        name (str): name of the attribute.
        value (Union[int, float]): its value in the network.
        is_traced (bool): True if it can be an input of the compiled program.
    """

    name: str
    value: int | float
    is_traced: bool


def check_attributes(node: CNode, values: Mapping[str, Any]) -> Operator:
    """Check that the operator of a node accepts these values of its attributes, and return the operator.

    Raises:
        UnsuitableValue: If the node has no such attribute, or an attribute does not take its value.
    """
    op = operator_of(node)
    if op is None or node.kernel is None or len(node.kernel.jaxpr.invars) != _count_array_inputs(op, node):
        raise UnsuitableValue(f"{node.op} has no attributes that can be exchanged")
    names = _list_attribute_names(op, node)
    for name in values:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, n=1) or [one for one in names if one.startswith(name)]
            hint = f"the nearest is '{nearest[0]}'" if nearest else f"it has {', '.join(names) or 'none'}"
            raise UnsuitableValue(f"{node.op} has no attribute '{name}'; {hint}")
    try:
        op.kernel_of_call({**node.attrs, **values}, node.layout)
    except (TypeError, ValueError) as error:
        raise UnsuitableValue(_shorten_error_message(error)) from None
    return op


def evaluate_with(
    node: CNode, values: Mapping[str, Any], args: Sequence[Any], traced: Mapping[str, Any] | None = None
) -> Sequence[Any]:
    """Return the results of a node with other attributes, inside a trace.

    Args:
        node (CNode): the node.
        values (dict): name of an attribute -> value.
        args (Sequence): inputs of the equation of the node.
        traced (dict): attributes whose values are traced numbers. Default: None.

    Raises:
        UnsuitableValue: If the node can't be computed with them, or a result has another shape or dtype.
    """
    op = check_attributes(node, values)
    kernel = op.kernel_of_call({**node.attrs, **values}, node.layout, dict(traced or {}))
    try:
        results = kernel.run(*args)
    except (TypeError, ValueError, IndexError, NotImplementedError) as error:
        raise UnsuitableValue(_shorten_error_message(error)) from None
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(node.kernel.out_avals):
        raise UnsuitableValue("it also computes values for a gradient; view the network without its gradient")
    for new, old in zip(results, node.kernel.out_avals, strict=True):
        if new.shape != old.shape or new.dtype != old.dtype:
            raise UnsuitableValue(
                f"a result would be {new.dtype}{list(new.shape)} in place of {old.dtype}{list(old.shape)}"
            )
    return results


def accepts_traced(node: CNode, name: str, value: float) -> bool:
    """Return True if an attribute of a node can be an input of the compiled program."""
    if type(value) is not float:
        return False
    try:
        jax.eval_shape(
            lambda number, *args: tuple(evaluate_with(node, {name: value}, args, {name: number})),
            value,
            *node.kernel.in_avals,
        )
    except (UnsuitableValue, TypeError):  # JAX's errors about concrete values are TypeErrors
        return False
    return True


def numeric_attributes(node: CNode) -> list[NumericAttribute]:
    """Return the attributes of a node that a slider can change: floats, and integers that number an axis.

    Other integers are sizes, which must match the shapes, or they select a mode.
    """
    op = operator_of(node)
    if op is None or node.kernel is None:
        return []
    attributes = []
    for name in _list_attribute_names(op, node):
        value = as_number(node.attrs.get(name))
        if value is None or type(value) is int and not _AXIS.search(name):
            continue
        is_traced = accepts_traced(node, name, value)
        if is_traced or any(_accepts_value(node, name, other) for other in _make_nearby_values(value)):
            attributes.append(NumericAttribute(name, value, is_traced))
    return attributes


def as_number(value: Any) -> int | float | None:
    """Return an attribute as a number, or None if it is not a number. A tuple of one number, such as an axis, is
    unpacked.
    """
    if isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    return value if type(value) in (int, float) else None


def _make_nearby_values(value):
    return (value - 1, value + 1) if type(value) is int else (value / 2, value + 0.1)


def _accepts_value(node, name, value):
    try:
        jax.eval_shape(lambda *args: tuple(evaluate_with(node, {name: value}, args)), *node.kernel.in_avals)
    except UnsuitableValue:
        return False
    return True


def _list_attribute_names(op, node):
    """Return the names of attributes and static inputs of a node."""
    static = [inp.name for inp, entry in zip(op.inputs, node.layout or ()) if entry == -1]
    return [name for name in (*op.attributes, *static) if name in node.attrs]


def _count_array_inputs(op, node):
    """Return the number of arrays that a call of the operator takes, a random key included."""
    entries = node.layout or (1,) * len(op.inputs)
    return sum(entry[0] if isinstance(entry, tuple) else max(entry, 0) for entry in entries) + op.random


def _shorten_error_message(error):
    text = str(error).strip().split("\n")[0]
    return text.removesuffix(".") or type(error).__name__
