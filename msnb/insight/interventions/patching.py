"""Measure the contribution of each value to the difference between the results of two inputs.

Activation patching runs the network on one input and gives one node the value of a run on another input. All nodes
share one compiled program, which takes the number of the patched node as an input.

Attribution patching estimates the effects of all nodes from one gradient: difference of the values times gradient.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.messages import describe
from msnb.core.jaxpr.instrument import Replace, evaluate_replaced
from msnb.core.program.program_cache import programs_of
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.core.support.type_promotion import is_inexact
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.tensor import box
from msnb.core.transforms.jit import ms_function
from msnb.insight.debugger.names import line_of, name_of_node, place_of_node, short_line
from msnb.insight.debugger.replay import as_inputs, program_inputs
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.debugger.table import TextTable
from msnb.insight.gradients.rows import main_slots
from msnb.insight.instrument import list_points
from msnb.ir.anf import CNode, FuncGraph

_EXTRA = "patch"  # key of the compiled metric in `Programs.extras`
DEFAULT_NODES = "op:Add"  # the residual stream of most networks
_BATCH = 8  # nodes that are patched in one call
_BATCH_BYTES = 256 << 20  # maximum bytes of the patched values in one call


def measure_effects(
    net: Any, clean: Any, corrupt: Any, metric: Callable[..., Any], nodes: Any, is_estimate: bool
) -> "Patching":
    """Return the effects of nodes on a metric, see `msnb.patch`."""
    clean, corrupt = _as_tuple(clean), _as_tuple(corrupt)
    program, clean_inputs = program_inputs(net, *clean)
    other, corrupt_inputs = program_inputs(net, *corrupt)
    if other is not program:
        raise ValueError(
            "For 'patch', the two inputs should have the same shapes and dtypes, but got "
            f"{', '.join(map(describe, clean))} and {', '.join(map(describe, corrupt))}."
        )
    clean_inputs, corrupt_inputs = as_inputs(program, clean_inputs), as_inputs(program, corrupt_inputs)
    traced = _Metric(program, metric)
    forms, fixed = _get_forms(program, traced, nodes, is_estimate), traced.fixed
    metrics = float(forms.results(clean_inputs, fixed)), float(forms.results(corrupt_inputs, fixed))
    if is_estimate:
        effects = np.asarray(forms.attributions(clean_inputs, corrupt_inputs, fixed))
    else:
        effects = forms.patch_each(forms.values(clean_inputs), corrupt_inputs, fixed) - metrics[1]
    chosen = [point.node for point in forms.points]
    by_node = {node.id: float(effect) for node, effect in zip(chosen, effects, strict=True)}
    return Patching(program, forms.graph, chosen, by_node, *metrics, forms.skipped, is_estimate)


@dataclasses.dataclass(repr=False, eq=False)
class Patching:
    """The effect of each node on a metric; the result of `msnb.patch`.

    Attributes:
        program (Program): the program of the network.
        graph (FuncGraph): its graph.
        nodes (list[CNode]): the nodes that were patched.
        effects (dict[int, float]): number of a node -> change of the metric.
        clean (float): the metric of the clean input.
        corrupt (float): the metric of the corrupt input.
        skipped (dict[int, str]): number of a selected node -> the reason why it was not patched.
        is_estimate (bool): True for attribution patching.
    """

    program: Any
    graph: FuncGraph
    nodes: list[CNode]
    effects: dict[int, float]
    clean: float
    corrupt: float
    skipped: dict[int, str]
    is_estimate: bool

    def table(self) -> list[dict[str, Any]]:
        """Return a row per node, largest effect first: ``node`` (number), ``op``, ``scope``, ``line``, ``effect``, and
        ``share``, the effect divided by the difference of the metric between the inputs.
        """
        difference = self.clean - self.corrupt
        rows = [
            {
                "node": node.id,
                "op": node.op,
                "scope": node.scope,
                "line": None if node.source is None else node.source[1],
                "effect": self.effects[node.id],
                "share": self.effects[node.id] / difference if difference else float("nan"),
            }
            for node in self.nodes
        ]
        return sorted(rows, key=lambda row: -abs(row["effect"]))

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame.

        Raises:
            ImportError: If pandas is not installed.
        """
        import pandas  # imported here, because pandas is optional and slow to import

        return pandas.DataFrame(self.table())

    def column(self) -> dict[str, Any]:
        """Return the effects as a column for ``GraphView.set_column``."""
        label = "estimated effect" if self.is_estimate else "effect"
        nodes = list(self.graph.all_nodes())
        values = [self.effects.get(node.id) for node in nodes]
        return {"label": label, "values": values, "note": list(map(self._format_node_note, nodes)), "fold": "largest"}

    def _format_node_note(self, node):
        if node.id in self.skipped:
            return self.skipped[node.id]
        difference = self.clean - self.corrupt
        if node.id not in self.effects or not difference:
            return None
        return f"{self.effects[node.id] / difference:.1%} of the difference between the two inputs"

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table())

    def largest(self, count: int = 20) -> TextTable:
        """Return the largest effects as a table that is displayed as text or HTML.

        Args:
            count (int): number of nodes. Default: 20.
        """
        kind = "Estimated effect" if self.is_estimate else "Effect"
        nodes = {node.id: node for node in self.nodes}
        rows = [
            [
                f"{row['effect']:+.4g}",
                f"{row['share']:+.1%}" if row["share"] == row["share"] else "",  # NaN for equal metrics
                f"%{row['node']}",
                name_of_node(nodes[row["node"]]),
                short_line(line_of(nodes[row["node"]])),
            ]
            for row in self.table()[:count]
        ]
        title = (
            f"{kind} of each node on the metric, which is {self.corrupt:.4g} on the corrupt input and {self.clean:.4g} "
            "on the clean one. "
        )
        if self.clean != self.corrupt:
            title += "The share is the effect divided by the difference of the two."
        else:
            title += "There are no shares, because the inputs do not differ in it."
        if len(self) > count:
            title += f" The {count} largest of {len(self)} effects; table() has all."
        if self.skipped:
            title += f" {len(self.skipped)} selected nodes were left out; `skipped` says why."
        return TextTable(["effect", "share", "node", "name", "line"], rows, title=title)

    def __repr__(self) -> str:
        return str(self.largest())


class _Forms:
    """The compiled functions that patch the points of one program.

    Args:
        program (Program): the program of the network.
        metric (Metric): the metric.
        nodes (Any): query of the nodes.
        is_estimate (bool): True for attribution patching, which needs values with a gradient.
    """

    def __init__(self, program, metric, nodes, is_estimate):
        self._closed, self._metric = program.jaxpr, metric
        points_by_key, self.graph = list_points(program.jaxpr, program.inputs, program.name)
        self.skipped: dict[int, str] = {}
        self.points, self._points_by_key = self._select_points(points_by_key, nodes, is_estimate)
        self._index = {id(point): number for number, point in enumerate(self.points)}
        self.values = jax.jit(lambda inputs: self._evaluate_changed(inputs, _return_unchanged)[1])
        self.results = jax.jit(
            lambda inputs, fixed: metric(eval_jaxpr(self._closed.jaxpr, self._closed.consts, *inputs), fixed)
        )
        self.attributions = jax.jit(self._estimate_effects)
        self._patched = jax.jit(jax.vmap(self._compute_patched_metric, in_axes=(0, None, None, None)))

    def _select_points(self, points_by_key, nodes, is_estimate):
        slots = main_slots(self.graph)
        located = {
            point.node.id: (key, point)
            for key, points in points_by_key.items()
            for point in points
            if point.node is not None and point.slot == slots.get(point.node.id, 0)
        }
        selected, chosen = [], {}
        for node in self._select_nodes(nodes):
            key, point = located.get(node.id, (None, None))
            reason = _explain_unsuitable(node, point, is_estimate)
            if reason:
                self.skipped[node.id] = reason
            else:
                selected.append(point)
                chosen.setdefault(key, []).append(point)
        if not selected:
            raise ValueError(f"For 'patch', no selected node can be patched: {next(iter(self.skipped.values()))}.")
        return selected, chosen

    def _select_nodes(self, nodes):
        try:
            return select_nodes(self.graph, nodes)
        except ValueError as error:
            hint = " It is the default of `nodes`; pass another query." if nodes == DEFAULT_NODES else ""
            raise ValueError(f"For 'patch': {error}{hint}") from None

    def _evaluate_changed(self, inputs, change):
        """Return (outputs, values) of a run in which ``change(number, value)`` replaces the value of each point."""
        values: list[Any] = [None] * len(self.points)
        index = self._index

        class Patched(Replace):
            def replace(self, point, array, rounds):
                number = index[id(point)]
                values[number] = array
                return change(number, array)

        outputs = evaluate_replaced(self._closed, inputs, self._points_by_key, Patched(), while_over_tree)
        return outputs, values

    def _compute_patched_metric(self, number, values, inputs, fixed):
        """Return the metric of a run in which one point has the value of another run."""
        outputs, _ = self._evaluate_changed(inputs, lambda at, array: jnp.where(number == at, values[at], array))
        return self._metric(outputs, fixed)

    def patch_each(self, values, inputs, fixed):
        """Return the metric with each point patched, by runs for several points at once."""
        nbytes = max(1, sum(value.nbytes for value in values))
        count = len(self.points)
        batch = int(max(1, min(_BATCH, count, _BATCH_BYTES // nbytes)))
        numbers = np.arange(-(-count // batch) * batch, dtype=np.int32).reshape(-1, batch)
        return np.concatenate([self._patched(row, values, inputs, fixed) for row in numbers])[:count]

    def _estimate_effects(self, clean, corrupt, fixed):
        """Return the estimated effects, from one run on `clean` and one with a gradient on `corrupt`."""
        _, clean_values = self._evaluate_changed(clean, _return_unchanged)

        def shifted(shifts):
            outputs, values = self._evaluate_changed(corrupt, lambda number, array: array + shifts[number])
            return self._metric(outputs, fixed), values

        zeros = [jnp.zeros(point.shape, point.dtype) for point in self.points]
        result, pull, values = jax.vjp(shifted, zeros, has_aux=True)
        (gradients,) = pull(jnp.ones_like(result))
        return jnp.stack(
            [
                jnp.real(jnp.sum((before - now) * gradient)).astype(jnp.float32)
                for before, now, gradient in zip(clean_values, values, gradients, strict=True)
            ]
        )


def _return_unchanged(number, array):
    return array


class _Metric:
    """The metric as a function of the network's outputs and of other inputs.

    Attributes:
        program (Program): the traced metric.
        fixed (tuple): arrays of the inputs that are not results of the network, such as Parameters.
    """

    def __init__(self, program, metric):
        shapes = program.jaxpr.out_avals[: program.n_results - bool(program.errors)]
        examples = [box(jnp.zeros(shape.shape, shape.dtype)) for shape in shapes]
        results = program.results.build(examples)
        if not hasattr(metric, "_graph_call"):  # one compiled function for all calls of `patch`
            extras = programs_of(metric).extras
            metric = extras.get(_EXTRA) or extras.setdefault(_EXTRA, ms_function(metric))
        traced, arrays = program_inputs(metric, *(results if isinstance(results, tuple) else (results,)))
        shapes = traced.jaxpr.out_avals[: traced.n_results - bool(traced.errors)]
        if list(traced.results.static) != [None] or int(np.prod(shapes[0].shape)) != 1:
            returned = ", ".join(f"{shape.dtype}{shape.shape}" for shape in shapes) or "no Tensor"
            raise ValueError(f"For 'patch', 'metric' should return one number as a Tensor, but it returned {returned}.")
        output_of_array = {id(example._array): index for index, example in enumerate(examples)}
        self._sources = [output_of_array.get(id(array)) for array in arrays]
        self._jaxpr, self._consts = remove_debug_callbacks(traced.jaxpr.jaxpr), traced.jaxpr.consts
        self.program = traced
        self.fixed = tuple(array for array, source in zip(arrays, self._sources, strict=True) if source is None)

    def __call__(self, outputs, fixed):
        remaining = iter(fixed)
        arrays = [next(remaining) if source is None else outputs[source] for source in self._sources]
        return eval_jaxpr(self._jaxpr, self._consts, *arrays)[0].reshape(()).astype(jnp.float32)


_forms: "WeakKeyDictionary[Any, dict[Any, _Forms]]" = WeakKeyDictionary()  # program -> the forms of its last call


def _get_forms(program, metric, nodes, is_estimate):
    key = nodes.id if isinstance(nodes, CNode) else nodes, is_estimate, ObjectKey(metric.program)
    last = _forms.setdefault(program, {})
    if key not in last:
        forms = _Forms(program, metric, nodes, is_estimate)
        last.clear()
        last[key] = forms
    return last[key]


def _explain_unsuitable(node, point, is_estimate):
    """Return the reason why a node can't be patched, "" if it can."""
    if node.direction != "forward":
        return f"{place_of_node(node)} belongs to a gradient"
    if point is None or jax.dtypes.issubdtype(point.dtype, jax.dtypes.extended):
        return f"{place_of_node(node)} has no value of numbers"
    if point.nested:
        return f"{place_of_node(node)} is inside a loop or a branch, where it has no single value"
    if is_estimate and not is_inexact(point.dtype):
        return f"{place_of_node(node)} is {point.dtype}, which has no gradient"
    return ""


def _as_tuple(inputs):
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
