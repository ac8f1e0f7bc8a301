"""Measurements of one compiled program, and the readers of their results."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr

from msnb.core.compat.jax_private import Literal
from msnb.core.errors.cell_path import attribute_path
from msnb.core.jaxpr.instrument import Measure
from msnb.insight.gradients import rows as naming
from msnb.insight.gradients import summary
from msnb.insight.gradients.rows import LABEL, Row
from msnb.insight.gradients.step import StepNumbers, Values, flat_ends, has_units, nothing
from msnb.insight.instrument import instrument

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.extra_outputs import Run
    from msnb.core.program.program import Program

LEVELS = ("parameters", "all")


class Plan:
    """Adds measurements to one program, and reads their results.

    Gradients of Parameters are extra outputs, and `collect` summarises them in a separate call. On a CPU that call runs
    in parallel with the next step, on a core that a small network leaves idle. Operators' outputs are summarised inside
    the program, because as extra outputs they would need memory. This makes XLA's compilation three times longer. If
    the outputs fit in `room` bytes, they become extra outputs, too. This is faster if only a few steps are observed.

    Args:
        program (Program): the program to measure.
        level (str): "parameters", or "all" for every operator's output and gradient as well.
        tensors (tuple[str]): patterns of the rows to record with all values.
        room (int): bytes of memory for the operators' outputs in one step. Default: 0, the outputs are summarised
            inside the program.

    Attributes:
        rows (list[Row]): the rows with statistics, in the order of the program.
        own (ClosedJaxpr): the program without measurements.
        jaxpr (Union[ClosedJaxpr, None]): the program with its measurements; None if there is nothing to measure.
        graph (FuncGraph): the graph of the program.
        missed (list[str]): operators that can't be measured.
        in_loops (int): number of operators within loops and branches whose gradient is not measured.
        retained_bytes (int): bytes of the program's inputs, and of operators' outputs if they are extra outputs.
        gradients (list[Row]): rows of the first extra outputs. `full_tensors` has the indices of the gradients that are
            stored with all values. `parts` describes the other extra outputs. `watched` has the keys of their rows
            whose values must be finite.
    """

    def __init__(self, program: "Program", level: str, tensors: tuple[str, ...], room: int = 0) -> None:
        self.name = program.name
        self.level = level
        # on other devices numpy can't access values without a transfer
        self.room: int = room if _runs_on_cpu(program) else 0
        self.patterns: tuple[str, ...] = tuple(tensors)
        self.own: Any = program.jaxpr
        self.jaxpr: Any = None
        self.rows: list[Any] = []
        self.loss: int | None = _find_loss_output(program)
        self.results: int = program.n_results
        self.first_use: dict[Any, Any] = {}
        self.in_loops: int = 0
        self.retained_bytes: int = sum(aval.size * aval.dtype.itemsize for aval in program.jaxpr.in_avals)
        places = {entry[1]: i for i, entry in enumerate(program.inputs) if entry[0] == "param"}
        self._trained = [entry[1] for entry in program.inputs if entry[0] == "param" and entry[2]]
        self._written = {p.name: program.n_results + i for i, p in enumerate(program.written)}
        if not self._is_training_step(program, places):
            return
        self.moves: list[tuple[int, int]] = [(places[name], self._written[name]) for name in self.updates]
        measure = _Measure(self)
        instrumented = instrument(program.jaxpr, self._choose_points, measure, program.inputs, program.name)
        self.graph: object = instrumented.graph
        self.missed: list[Any] = sorted({point.node.fullname for point in instrumented.missed})
        self.jaxpr = instrumented.jaxpr

    def _is_training_step(self, program, places):
        """Return True if the program computes gradients, or applies them."""
        outs = program.jaxpr.jaxpr.outvars
        labelled = labels_of(program.jaxpr.jaxpr)
        self.has_gradients = bool(labelled)
        self.updates = [
            name
            for name in self._written
            if name in places
            and name in self._trained
            and name in (labelled or self._trained)
            and not isinstance(outs[self._written[name]], Literal)
        ]
        self.differentiates = any("transpose(" in str(eqn.source_info.name_stack) for eqn in program.jaxpr.jaxpr.eqns)
        # a separate optimizer program only updates the trained Parameters
        return self.has_gradients or self.differentiates or bool(self.updates)

    def _choose_points(self, points):
        """Return the points of Parameters' gradients and, at the level "all", of operators' outputs and gradients."""
        real = [p for p in points if naming.is_real(p.dtype) and np.prod(p.shape, dtype=np.int64)]
        graph_of = {(p.node.id, p.slot): p for p in real if p.node is not None}
        nodes = {p.node.id: p.node for p in real if p.node is not None}
        self.row_of = {}  # id of a point -> Rows
        order = {}
        if real:
            root = _find_root_graph(points)
            order = naming.forward_order(root, self.results)
            self.first_use = order
            self._add_parameter_rows(real, order)
            if self.level == "all" and self.differentiates:
                self._add_operator_rows(root, graph_of, nodes)
        points_with_rows = [p for p in real if id(p) in self.row_of]
        size = sum(naming.size_of(p.shape) * p.dtype.itemsize for p in points_with_rows if not p.label)
        self.outside: bool = 0 < self.room >= size
        self.retained_bytes += size if self.outside else 0
        return points_with_rows

    def _add_parameter_rows(self, points, order):
        counts = {}
        for point in points:
            if not point.label.startswith(LABEL):
                continue
            name = point.label[len(LABEL) :]
            counts[name] = counts.get(name, 0) + 1
            title = name if counts[name] == 1 else f"{name} ({counts[name]})"
            place, node = order.get(name, (10**6 + len(counts), None))
            where = _get_reader_location(node, self.name)
            self._add_row(point, Row("parameter", title, point.shape, str(point.dtype), *where, order=place))

    def _add_operator_rows(self, root, graph_of, nodes):
        gradient_nodes = naming.cotangents(root)
        for name, place, node in naming.operators(root):
            where = (node.op, attribute_path(node.scope, root.name), node.source, node.id, place)
            point = graph_of.get((node.id, 0))
            if point is not None:
                self._add_row(point, Row("output", name, point.shape, str(point.dtype), *where, maker=node.id))
            gradient_node = gradient_nodes.get(node.id)
            self.in_loops += point is not None and point.nested and gradient_node is None
            point = graph_of.get((gradient_node[0].id, gradient_node[1])) if gradient_node else None
            if point is not None:
                self._add_row(
                    point, Row("gradient", name, point.shape, str(point.dtype), *where, maker=gradient_node[0].id)
                )

    def _add_row(self, point, row):
        self.row_of.setdefault(id(point), []).append(row)
        self.rows.append(row)

    def weight_rows(self) -> "list[Row]":
        """Return rows for the new values of the Parameters that this program updates."""
        parameter_rows = {row.name: row for row in self.rows if row.kind == "parameter"}
        rows = []
        for name in self.updates:
            like = parameter_rows.get(name)
            rows.append(
                Row(
                    "weight",
                    name,
                    like.shape if like else (),
                    like.dtype if like else "float32",
                    like.op if like else "",
                    like.cell if like else "",
                    like.source if like else None,
                    like.node if like else -1,
                    like.order if like else 10**6,
                )
            )
        return rows

    def collect(self, run: "Run") -> Any:
        """Start to summarise a `Run` on the device. Return a callable that waits for the numbers and returns them."""
        return _Numbers(self, run)


class _Numbers:
    """Callable that waits for the numbers of one run of a Plan and returns them."""

    def __init__(self, plan, run):
        gradients, rest = run.extras[: len(plan.gradients)], run.extras[len(plan.gradients) :]
        self.plan = plan
        values, self.rest = rest[: len(plan.values)], rest[len(plan.values) :]
        rows_and_arrays = [(row, array) for rows, array in zip(plan.values, values) for row in rows]
        self.values = Values([row for row, _ in rows_and_arrays], [array for _, array in rows_and_arrays])
        self.latest = {row.key: array for row, array in (*zip(plan.gradients, gradients), *rows_and_arrays)}
        self.latest |= {row.key: run.outputs[plan._written[row.name]] for row in plan.weight_rows()}
        self.loss = run.outputs[plan.loss] if plan.loss is not None else None
        self.full_tensors = [gradients[n] for n in plan.full_tensors]
        self.step = StepNumbers(
            gradients, [run.inputs[i] for i, _ in plan.moves], [run.outputs[o] for _, o in plan.moves]
        )

    def ready(self):
        """Return True if reading does not block."""
        return self.step.ready() and self.values.ready()

    def __call__(self):
        """Wait for the numbers. Return them in a dict with the keys of `step.nothing`."""
        plan, keys = self.plan, [row.key for row in self.plan.gradients]
        stats, bars, changes = self.step.read()
        result = nothing()
        result["latest"] = self.latest
        result["stats"], result["histograms"] = dict(zip(keys, stats)), dict(zip(keys, bars))
        result["tensors"] = {keys[n]: np.asarray(array) for n, array in zip(plan.full_tensors, self.full_tensors)}
        if changes is not None:
            result["changes"] = dict(zip(plan.updates, changes))
        if self.loss is not None:
            result["loss"] = float(self.loss)
        self.values.read(result)
        for (part, keys), array in zip(plan.parts, self.rest):
            value = np.asarray(array)
            if part == "tensors":
                result[part][keys] = value
            elif part == "units":
                ends = np.cumsum([count for _, count in keys])
                for (key, _), piece in zip(keys, np.split(value, ends[:-1])):
                    result[part][key] = piece
            else:
                result[part].update(zip(keys, value))
        others = [result["stats"][key][1:3] for key in plan.watched]
        result["odd"] = not all(
            np.isfinite(numbers).all()
            for numbers in (stats[:, 1:3], others, () if changes is None else changes, result["loss"] or 0.0)
        )
        return result


def _runs_on_cpu(program):
    return (program.device or jax.devices()[0]).platform == "cpu"


def labels_of(jaxpr: Jaxpr) -> Any:
    """Return names of the Parameters whose gradients are labelled in a jaxpr."""
    labels = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "name" and str(eqn.params["name"]).startswith(LABEL):
            labels.add(eqn.params["name"][len(LABEL) :])
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    labels |= labels_of(inner)
    return labels


def _get_reader_location(node, root):
    """Return (op, cell, source, node id) of `node`, the first reader of a Parameter, or placeholders for None."""
    return (node.op, attribute_path(node.scope, root), node.source, node.id) if node is not None else ("", "", None, -1)


def _find_root_graph(points):
    """Return the outermost graph of the nodes of these points."""
    return next(p.node.func_graph for p in points if p.node is not None and not p.nested)


def _find_loss_output(program):
    """Return the index of the first result that is a real scalar, or None."""
    for number, var in enumerate(program.jaxpr.jaxpr.outvars[: program.n_results - bool(program.errors)]):
        if var.aval.shape == () and naming.is_real(var.aval.dtype):
            return number
    return None


class _Measure(Measure):
    """A Measure that returns gradients of Parameters unchanged, and summaries of other values that have a row."""

    def __init__(self, plan):
        self.plan = plan

    def _get_rows(self, point):
        return self.plan.row_of[id(point)]

    def _get_saturation_range(self, point):
        return next(filter(None, map(flat_ends, self._get_rows(point))), None)

    def measure(self, point, array):
        """Return moments of values inside loops and branches. Other values are returned unchanged for `finish`."""
        return summary.moments(array, self._get_saturation_range(point)) if point.nested else array

    def empty(self, point):
        return summary.nothing()

    def merge(self, point, first, second):
        return summary.merged(first, second)

    def finish(self, points, measured, inputs, outputs):
        plan = self.plan
        plan.parts, arrays = [], []

        def add(part, keys, array):
            plan.parts.append((part, keys))
            arrays.append(array)

        pairs = [(p, m) for p, m in zip(points, measured) if not p.nested]
        labelled = [(p, m) for p, m in pairs if p.label]
        plan.gradients = [self._get_rows(p)[0] for p, _ in labelled]
        chosen = {row.key for row in naming.chosen(plan.patterns, plan.rows)}
        plan.full_tensors = [n for n, row in enumerate(plan.gradients) if row.key in chosen]
        named = {row.key for row in plan.gradients}
        plan.watched = [
            row.key
            for point in points
            for row in self._get_rows(point)
            if row.kind != "output" and row.key not in named
        ]
        unlabelled = [(p, m) for p, m in pairs if not p.label]
        plan.values = [self._get_rows(p) for p, _ in unlabelled] if plan.outside else []
        if unlabelled and not plan.outside:
            stats, bars = summary.summarised(
                [m for _, m in unlabelled], [self._get_saturation_range(p) for p, _ in unlabelled]
            )
            picked = [(n, row.key) for n, (p, _) in enumerate(unlabelled) for row in self._get_rows(p)]
            for part, values in (("stats", stats), ("histograms", bars)):
                add(part, [key for _, key in picked], values[np.array([n for n, _ in picked])])
        nested_points = [(p, m) for p, m in zip(points, measured) if p.nested]
        if nested_points:
            picked = [(m, row.key) for p, m in nested_points for row in self._get_rows(p)]
            add("stats", [key for _, key in picked], jnp.stack([m for m, _ in picked]))
        if not plan.outside:
            self._add_living_units(unlabelled, add)
        for point, array in unlabelled:
            for row in self._get_rows(point):
                if row.key in chosen:
                    add("tensors", row.key, array)
        for row in naming.chosen(plan.patterns, plan.weight_rows()):
            add("tensors", row.key, jnp.copy(outputs[plan._written[row.name]]))
        return [m for _, m in labelled] + [m for _, m in unlabelled if plan.outside] + arrays

    def _add_living_units(self, top, add):
        units_by_row = [(row.key, summary.living(m)) for p, m in top for row in self._get_rows(p) if has_units(row)]
        if units_by_row:
            add(
                "units",
                [(key, units.size) for key, units in units_by_row],
                jnp.concatenate([u for _, u in units_by_row]),
            )
