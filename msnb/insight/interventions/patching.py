"""`patch`: measure what each value contributes to a difference between two inputs.

Activation patching runs the network on one input and gives one node the value of a run on another input. All nodes
share one compiled program, which takes the number of the patched node as an input.

Attribution patching estimates the effects of all nodes from one gradient: difference of the values times gradient.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.messages import describe
from msnb.core.jaxpr.instrument import Replace, evaluate_replaced
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.tensor import box
from msnb.insight.debugger.replay import program_inputs
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.instrument import list_points
from msnb.ir.anf import CNode

_BATCH = 8  # nodes that are patched in one call
_BATCH_BYTES = 256 << 20  # of values that the nodes of one call may have


def patch(
    net: Any,
    clean: Any,
    corrupt: Any,
    metric: Callable[..., Any],
    nodes: Any = "op:Add",
    attribution: bool = False,
) -> "Patching":
    """Measure how much of the difference between two inputs each value of a network carries.

    The network runs on `corrupt`, and one node after the other gets the value that it has on `clean`. The effect of a
    node is the change of the metric. For the other direction, exchange the two inputs.

    Args:
        net (Union[Cell, Callable]): the network.
        clean (Union[Tensor, tuple]): input, or inputs, of the first run.
        corrupt (Union[Tensor, tuple]): input, or inputs, of the second run, of the same shapes and dtypes.
        metric (Callable): takes the results of the network and returns one number as a Tensor. It is traced.
        nodes (Any): query of the nodes, as in the search of the graph view. Default: "op:Add".
        attribution (bool): True to estimate all effects from one gradient: (clean - corrupt) * gradient. It takes
            about four passes for any number of nodes, and is exact where the network is linear. Default: False.

    Returns:
        Patching, the effects as a table.

    Raises:
        ValueError: If the inputs differ in shape or dtype, the metric is not one number, or no node can be patched.

    Examples:
        >>> result = msnb.patch(net, clean, corrupt, lambda logits: logits[0, 3] - logits[0, 5], nodes="op:Add")
        >>> result.table()[0]["node"]
    """
    forms = _Forms(net, _as_tuple(clean), _as_tuple(corrupt), metric, nodes, attribution)
    effects = forms.attribute() if attribution else forms.patch_each()
    return Patching(forms, effects, attribution)


class Patching:
    """The effect of each node on a metric; the result of `patch`.

    Attributes:
        graph (FuncGraph): the graph of the network.
        nodes (list[CNode]): the nodes that were patched.
        effects (dict[int, float]): number of a node -> change of the metric.
        clean (float): the metric of the clean input.
        corrupt (float): the metric of the corrupt input.
        skipped (dict[int, str]): number of a selected node -> the reason why it was not patched.
        is_estimate (bool): True for attribution patching.
    """

    def __init__(self, forms: "_Forms", effects: Sequence[float], is_estimate: bool) -> None:
        self.graph = forms.graph
        self.nodes: list[CNode] = [point.node for point in forms.points]
        self.effects: dict[int, float] = {
            node.id: float(effect) for node, effect in zip(self.nodes, effects, strict=True)
        }
        self.clean, self.corrupt = forms.metrics
        self.skipped: dict[int, str] = forms.skipped
        self.is_estimate = is_estimate

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
        import pandas  # to spare the import, and pandas itself, where nobody asks for it

        return pandas.DataFrame(self.table())

    def column(self) -> dict[str, Any]:
        """Return the effects as a column for ``GraphView.set_column``."""
        label = "estimated effect" if self.is_estimate else "effect"
        values = [self.effects.get(node.id) for node in self.graph.all_nodes()]
        notes = [self.skipped.get(node.id) for node in self.graph.all_nodes()]
        return {"label": label, "values": values, "note": notes, "fold": "max"}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table())

    def __repr__(self) -> str:
        kind = "estimated effects" if self.is_estimate else "effects"
        lines = [f"Patching: {kind} of {len(self)} nodes; the metric is {self.corrupt:.6g} on the corrupt input,"]
        lines[0] += f" {self.clean:.6g} on the clean one"
        lines += [
            f"  {row['effect']:+.4g}  {row['share']:+7.1%}  node {row['node']}: {row['scope']}/{row['op']}"
            for row in self.table()[:20]
        ]
        if len(self) > 20:
            lines.append(f"  ... {len(self) - 20} more; table() has all")
        if self.skipped:
            lines.append(f"  {len(self.skipped)} selected nodes were left out; `skipped` says why")
        return "\n".join(lines)


class _Forms:
    """The compiled functions of one `patch` call, over the inputs of the network's program."""

    def __init__(self, net, clean, corrupt, metric, nodes, is_estimate):
        program, self._clean = program_inputs(net, *clean)
        other, self._corrupt = program_inputs(net, *corrupt)
        if other is not program:
            raise ValueError(
                "For 'patch', the two inputs should have the same shapes and dtypes, but got "
                f"{', '.join(map(describe, clean))} and {', '.join(map(describe, corrupt))}."
            )
        self._program = program
        points_by_key, self.graph = list_points(program.jaxpr, program.inputs, program.name)
        self.skipped: dict[int, str] = {}
        self.points, self._points_by_key = self._select_points(points_by_key, nodes, is_estimate)
        self._index = {id(point): number for number, point in enumerate(self.points)}
        self._metric = _trace_metric(program, metric, self._clean)
        self.metrics = tuple(float(self._run_plain(inputs)) for inputs in (self._clean, self._corrupt))

    def _select_points(self, points_by_key, nodes, is_estimate):
        located = {
            point.node.id: (key, point)
            for key, points in points_by_key.items()
            for point in points
            if point.node is not None and not point.slot
        }
        selected, chosen = [], {}
        for node in select_nodes(self.graph, nodes):
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

    def _run_plain(self, inputs):
        graph = self._program.jaxpr
        return jax.jit(lambda *values: self._metric(eval_jaxpr(graph.jaxpr, graph.consts, *values)))(*inputs)

    def _evaluate(self, inputs, change):
        """Return (metric, values) of a run in which ``change(number, value)`` replaces the value of each point."""
        values: list[Any] = [None] * len(self.points)
        index = self._index

        class Patched(Replace):
            def replace(self, point, array, rounds):
                number = index[id(point)]
                values[number] = array
                return change(number, array)

        results = evaluate_replaced(self._program.jaxpr, inputs, self._points_by_key, Patched(), while_over_tree)
        return self._metric(results), values

    def patch_each(self):
        """Return the effect of each point, by one run for each."""
        keep = lambda _, array: array  # noqa: E731
        values = jax.jit(lambda *inputs: self._evaluate(inputs, keep)[1])(*self._clean)

        def run(number, values, *inputs):
            return self._evaluate(inputs, lambda at, array: jnp.where(number == at, values[at], array))[0]

        nbytes = max(1, sum(value.nbytes for value in values))
        batch = int(max(1, min(_BATCH, len(self.points), _BATCH_BYTES // nbytes)))
        form = jax.jit(jax.vmap(run, in_axes=(0, None, *[None] * len(self._corrupt))))
        count = len(self.points)
        numbers = np.arange(-(-count // batch) * batch, dtype=np.int32).reshape(-1, batch)
        results = [form(row, values, *self._corrupt) for row in numbers]
        return np.concatenate([np.asarray(row) for row in results])[:count] - self.metrics[1]

    def attribute(self):
        """Return the estimated effect of each point, from one run on `clean` and one with a gradient on `corrupt`."""

        def run(clean, corrupt):
            _, clean_values = self._evaluate(clean, lambda _, array: array)

            def shifted(shifts):
                return self._evaluate(corrupt, lambda number, array: array + shifts[number])

            zeros = [jnp.zeros(point.shape, point.dtype) for point in self.points]
            _, pull, values = jax.vjp(shifted, zeros, has_aux=True)
            (gradients,) = pull(jnp.ones_like(_))
            return jnp.stack(
                [
                    jnp.sum((before - now).astype(jnp.float32) * gradient.astype(jnp.float32))
                    for before, now, gradient in zip(clean_values, values, gradients, strict=True)
                ]
            )

        return np.asarray(jax.jit(run)(tuple(self._clean), tuple(self._corrupt)))


def _explain_unsuitable(node, point, is_estimate):
    """Return the reason why a node can't be patched, "" if it can."""
    if node.direction != "forward":
        return f"{node.fullname} belongs to a gradient"
    if point is None or jax.dtypes.issubdtype(point.dtype, jax.dtypes.extended):
        return f"{node.fullname} has no value of numbers"
    if point.nested:
        return f"{node.fullname} is inside a loop or a branch, where it has no single value"
    if is_estimate and not is_inexact(point.dtype):
        return f"{node.fullname} is {point.dtype}, which has no gradient"
    return ""


def _trace_metric(program, metric, inputs):
    """Return the metric as a function of the outputs of a program."""
    jaxpr, consts = program.jaxpr.jaxpr, program.jaxpr.consts
    shapes = jax.eval_shape(lambda *values: eval_jaxpr(jaxpr, consts, *values), *inputs)
    examples = [box(jnp.zeros(s.shape, s.dtype)) for s in shapes[: program.n_results - bool(program.errors)]]
    results = program.results.build(examples)
    traced, metric_inputs = program_inputs(metric, *(results if isinstance(results, tuple) else (results,)))
    shapes = traced.jaxpr.out_avals[: traced.n_results - bool(traced.errors)]
    if [value for value in traced.results.static] != [None] or int(np.prod(shapes[0].shape)) != 1:
        returned = ", ".join(f"{shape.dtype}{shape.shape}" for shape in shapes) or "no Tensor"
        raise ValueError(f"For 'patch', 'metric' should return one number as a Tensor, but it returned {returned}.")
    output_of_array = {id(example._array): index for index, example in enumerate(examples)}
    sources = [output_of_array.get(id(array)) for array in metric_inputs]
    quiet = remove_debug_callbacks(traced.jaxpr.jaxpr)

    def compute(outputs):
        arrays = [metric_inputs[at] if source is None else outputs[source] for at, source in enumerate(sources)]
        return eval_jaxpr(quiet, traced.jaxpr.consts, *arrays)[0].reshape(()).astype(jnp.float32)

    return compute


def _as_tuple(inputs):
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
