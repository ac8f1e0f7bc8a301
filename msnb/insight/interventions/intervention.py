"""`intervene`: change values inside a network while a `with` block runs.

A call of the network inside the block is traced separately. Its graph is evaluated with new values at the selected
nodes, and the trace around it continues with the result. A gradient therefore differentiates the changed network.

The network's own programs are not modified. The changed programs are cached separately. Numbers of a change, such as a
factor or the index of a channel, are inputs of the changed program, so other numbers need no compilation.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import jax
import numpy as np

from msnb import context, log
from msnb.core.compat.jax_private import eval_jaxpr
from msnb.core.errors.messages import describe
from msnb.core.errors.source_location import format_location
from msnb.core.jaxpr.instrument import Measure, Replace, evaluate_replaced
from msnb.core.jaxpr.instrument import instrument as measure_points
from msnb.core.program.program_cache import Programs, new_programs, programs_of
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.core.state import interventions
from msnb.core.support.lru_cache import LruCache
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.jit import JitFunction, ms_function
from msnb.core.transforms.rewritten_call import call_rewritten
from msnb.insight.debugger.names import name_of_node
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.gradients.rows import main_slots
from msnb.insight.instrument import Point, list_points
from msnb.insight.interventions.attributes import check_attributes, evaluate_with
from msnb.insight.interventions.changes import AttributeChange, UnsuitableValue, as_change, check_indices
from msnb.ir.anf import CNode
from msnb.ir.api import name_of

_PLANS = "interventions"  # key of the plans in `Programs.extras`


def intervene(net: Any, changes: Mapping[Any, Any]) -> "Intervention":
    """Change values inside a network while a `with` block runs.

    Values are replaced before the network is differentiated, so gradients are those of the changed network. It works
    for calls of the network itself, and for calls inside other networks, gradients and trainings.

    Args:
        net (Union[Cell, Callable]): the network or function. Use the result of `with` to call a plain function.
        changes (dict): query of nodes -> change. A query is as in the search of the graph view, such as
            ``"scope:layer3 op:ReLU"``, or the number of a node. A change is from `msnb.interventions`, a function of
            the value (a Tensor) that returns one of the same shape and dtype, or a list of these.

    Returns:
        Intervention, for `with`.

    Raises:
        TypeError: If an argument has another type.
        ValueError: When the network is called, if no node matches or a value can't be changed in this way.

    In PYNATIVE mode the network runs as one compiled program inside the block, as in GRAPH mode: its Python code, such
    as `print`, runs when the program is traced, and results can differ in the last digits from operators that run one
    by one. The changes apply on all threads.

    Examples:
        >>> import msnb
        >>> from msnb import Tensor, nn
        >>> from msnb.interventions import scale, zero
        >>> net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones"), nn.ReLU())
        >>> with msnb.intervene(net, {"op:MatMul": scale(2), "op:ReLU": zero(channel=1)}):
        ...     print(net(Tensor([[1.0, 1.0]])))
        [[4. 0. 4.]]
    """
    return Intervention(net, changes)


class Intervention:
    """Changes of values inside a network; see `intervene`.

    Attributes:
        target (Union[Cell, JitFunction]): the network.
        nodes (list[CNode]): the nodes that have changed in the last trace; [] before the first call.
    """

    def __init__(self, net: Any, changes: Mapping[Any, Any]) -> None:
        self.target = _convert_to_target(net)
        self.key: Any = None  # the plan; None before the block is entered
        self._pairs = _parse_changes(changes)
        self._is_active = self._compiles = self._is_called = False

    @property
    def nodes(self) -> list[CNode]:
        return [] if self.key is None else list(self.key.nodes)

    def __enter__(self) -> Self:
        if self._is_active:
            raise RuntimeError("This intervention is active already. Make another one with msnb.intervene.")
        pairs = [(query, change.for_query(query)) for query, change in self._pairs]
        self.key = _get_plan(self.target, pairs)
        self.key.set_numbers(pairs)
        self.key.is_busy = self._is_active = True
        self._is_called = False
        # This attribute makes the network run as one program in PYNATIVE mode, too.
        self._compiles = not isinstance(self.target, JitFunction) and "_compile_always" not in vars(self.target)
        if self._compiles:
            vars(self.target)["_compile_always"] = True
        interventions.add(self)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Literal[False]:
        interventions.remove(self)
        self.key.is_busy = self._is_active = False
        if self._compiles:
            others = [each for each in interventions.active if each.target is self.target]
            if others:
                others[0]._compiles = True
            else:
                vars(self.target).pop("_compile_always", None)
        if error is not None and self._is_called and not self.key.nodes:
            if context.get_context("mode") == context.PYNATIVE_MODE:
                error.add_note(
                    f"intervene: inside the block {name_of(self.target)} runs as one compiled program, also in "
                    "PYNATIVE mode, so its code can't read values."
                )
        if not self.key.nodes and error is None:
            log.warning("%s", f"intervene: {name_of(self.target)} was not called in the block; nothing was changed.")
        return False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the network with the changes."""
        if self._is_active:
            return self.target(*args, **kwargs)
        with self:
            return self.target(*args, **kwargs)

    def __repr__(self) -> str:
        changes = ", ".join(f"{query!r}: {change}" for query, change in self._pairs)
        return f"Intervention({name_of(self.target)}, {{{changes}}})"

    # ------------------------------------------------------------------ called by core
    def programs(self, root: Any) -> Programs:
        """Return the programs of `root` that are traced while this is the last active intervention."""
        tables = programs_of(root).extras.setdefault((_PLANS, "programs"), LruCache(4))
        programs = tables.recall(self.key) if self.key not in tables else tables[self.key]
        return tables.keep(self.key, new_programs()) if programs is None else programs

    def call(
        self, own: list["Intervention"], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a traced call of the network with the changes of the interventions `own`."""
        self._is_called = True

        def evaluate(closed, inputs, arrays):
            points_by_key, graph = list_points(closed, inputs, name_of(self.target))
            rule = _Changes(graph, points_by_key)
            for each in own:
                rule.add(each.key)
            rule.compute_references(closed, arrays)
            return evaluate_replaced(closed, arrays, rule.points_by_key, rule, while_over_tree)

        params = list(self.target.get_parameters()) if hasattr(self.target, "get_parameters") else []
        return call_rewritten(function, params, args, kwargs, evaluate)


class _Plan:
    """The structure of an intervention, with the numbers of its changes as Parameters.

    Interventions of equal structure use the same plan and its compiled programs, but only one of them at a time.
    """

    def __init__(self, pairs):
        self.pairs = pairs
        self.parameters = [
            [
                Parameter(Tensor(number), name=f"intervention.{index}.{at}", requires_grad=False)
                for at, number in enumerate(change.numbers)
            ]
            for index, (_, change) in enumerate(pairs)
        ]
        self.nodes: list[CNode] = []
        self.values: dict[Any, Any] = {}  # (index of a change, number of a node) -> (node, shape) of the last trace
        self.is_busy = False

    def set_numbers(self, pairs):
        """Replace the numbers by those of other changes of the same structure."""
        self.pairs = pairs
        for (index, _), (node, shape) in self.values.items():
            _run_with_node_in_errors(
                pairs[index][1], node, lambda change, shape=shape: check_indices(change.axis_lengths(shape))
            )
        for (_, change), parameters in zip(pairs, self.parameters, strict=True):
            for parameter, number in zip(parameters, change.numbers, strict=True):
                parameter.set_data(Tensor(number))


def _get_plan(target, pairs):
    """Return an unused plan with the structure of these changes; a new one if there is none."""
    plans = programs_of(target).extras.setdefault((_PLANS, "plans"), LruCache(8))
    structure = tuple((query, change.structure) for query, change in pairs)
    plan = plans[structure] if structure in plans else plans.recall(structure)
    return plans.keep(structure, _Plan(pairs)) if plan is None or plan.is_busy else plan


class _Changes(Replace):
    """The changes of one graph.

    Attributes:
        points_by_key (dict): key of an equation -> points whose values change.
    """

    def __init__(self, graph, points_by_key):
        self._graph, self._main_slots = graph, main_slots(graph)
        self._located = {
            (point.node.id, point.slot): (key, point)
            for key, points in points_by_key.items()
            for point in points
            if point.node is not None
        }
        self._changes: dict[int, list[Any]] = {}  # id of a point -> [(change, its Parameters)]
        self._references: dict[int, Any] = {}
        self.points_by_key: dict[Any, list[Point]] = {}

    def add(self, plan):
        """Add the changes of a plan."""
        plan.nodes, plan.values = [], {}
        for index, ((query, change), parameters) in enumerate(zip(plan.pairs, plan.parameters, strict=True)):
            for node in select_nodes(self._graph, query):
                key, point = self._locate_changed_value(node, change)
                if id(point) not in self._changes:
                    self.points_by_key.setdefault(key, []).append(point)
                self._changes.setdefault(id(point), []).append((change, parameters))
                _run_with_node_in_errors(
                    change, node, lambda c, shape=point.shape: check_indices(c.axis_lengths(shape))
                )
                if isinstance(change, AttributeChange):
                    _run_with_node_in_errors(change, node, lambda c, node=node: check_attributes(node, c.attributes))
                plan.values[index, node.id] = node, point.shape
                plan.nodes.append(node)

    def _locate_changed_value(self, node, change):
        """Return (key, point) of the value of a node that `change` changes."""
        selection = change.selection
        if node.direction != "forward":
            raise ValueError(
                f"{_format_node_title(node)} belongs to a gradient that {self._graph.name} computes itself. "
                "Intervene on the "
                "network that is differentiated, such as the `network` of a training cell."
            )
        slot = self._main_slots.get(node.id, 0) if selection.output is None else selection.output
        if (node.id, slot) not in self._located:
            raise ValueError(f"{_format_node_title(node)} has {len(node.types)} results, so it has no 'output' {slot}.")
        key, point = self._located[node.id, slot]
        if point.in_condition:
            raise ValueError(
                f"{_format_node_title(node)} is in the condition of a loop, where no value can be replaced."
            )
        if point.vmapped:
            raise ValueError(
                f"{_format_node_title(node)} is inside a function that vmap maps, where its value has one "
                "more axis. Intervene on "
                "a node outside of it, or on the mapped function itself."
            )
        return key, point

    def compute_references(self, closed, arrays):
        """Compute the values that nodes have without any change, for changes that need them."""
        chosen: dict[Any, list[Point]] = {}
        for key, points in self.points_by_key.items():
            for point in points:
                frozen = [change for change, _ in self._changes[id(point)] if change.uses_reference]
                if frozen and point.nested:
                    raise ValueError(
                        f"{frozen[0]} can't change {_format_node_title(point.node)}: it is inside a loop or a branch."
                    )
                if frozen:
                    chosen.setdefault(key, []).append(point)
        if chosen:
            measured, points = measure_points(closed, chosen, _Values())
            values = eval_jaxpr(measured.jaxpr, measured.consts, *arrays)[len(closed.jaxpr.outvars) :]
            self._references = {id(point): value for point, value in zip(points, values, strict=True)}

    def evaluates(self, point: Point) -> bool:
        return any(isinstance(change, AttributeChange) for change, _ in self._changes[id(point)])

    def evaluate(self, point: Point, args: Any) -> Any:
        changes = [change for change, _ in self._changes[id(point)] if isinstance(change, AttributeChange)]
        attributes = {name: value for change in changes for name, value in change.attributes.items()}
        return _run_with_node_in_errors(changes[-1], point.node, lambda _: evaluate_with(point.node, attributes, args))

    def replace(self, point: Point, array: Any, rounds: tuple[Any, ...]) -> Any:
        for change, parameters in self._changes[id(point)]:
            numbers = [parameter._array for parameter in parameters]
            selected = change.selection.round
            if selected is not None and np.size(selected) != len(rounds):
                raise ValueError(_explain_invalid_round(point, selected, len(rounds)))
            reference = self._references.get(id(point))
            if change.selection.lane == "backward":
                if not is_inexact(array.dtype):
                    raise ValueError(f"{_format_node_title(point.node)} has no gradient: its value is {array.dtype}.")
                array = _change_cotangent(change, point, array, numbers, rounds)
            else:
                array = _apply_change(change, point, array, numbers, rounds, reference)
        return array


class _Values(Measure):
    """A Measure that returns the values themselves."""

    def measure(self, point: Any, array: Any) -> Any:
        return array


def _apply_change(change, point, array, numbers, rounds, reference=None):
    def run(change):
        new = change.apply(array, numbers, rounds, reference)
        if new.shape != array.shape or new.dtype != array.dtype:
            raise UnsuitableValue(f"it returned {describe(new)} for {describe(array)}")
        return new

    return _run_with_node_in_errors(change, point.node, run)


def _change_cotangent(change, point, array, numbers, rounds):
    """Return `array` with a custom gradient, which applies `change` to the cotangent."""

    @jax.custom_vjp
    def identity(value, *rest):
        return value

    def forward(value, *rest):
        return value, rest

    def backward(rest, cotangent):
        numbers_now, rounds_now = rest[: len(numbers)], rest[len(numbers) :]
        new = _apply_change(change, point, cotangent, list(numbers_now), tuple(rounds_now))
        return new, *map(_make_zero_cotangent, rest)

    identity.defvjp(forward, backward)
    return identity(array, *numbers, *rounds)


def _make_zero_cotangent(array):
    if is_inexact(array.dtype):
        return jax.numpy.zeros(array.shape, array.dtype)
    return np.zeros(array.shape, jax.dtypes.float0)


def _run_with_node_in_errors(change, node, run):
    """Return ``run(change)``. Convert an `UnsuitableValue` to a ValueError that names the node and its line."""
    try:
        return run(change)
    except UnsuitableValue as problem:
        raise ValueError(f"{change} can't change {_format_node_title(node)}: {problem}.") from None


def _format_node_title(node):
    line = "" if node.source is None else f", {format_location(*node.source[:2])}"
    return f"node {node.id} ({name_of_node(node)}{line})"


def _explain_invalid_round(point, selected, n_loops):
    if not n_loops:
        return f"{_format_node_title(point.node)} is not inside a loop, so 'round' does not apply."
    return (
        f"{_format_node_title(point.node)} is inside {'one loop' if n_loops == 1 else f'{n_loops} loops'}, "
        "so 'round' should be "
        f"{'one number' if n_loops == 1 else f'{n_loops} numbers, outermost loop first'}, but got {selected!r}."
    )


def _convert_to_target(net):
    if isinstance(net, JitFunction) or hasattr(net, "_graph_call") and hasattr(net, "construct"):
        return net
    if isinstance(net, type) or not callable(net) or hasattr(net, "__self__"):
        raise TypeError(f"For 'intervene', 'net' should be a Cell or a function, but got {describe(net)}.")
    return ms_function(net)


def _parse_changes(changes):
    """Return [(query, Change)]; the query is a str or the number of a node."""
    if not isinstance(changes, Mapping) or not changes:
        raise TypeError(
            f"For 'intervene', 'changes' should be a dict such as {{'op:ReLU': zero()}}, but got {describe(changes)}."
        )
    pairs = []
    for query, values in changes.items():
        if isinstance(query, CNode):
            query = query.id
        if isinstance(query, bool) or not isinstance(query, (str, int)):
            raise TypeError(f"A query of 'changes' should be words such as 'op:ReLU' or a number, but got {query!r}.")
        for value in values if isinstance(values, (list, tuple)) else [values]:
            pairs.append((query, as_change(value)))
    return pairs
