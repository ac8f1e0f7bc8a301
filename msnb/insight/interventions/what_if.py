"""One run of a network with one changed value: the results, and how far each later value moves.

One compiled function is used for all nodes. Its inputs include the number of the changed node, a factor, a shift and a
channel. It also computes the values without an edit, so only the first edit compiles. A separate function is compiled
for each attribute of an operator.
"""

import dataclasses
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import remove_debug_callbacks
from msnb.core.errors.messages import describe
from msnb.core.jaxpr.instrument import Replace, evaluate_replaced
from msnb.core.program.xla_options import jit_quickly
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.core.support.lru_cache import LruCache
from msnb.core.support.type_promotion import is_inexact
from msnb.insight.debugger.names import place_of_node
from msnb.insight.gradients.rows import main_slots
from msnb.insight.instrument import list_points
from msnb.insight.interventions.attributes import accepts_traced, as_number, check_attributes, evaluate_with
from msnb.insight.interventions.changes import UnsuitableValue
from msnb.ir.anf import CNode

_EVERY_CHANNEL = -1
_NO_NODE = -1
_ATTRIBUTE_RUNS = 16  # maximum number of compiled functions for attributes, per program
_MOST_BYTES = 1 << 30  # maximum bytes of all values of a run


@dataclasses.dataclass(frozen=True)
class Edit:
    """A change of the main result of a node: ``value * factor + shift``, for one channel or all of them.

    Attributes:
        node (int): number of the node.
        factor (float): factor of the value; 0 removes it.
        shift (float): added to the value.
        channel (Union[int, None]): index along axis 1 of a value with 4 and more axes, else along the last axis.
    """

    node: int
    factor: float = 0.0
    shift: float = 0.0
    channel: int | None = None

    def __str__(self) -> str:
        where = "" if self.channel is None else f" in channel {self.channel}"
        if not self.factor:
            return f"set to {self.shift:g}{where}"
        shift = f" {'+' if self.shift > 0 else '-'} {abs(self.shift):g}" if self.shift else ""
        return f"times {self.factor:g}{shift}{where}"


@dataclasses.dataclass(frozen=True)
class AttributeEdit:
    """Another value of an attribute of a node.

    Attributes:
        node (int): number of the node.
        name (str): name of the attribute.
        value (Union[int, float]): its value.
    """

    node: int
    name: str
    value: int | float

    def __str__(self) -> str:
        return f"{self.name} = {self.value:g}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of an edit.

    Attributes:
        differences (dict[int, float]): number of a node -> norm of the difference of its value, divided by the norm of
            the value before. Nodes inside loops and branches and nodes that depend on a gradient are missing.
        before (list[jax.Array]): results of the network without the edit; None for one that depends on a gradient.
        after (list[jax.Array]): results of the network with the edit.
        has_gradients (bool): True if the graph computes gradients. They are not recomputed for the edit.
    """

    differences: dict[int, float]
    before: list[Any]
    after: list[Any]
    has_gradients: bool = False


class WhatIf:
    """Runs a program with edits of single nodes.

    Args:
        program (Program): the program of the network.
        inputs (list): its inputs.
    """

    def __init__(self, program: Any, inputs: list[Any]) -> None:
        self._form = _forms.get(program) or _forms.setdefault(program, _Form(program))
        self._inputs = inputs
        self._base: Any = None

    def run(self, edit: Edit | AttributeEdit) -> Outcome:
        """Return the outcome of an edit.

        The first edit of a value compiles, and so does the first edit of each attribute. Attributes that are integers,
        or on which the operator's Python code depends, compile for each new value.

        Raises:
            ValueError: If the value of the node can't be changed.
        """
        form = self._form
        number = form.number_of(edit)
        if self._base is None:
            form.check_size()
            self._base = form.run_base(self._inputs)
        results, values = self._base
        if isinstance(edit, AttributeEdit):
            after, differences = form.run_with_attribute(number, edit, values, self._inputs)
        else:
            channel = _EVERY_CHANNEL if edit.channel is None else edit.channel
            settings = np.int32(number), np.float32(edit.factor), np.float32(edit.shift), np.int32(channel)
            after, _, differences = form.run(settings, values, *self._inputs)
        ids = [point.node.id for point in form.points]
        moved = dict(zip(ids, np.asarray(differences).tolist(), strict=True))
        return Outcome(moved, form.shown_results(results), form.shown_results(after), form.has_gradients)


class _Form:
    """The compiled functions of one program: without a change, and with a change of one node."""

    def __init__(self, program):
        self._jaxpr = program.jaxpr
        if self._jaxpr.effects:
            self._jaxpr = self._jaxpr.replace(jaxpr=remove_debug_callbacks(self._jaxpr.jaxpr))
        points_by_key, graph = list_points(self._jaxpr, program.inputs, program.name)
        self._nodes = {node.id: node for node in graph.all_nodes()}
        self._after_gradients = _collect_nodes_after_gradients(graph)
        self.has_gradients = bool(self._after_gradients)
        n_results = program.n_results - bool(program.errors)
        self._is_shown = [node not in self._after_gradients for node, _ in graph.outputs[:n_results]]
        slots = main_slots(graph)
        self.points, inner_points, self._points_by_key = [], [], {}
        for key, points in points_by_key.items():
            for point in points:
                is_main = point.node is not None and point.slot == slots.get(point.node.id, 0)
                if is_main and self._is_changeable(point):
                    (inner_points if point.nested else self.points).append(point)
                    self._points_by_key.setdefault(key, []).append(point)
        self._changeable = [*self.points, *inner_points]
        self._index = {id(point): number for number, point in enumerate(self._changeable)}
        self._number = {point.node.id: number for number, point in enumerate(self._changeable)}
        self.run = jit_quickly(self._run_with_edit)
        self._traced_attributes: dict[tuple[int, str], bool] = {}
        self._attribute_runs: LruCache = LruCache(_ATTRIBUTE_RUNS)

    def _is_changeable(self, point):
        return is_inexact(point.dtype) and not point.in_condition and point.node not in self._after_gradients

    def shown_results(self, results):
        """Return the results of the network, None in place of those that depend on a gradient."""
        return [result if is_shown else None for result, is_shown in zip(results, self._is_shown, strict=False)]

    def number_of(self, edit):
        """Return the index of the point that an edit changes.

        Raises:
            ValueError: If there is no such node or channel, or its value can't be changed.
        """
        node = self._nodes.get(edit.node)
        if node is None:
            raise ValueError(f"The graph has no node {edit.node}.")
        if node in self._after_gradients:
            raise ValueError(
                f"{place_of_node(node)} depends on a gradient, which would not be that of the changed network. Select "
                "a node that the loss is computed from, or use msnb.intervene on the network around the training step."
            )
        if edit.node not in self._number:
            raise ValueError(
                f"The value of {place_of_node(node)} can't be changed here: {_explain_unchangeable(node)}."
            )
        number = self._number[edit.node]
        if isinstance(edit, AttributeEdit):
            if type(edit.value) not in (int, float):
                raise ValueError(f"'{edit.name}' should be a number, but got {describe(edit.value)}.")
            self._run_with_node_in_errors(node, lambda: check_attributes(node, {edit.name: edit.value}))
            return number
        length = _count_channels(self._changeable[number].shape)
        if edit.channel is not None and not 0 <= edit.channel < length:
            raise ValueError(f"{place_of_node(node)} has {length} channels, but 'channel' is {edit.channel}.")
        return number

    def check_size(self):
        """Raise ValueError if the values of all nodes do not fit in memory."""
        nbytes = sum(int(np.prod(point.shape, dtype=np.int64)) * point.dtype.itemsize for point in self.points)
        if nbytes > _MOST_BYTES:
            raise ValueError(
                f"The values of this run take {nbytes / 2**30:.1f} GiB, more than a view compares: run it on fewer "
                "examples, or use msnb.intervene."
            )

    def run_with_attribute(self, number, edit, base, inputs):
        """Return (results, differences) of a run in which a node has another attribute."""
        node = self._changeable[number].node
        before = as_number(node.attrs.get(edit.name))
        value = float(edit.value) if type(before) is float else edit.value
        is_traced = type(value) is float and self._is_attribute_traced(node, edit.name, value)
        key = number, edit.name, None if is_traced else (type(value).__name__, value)
        run = self._attribute_runs.get(key) or self._attribute_runs.recall(key)
        if run is None:

            def evaluate_node(args, traced):
                return evaluate_with(node, {edit.name: value}, args, {edit.name: traced} if is_traced else None)

            @jit_quickly
            def run(traced, base, *inputs):
                results, values = self._evaluate_changed(
                    inputs, lambda _, array: array, (number, lambda args: evaluate_node(args, traced))
                )
                return results, _compute_relative_differences(values, base)

        traced = value if is_traced else 0
        answer = self._run_with_node_in_errors(node, lambda: run(traced, base, *inputs))
        self._attribute_runs.keep(key, run)
        return answer

    def _is_attribute_traced(self, node, name, value):
        """Return True if an attribute is an input of the compiled run, which does not depend on its value."""
        if (node.id, name) not in self._traced_attributes:
            self._traced_attributes[node.id, name] = accepts_traced(node, name, value)
        return self._traced_attributes[node.id, name]

    def _run_with_node_in_errors(self, node, run):
        try:
            return run()
        except UnsuitableValue as problem:
            raise ValueError(f"{place_of_node(node)} can't be changed in this way: {problem}.") from None

    def _evaluate_changed(self, inputs, change, evaluated=(None, None)):
        """Return (results, values of the points). `evaluated` is a pair (number of a point, function of the inputs of
        its equation that returns other results).
        """
        values: list[Any] = [None] * len(self.points)
        index = self._index

        class Edited(Replace):
            def evaluates(self, point):
                return index[id(point)] == evaluated[0]

            def evaluate(self, point, args):
                return evaluated[1](args)

            def replace(self, point, array, rounds):
                number = index[id(point)]
                new = change(number, array)
                if number < len(values):
                    values[number] = new
                return new

        results = evaluate_replaced(self._jaxpr, inputs, self._points_by_key, Edited(), while_over_tree)
        return results, values

    def run_base(self, inputs):
        """Return (results, values of the points) without a change."""
        zeros = [jnp.zeros(point.shape, point.dtype) for point in self.points]
        settings = np.int32(_NO_NODE), np.float32(0), np.float32(0), np.int32(_EVERY_CHANNEL)
        return self.run(settings, zeros, *inputs)[:2]

    def _run_with_edit(self, settings, base, *inputs):
        selected, factor, shift, channel = settings

        def change(number, array):
            new = (array * factor.astype(array.dtype) + shift.astype(array.dtype)).astype(array.dtype)
            new = jnp.where(factor == 0, jnp.full_like(array, shift), new)  # 0 * inf would be NaN
            is_changed = selected == number
            if array.ndim:
                axis = 1 if array.ndim >= 4 else array.ndim - 1
                at = jax.lax.broadcasted_iota(jnp.int32, array.shape, axis)
                is_changed = is_changed & ((channel == _EVERY_CHANNEL) | (at == channel))
            return jnp.where(is_changed, new, array)

        results, values = self._evaluate_changed(inputs, change)
        return results, values, _compute_relative_differences(values, base)


_forms: "WeakKeyDictionary[Any, _Form]" = WeakKeyDictionary()  # program -> its compiled functions


def _count_channels(shape):
    return (shape[1] if len(shape) >= 4 else shape[-1]) if shape else 1


def _compute_relative_differences(values, base):
    return jnp.stack([_compute_relative_difference(a, b) for a, b in zip(values, base, strict=True)])


def _compute_relative_difference(now, before):
    kind = jnp.complex64 if jnp.iscomplexobj(now) else jnp.float32
    now, before = now.astype(kind), before.astype(kind)
    moved, size = jnp.linalg.norm((now - before).ravel()), jnp.linalg.norm(before.ravel())
    return jnp.where(moved == 0, 0.0, moved / jnp.where(size == 0, 1.0, size))


def _explain_unchangeable(node: CNode) -> str:
    if not node.types or node.types[0].dtype in ("Key", "Bool") or "Int" in node.types[0].dtype:
        return "it is not a real number"
    return "it is in the condition of a loop"


def _collect_nodes_after_gradients(graph: Any) -> set[CNode]:
    """Return the nodes that compute gradients or depend on one."""
    after: set[CNode] = set()

    def visit(nodes, is_after):
        for node in nodes:
            inside = [inner for nested in node.graphs for inner in nested.all_nodes()]
            depends = is_after or any(source in after for source in node.inputs)
            if depends or any(each.direction != "forward" for each in (node, *inside)):
                after.add(node)
                visit(inside, True)

    visit(graph.nodes, False)
    return after
