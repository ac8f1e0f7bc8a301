"""What is measured in one compiled program, and how to read the arrays that come out of it."""

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

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.extra_outputs import Run
    from msnb.core.program.program import Program

LEVELS = ("parameters", "all")


class Plan:
    """The measurements of one program.

    The gradients of Parameters leave the program as they are, and `collect` summarises them in a call of its own: on a
    CPU that call runs beside the next step, on a core that a small network leaves idle. What operators give would have
    to be stored for that, and is summarised inside; which takes XLA three times as long to compile, so that for a look
    at a step or two it leaves the program as well, where there is `room`.

    Args:
        program (Program): of `msnb.core`.
        level (str): "parameters", or "all" for every operator's output and gradient as well.
        tensors (tuple[str]): patterns of the rows that are recorded whole.
        room (int): bytes of memory for what operators give in one step. Default: 0, it is summarised inside.

    Attributes:
        rows (list[Row]): with statistics, in the order of the program.
        own (ClosedJaxpr): the program as it is.
        jaxpr (Union[ClosedJaxpr, None]): the program with its measurements; None where there is nothing to measure.
        graph (FuncGraph): the program as it is read.
        missed (list[str]): operators that stand where nothing can be measured.
        in_loops (int): how many operators within loops and branches have no gradient here.
        held (int): bytes of what the program is given, and of what operators give where that leaves it.
        gradients (list[Row]): of the first arrays that the measured program adds; `whole` says which are kept as they
            are, `parts` what the further arrays are, and `watched` the rows in those that have to be finite.
    """

    def __init__(self, program: "Program", level: str, tensors: tuple[str, ...], room: int = 0) -> None:
        self.name = program.name
        self.level = level
        self.room: int = room if _on_cpu(program) else 0  # elsewhere values are far from numpy
        self.patterns: tuple[str, ...] = tuple(tensors)
        self.own: Any = program.jaxpr
        self.jaxpr: Any = None
        self.rows: list[Any] = []
        self.loss: int | None = _loss_output(program)
        self.results: int = program.n_results
        self.first_use: dict[Any, Any] = {}
        self.in_loops: int = 0
        self.held: int = sum(aval.size * aval.dtype.itemsize for aval in program.jaxpr.in_avals)
        places = {entry[1]: i for i, entry in enumerate(program.inputs) if entry[0] == "param"}
        self._trained = [entry[1] for entry in program.inputs if entry[0] == "param" and entry[2]]
        self._written = {p.name: program.n_results + i for i, p in enumerate(program.written)}
        if not self._interesting(program, places):
            return
        self.moves: list[tuple[int, int]] = [(places[name], self._written[name]) for name in self.updates]
        measure = _Measure(self)
        made = instrument(program.jaxpr, self._choose, measure, program.inputs, program.name)
        self.graph: object = made.graph
        self.missed: list[Any] = sorted({point.node.fullname for point in made.missed})
        self.jaxpr = made.jaxpr

    def _interesting(self, program, places):
        """Whether the program computes gradients, or applies them."""
        outs = program.jaxpr.jaxpr.outvars
        known = labels_of(program.jaxpr.jaxpr)
        self.has_gradients = bool(known)
        self.updates = [
            name
            for name in self._written
            if name in places
            and name in self._trained
            and name in (known or self._trained)
            and not isinstance(outs[self._written[name]], Literal)
        ]
        self.differentiates = any("transpose(" in str(eqn.source_info.name_stack) for eqn in program.jaxpr.jaxpr.eqns)
        # an optimizer that is a program of its own only writes what it trains
        return self.has_gradients or self.differentiates or bool(self.updates)

    def _choose(self, points):
        """Points of the gradients of Parameters and, at the level "all", of what operators give."""
        real = [p for p in points if naming.is_real(p.dtype) and np.prod(p.shape, dtype=np.int64)]
        graph_of = {(p.node.id, p.slot): p for p in real if p.node is not None}
        nodes = {p.node.id: p.node for p in real if p.node is not None}
        self.row_of = {}  # id of a point -> Rows
        order = {}
        if real:
            root = _root(points)
            order = naming.forward_order(root, self.results)
            self.first_use = order
            self._parameters(real, order)
            if self.level == "all" and self.differentiates:
                self._operators(root, graph_of, nodes)
        wanted = [p for p in real if id(p) in self.row_of]
        size = sum(naming.size_of(p.shape) * p.dtype.itemsize for p in wanted if not p.label)
        self.outside: bool = 0 < self.room >= size
        self.held += size if self.outside else 0
        return wanted

    def _parameters(self, points, order):
        seen = {}
        for point in points:
            if not point.label.startswith(LABEL):
                continue
            name = point.label[len(LABEL) :]
            seen[name] = seen.get(name, 0) + 1
            title = name if seen[name] == 1 else f"{name} ({seen[name]})"
            place, node = order.get(name, (10**6 + len(seen), None))
            where = _where(node, self.name)
            self._row(point, Row("parameter", title, point.shape, str(point.dtype), *where, order=place))

    def _operators(self, root, graph_of, nodes):
        mates = naming.cotangents(root)
        for name, place, node in naming.operators(root):
            where = (node.op, attribute_path(node.scope, root.name), node.source, node.id, place)
            point = graph_of.get((node.id, 0))
            if point is not None:
                self._row(point, Row("output", name, point.shape, str(point.dtype), *where, maker=node.id))
            mate = mates.get(node.id)
            self.in_loops += point is not None and point.nested and mate is None
            point = graph_of.get((mate[0].id, mate[1])) if mate else None
            if point is not None:
                self._row(point, Row("gradient", name, point.shape, str(point.dtype), *where, maker=mate[0].id))

    def _row(self, point, row):
        self.row_of.setdefault(id(point), []).append(row)
        self.rows.append(row)

    def weight_rows(self) -> "list[Row]":
        """Rows of the values of the Parameters that this program writes."""
        known = {row.name: row for row in self.rows if row.kind == "parameter"}
        found = []
        for name in self.updates:
            like = known.get(name)
            found.append(
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
        return found

    def collect(self, run: "Run") -> Any:
        """Start to summarise a `Run`."""
        return _Numbers(self, run)


class _Numbers:
    """Reads the numbers of one run of a Plan."""

    def __init__(self, plan, run):
        gradients, rest = run.extras[: len(plan.gradients)], run.extras[len(plan.gradients) :]
        self.plan = plan
        values, self.rest = rest[: len(plan.values)], rest[len(plan.values) :]
        given = [(row, array) for rows, array in zip(plan.values, values) for row in rows]
        self.values = Values([row for row, _ in given], [array for _, array in given])
        self.latest = {row.key: array for row, array in (*zip(plan.gradients, gradients), *given)}
        self.latest |= {row.key: run.outputs[plan._written[row.name]] for row in plan.weight_rows()}
        self.loss = run.outputs[plan.loss] if plan.loss is not None else None
        self.whole = [gradients[n] for n in plan.whole]
        self.step = StepNumbers(
            gradients, [run.inputs[i] for i, _ in plan.moves], [run.outputs[o] for _, o in plan.moves]
        )

    def ready(self):
        """Whether reading does not wait."""
        return self.step.ready() and self.values.ready()

    def __call__(self):
        """See `nothing`; waits for the numbers."""
        plan, keys = self.plan, [row.key for row in self.plan.gradients]
        stats, bars, changes = self.step.read()
        made = nothing()
        made["latest"] = self.latest
        made["stats"], made["histograms"] = dict(zip(keys, stats)), dict(zip(keys, bars))
        made["tensors"] = {keys[n]: np.asarray(array) for n, array in zip(plan.whole, self.whole)}
        if changes is not None:
            made["changes"] = dict(zip(plan.updates, changes))
        if self.loss is not None:
            made["loss"] = float(self.loss)
        self.values.read(made)
        for (part, keys), array in zip(plan.parts, self.rest):
            value = np.asarray(array)
            if part == "tensors":
                made[part][keys] = value
            elif part == "units":
                ends = np.cumsum([count for _, count in keys])
                for (key, _), piece in zip(keys, np.split(value, ends[:-1])):
                    made[part][key] = piece
            else:
                made[part].update(zip(keys, value))
        others = [made["stats"][key][1:3] for key in plan.watched]
        made["odd"] = not all(
            np.isfinite(numbers).all()
            for numbers in (stats[:, 1:3], others, () if changes is None else changes, made["loss"] or 0.0)
        )
        return made


def _on_cpu(program):
    return (program.device or jax.devices()[0]).platform == "cpu"


def labels_of(jaxpr: Jaxpr) -> Any:
    """Names of the Parameters whose gradients are labelled in a jaxpr."""
    found = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "name" and str(eqn.params["name"]).startswith(LABEL):
            found.add(eqn.params["name"][len(LABEL) :])
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    found |= labels_of(inner)
    return found


def _where(node, root):
    """(op, cell, source, id of the node) of the operator of a program named `root` that reads a Parameter first."""
    return (node.op, attribute_path(node.scope, root), node.source, node.id) if node is not None else ("", "", None, -1)


def _root(points):
    """The outermost graph that the nodes of these points belong to."""
    return next(p.node.func_graph for p in points if p.node is not None and not p.nested)


def _loss_output(program):
    """Number of the first result that is a single real number, None where there is none."""
    for number, var in enumerate(program.jaxpr.jaxpr.outvars[: program.n_results - bool(program.errors)]):
        if var.aval.shape == () and naming.is_real(var.aval.dtype):
            return number
    return None


class _Measure(Measure):
    """Hands out gradients of Parameters, and summaries of everything else that has a row."""

    def __init__(self, plan):
        self.plan = plan

    def _rows(self, point):
        return self.plan.row_of[id(point)]

    def _flat_ends(self, point):
        return next(filter(None, map(flat_ends, self._rows(point))), None)

    def measure(self, point, array):
        """Moments where the value is gone afterwards; else the value, which `finish` treats with its like."""
        return summary.moments(array, self._flat_ends(point)) if point.nested else array

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
        own = [(p, m) for p, m in pairs if p.label]
        plan.gradients = [self._rows(p)[0] for p, _ in own]
        chosen = {row.key for row in naming.chosen(plan.patterns, plan.rows)}
        plan.whole = [n for n, row in enumerate(plan.gradients) if row.key in chosen]
        named = {row.key for row in plan.gradients}
        plan.watched = [
            row.key for point in points for row in self._rows(point) if row.kind != "output" and row.key not in named
        ]
        top = [(p, m) for p, m in pairs if not p.label]
        plan.values = [self._rows(p) for p, _ in top] if plan.outside else []
        if top and not plan.outside:
            stats, bars = summary.summarised([m for _, m in top], [self._flat_ends(p) for p, _ in top])
            picked = [(n, row.key) for n, (p, _) in enumerate(top) for row in self._rows(p)]
            for part, values in (("stats", stats), ("histograms", bars)):
                add(part, [key for _, key in picked], values[np.array([n for n, _ in picked])])
        within = [(p, m) for p, m in zip(points, measured) if p.nested]
        if within:
            picked = [(m, row.key) for p, m in within for row in self._rows(p)]
            add("stats", [key for _, key in picked], jnp.stack([m for m, _ in picked]))
        if not plan.outside:
            self._units(top, add)
        for point, array in top:
            for row in self._rows(point):
                if row.key in chosen:
                    add("tensors", row.key, array)
        for row in naming.chosen(plan.patterns, plan.weight_rows()):
            add("tensors", row.key, jnp.copy(outputs[plan._written[row.name]]))
        return [m for _, m in own] + [m for _, m in top if plan.outside] + arrays

    def _units(self, top, add):
        found = [(row.key, summary.living(m)) for p, m in top for row in self._rows(p) if has_units(row)]
        if found:
            add("units", [(key, units.size) for key, units in found], jnp.concatenate([u for _, u in found]))
