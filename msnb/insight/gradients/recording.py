"""Storage for observations of a training: every step's numbers and some full tensors, within a memory budget."""

import fnmatch
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msnb import log
from msnb._util.byte_size import format_bytes
from msnb.insight.gradients import summary
from msnb.insight.gradients.findings import find
from msnb.insight.gradients.records import NonFinite, Step
from msnb.insight.gradients.rows import SATURATES, cotangents, forward_order, operators
from msnb.insight.gradients.zero_gradients import cut_off

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.gradients.findings import Finding
    from msnb.insight.gradients.rows import Row
    from msnb.ir.anf import FuncGraph

STATISTICS = ("norm", "mean", "std", "min", "max", "zeros", "nan", "inf", "saturated", "update", "weight", "dead")
_LATEST = 512 << 20  # bytes of the latest step that are retained for later queries of tensors
_PLACE = {name: i for i, name in enumerate(STATISTICS)}


class Recording:
    """Numbers per step and row; created by `GradientMonitor` and `inspect_gradients`.

    Args:
        keep (int): maximum number of stored steps. If a training is longer, only every second, fourth, ... step is
            stored. The last step and the step with the first NaN are always stored.
        memory (int): bytes for full tensors.

    Attributes:
        steps (list[Step]): the stored steps, oldest first.
        tensors (dict): row key -> {step number: numpy array}.
        latest (dict): row key -> array of the latest step, up to a limit of memory. A later step may have overwritten
            an array.
        nonfinite (Union[NonFinite, None]): the first NaN or infinity.
        problem (str): the reason why recording stopped too early, or "".
        graph (Union[FuncGraph, None]): the program that computes the gradients, if there is one.
        level (str): "parameters" or "all".
        mode (str): "GRAPH" or "PYNATIVE".
        lag (int): maximum number of runs whose numbers have not been read yet.
    """

    def __init__(self, keep: int = 500, memory: int = 64 << 20, level: str = "parameters") -> None:
        self.keep: int = keep
        self.memory: int = memory
        self.level: str = level
        self.mode = "GRAPH"
        self._rows = {}
        self._steps = []
        self.tensors: dict[Any, Any] = {}
        self.latest: dict[Any, Any] = {}
        self.nonfinite: Any = None
        self.problem: str = ""
        self.graph: FuncGraph | None = None
        self.jaxpr: Any = None  # jaxpr of the program that `graph` shows
        self._cut_off = None
        self.operators: list[Any] = []  # (position in the forward pass, operator)
        self.missed: list[Any] = []
        self.in_loops: int = 0  # operators within loops of a graph, whose gradient is not recorded
        self.untrained: list[Any] = []  # trainable Parameters that no gradient is taken with respect to
        self.unread: list[Any] = []  # Parameters that the forward pass does not read
        self.stride: int = 1
        self.tensor_stride: int = 1
        self.dropped: int = 0  # bytes of full tensors that did not fit
        self.tells = True  # True to log the first NaN while the training runs
        self._now = None
        self._number = 0
        self._count = 0
        self.lag = 8
        self._pending = []  # (reader of a run, function that locates the first NaN), or (number of a step, None)
        self._bytes = 0

    # ------------------------------------------------------------------ writing
    def add_rows(self, rows: "Iterable[Row]") -> None:
        """Add rows; existing ones do not change."""
        for row in rows:
            self._rows.setdefault(row.key, row)

    def add(self, read: Callable[..., Any], locate: Callable[..., Any] | None = None) -> None:
        """Add the numbers of one run. They are read later.

        Args:
            read (Callable): waits for the device, and returns a dict (see `Plan.collect`); ``read.ready()`` returns
                True if it does not have to wait.
            locate (Callable): returns a NonFinite without its step, or None; called if something is not finite.
        """
        self._pending.append((read, locate))
        while sum(callable(entry[0]) for entry in self._pending) > self.lag:
            self._read_run_numbers(*self._pending.pop(0))

    def attach(self, graph: "FuncGraph", results: int, jaxpr: Any = None) -> None:
        """Match rows that were recorded without a graph to its nodes, by name.

        Args:
            graph (FuncGraph): graph of the same step.
            results (int): number of outputs that are results.
            jaxpr (ClosedJaxpr): the jaxpr of the graph. Default: None.
        """
        self.settle()
        nodes = {name: node for name, _, node in operators(graph)}
        mates = cotangents(graph)
        readers = forward_order(graph, results)
        for row in self._rows.values():
            node = readers[row.name][1] if row.kind == "parameter" and row.name in readers else nodes.get(row.name)
            if node is not None and node.op == row.op:
                row.node = node.id
                row.maker = {"output": node.id, "gradient": mates[node.id][0].id if node.id in mates else -1}.get(
                    row.kind, -1
                )
        self.graph, self.jaxpr = graph, jaxpr

    def end_step(self, number: int | None = None) -> None:
        """End the current step: the next numbers belong to a new one."""
        self._pending.append((number, None))

    def take_ready(self) -> None:
        """Read the oldest run if its numbers are ready, which frees its arrays."""
        if self._pending and (not callable(self._pending[0][0]) or self._pending[0][0].ready()):
            self._read_run_numbers(*self._pending.pop(0))

    def settle(self) -> Self:
        """Read all pending runs. Return the recording."""
        pending, self._pending = self._pending, []
        for entry in pending:
            self._read_run_numbers(*entry)
        return self

    def _read_run_numbers(self, read, locate):
        if not callable(read):
            self._end_current_step(read)
            return
        numbers = read()
        if self._now is not None and self._now.stats.keys() & numbers["stats"].keys():
            self._end_current_step(None)
        if self._now is None:
            self._number += 1
            self._count += 1
            self._now = Step(self._number)
            self._steps.append(self._now)
            self.latest = {}
        step = self._now
        step.stats.update(numbers["stats"])
        step.histograms.update(numbers["histograms"])
        step.changes.update(numbers["changes"])
        step.units.update(numbers["units"])
        if numbers["loss"] is not None and step.loss is None:
            step.loss = float(numbers["loss"])
        for key, value in numbers["tensors"].items():
            self._store_tensor(key, step.number, value)
        self._retain_latest_arrays(numbers["latest"])
        if self.nonfinite is None and numbers["odd"]:
            self._record_nonfinite(step, numbers, locate)

    def _record_nonfinite(self, step, numbers, locate):
        """Record the first NaN or infinity, which is in this step."""
        nonfinite = locate() if locate is not None else None
        if nonfinite is None and step.loss is not None and not np.isfinite(step.loss):
            nonfinite = NonFinite(0, "NaN" if np.isnan(step.loss) else "Inf", "the loss", "forward")
        nonfinite = nonfinite or self._find_nonfinite_gradient(numbers["stats"])
        if nonfinite is not None:
            nonfinite.step = step.number
            self.nonfinite = nonfinite
            if self.tells:
                log.warning("%s", nonfinite.describe())

    def _find_nonfinite_gradient(self, stats):
        """Return the first gradient that is not finite, None if all are."""
        for what in ("NaN", "Inf"):
            column = summary.COLUMNS.index(what.lower())
            for row in self._rows.values():
                if row.kind == "parameter" and row.key in stats and stats[row.key][column]:
                    return NonFinite(0, what, f"gradient of {row.name}", "backward", row.cell, row.source, row.node)
        return None

    def _end_current_step(self, number):
        """End the current step; `number` is its number in the training."""
        step, self._now = self._now, None
        if step is None:
            return
        if number is not None:
            for values_by_step in self.tensors.values():
                if step.number in values_by_step and step.number != number:
                    values_by_step[number] = values_by_step.pop(step.number)
            if self.nonfinite is not None and self.nonfinite.step == step.number:
                self.nonfinite.step = number
            step.number = self._number = number
        self._drop_surplus_steps()

    def _drop_surplus_steps(self):
        if len(self._steps) > 1 and not self._should_store_step(self._steps[-2], len(self._steps) - 2):
            del self._steps[-2]
        if len(self._steps) > self.keep:
            self.stride *= 2
            last = len(self._steps) - 1
            self._steps = [s for i, s in enumerate(self._steps) if i == last or self._should_store_step(s, i)]

    def _should_store_step(self, step, index):
        return (
            (step.number - 1) % self.stride == 0
            or index == 0
            or (self.nonfinite is not None and self.nonfinite.step == step.number)
        )

    def _retain_latest_arrays(self, arrays):
        """Retain the arrays of the latest step, within the limit."""
        total_bytes = sum(array.nbytes for array in self.latest.values())
        for key, array in arrays.items():
            total_bytes += array.nbytes
            if total_bytes > _LATEST:
                return
            self.latest[key] = array

    def _store_tensor(self, key, number, value):
        if (number - 1) % self.tensor_stride:
            self.dropped += value.nbytes
            return
        value = np.array(value)
        if number in self.tensors.get(key, ()):  # both the tape and a compiled optimizer report it
            self._bytes -= self.tensors[key][number].nbytes
        self.tensors.setdefault(key, {})[number] = value
        self._bytes += value.nbytes
        while self._bytes > self.memory and self.tensors:
            numbers = sorted({n for values_by_step in self.tensors.values() for n in values_by_step})
            if len(numbers) == 1:  # a single step does not fit: drop the largest tensor
                self._drop_tensor(max(self.tensors, key=lambda k: sum(v.nbytes for v in self.tensors[k].values())))
                continue
            self.tensor_stride *= 2
            for values_by_step in self.tensors.values():
                for removed in [n for n in values_by_step if (n - 1) % self.tensor_stride]:
                    self._count_dropped_bytes(values_by_step.pop(removed))

    def _drop_tensor(self, key):
        for value in self.tensors.pop(key).values():
            self._count_dropped_bytes(value)

    def _count_dropped_bytes(self, value):
        self._bytes -= value.nbytes
        self.dropped += value.nbytes

    # ------------------------------------------------------------------ reading
    @property
    def steps(self) -> list["Step"]:
        """The stored steps."""
        self.settle()
        return list(self._steps)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the stored steps."""
        return [step.number for step in self.steps]

    def rows(self, kind: str | None = None) -> "list[Row]":
        """Return rows in the order of the forward pass, of one kind or of all.

        Args:
            kind (str): "parameter", "output" or "gradient". Default: None.
        """
        self.settle()
        return sorted((r for r in self._rows.values() if kind in (None, r.kind)), key=lambda r: (r.order, r.name))

    def row(self, name: str, kind: str | None = None) -> Any:
        """Return the row of that name.

        Raises:
            KeyError: If there is no such row.
        """
        for row in self.rows(kind):
            if row.name == name:
                return row
        raise KeyError(
            f"The recording has no row '{name}'; it has {', '.join(dict.fromkeys(r.name for r in self.rows(kind)))}."
        )

    def table(self, statistic: str, kind: str = "parameter") -> Any:
        """Return a statistic as an array of shape (rows of that kind, steps), NaN for unknown values.

        Args:
            statistic (str): one of `STATISTICS`. "update" is the norm of a Parameter's change divided by its norm
                before the step.
            kind (str): kind of row. Default: "parameter".

        Returns:
            numpy.ndarray, float64.
        """
        if statistic not in STATISTICS:
            raise ValueError(
                f"For 'table', 'statistic' should be one of {', '.join(STATISTICS)}, but got {statistic!r}."
            )
        rows, steps = self.rows(kind), self.steps
        return np.array(
            [[self.values(row, step)[_PLACE[statistic]] for step in steps] for row in rows], np.float64
        ).reshape(len(rows), len(steps))

    def values(self, row: Any, step: Any) -> Any:
        """Return the `STATISTICS` of one row in one step, NaN for unknown values."""
        statistics = np.full(len(STATISTICS), np.nan)
        stats = step.stats.get(row.key)
        if stats is not None and stats[0] > 0:
            stats = np.asarray(stats, np.float64)
            statistics[1:9] = stats[1:9]
            if row.kind != "output" or SATURATES.named(row.op) is None:
                statistics[_PLACE["saturated"]] = np.nan
            # in float64: in float32 the square of 1e-30 would be 0
            statistics[0] = np.sqrt(row.size * stats[0] * (stats[1] ** 2 + stats[2] ** 2))
        if row.kind == "parameter" and row.name in step.changes:
            change, before = (float(v) for v in step.changes[row.name])
            statistics[_PLACE["update"]] = change / before if before else np.inf if change else 0.0
            statistics[_PLACE["weight"]] = before * np.sqrt(row.size)
        units = step.units.get(row.key)
        if units is not None and len(units):
            statistics[_PLACE["dead"]] = 1 - np.mean(units)
        return statistics

    def histogram(self, row: Any, step: Any) -> Any:
        """Return (counts, edges) of one row in one step; None without a histogram. Evenly spaced elements are
        counted.
        """
        counts = step.histograms.get(row.key)
        if counts is None:
            return None
        low, high = (float(v) for v in step.stats[row.key][3:5])
        if not np.isfinite(low) or not np.isfinite(high):
            return None
        return np.asarray(counts), np.linspace(low, high if high > low else low + 1e-30, summary.BINS + 1)

    def dead_units(self, row: Any, steps: Any = None) -> Any:
        """Return a bool per unit, True if the unit was zero for every example of all these steps; None if unknown."""
        masks = [step.units[row.key] for step in (self.steps if steps is None else steps) if row.key in step.units]
        masks = [m for m in masks if len(m) == len(masks[0])]
        return ~np.any(masks, axis=0) if masks else None

    def tensor(self, name: str, step: int | None = None) -> Any:
        """Return all values of a tensor. They must have been stored in full, or be those of the latest step.

        Args:
            name (str): name of a row; the prefix "gradient:", "weight:" or another kind distinguishes equal names.
            step (int): number of the step. Default: None, the last one.

        Returns:
            numpy.ndarray.

        Raises:
            KeyError: If it was not recorded, or not in that step.
        """
        self.settle()
        for (kind, title), values_by_step in self.tensors.items():
            both = title, f"{kind}:{title}"
            if name in both or any(fnmatch.fnmatchcase(text, name) for text in both):
                if step is None:
                    return values_by_step[max(values_by_step)]
                if step in values_by_step:
                    return values_by_step[step]
                raise KeyError(f"'{name}' was recorded in steps {sorted(values_by_step)}, but not in step {step}.")
        if step is None or self._steps and step == self._steps[-1].number:
            for (kind, title), array in self.latest.items():
                if name in (title, f"{kind}:{title}") and not array.is_deleted():
                    return np.asarray(array)
        available = ", ".join(f"{kind}:{title}" for kind, title in self.tensors) or "none"
        raise KeyError(f"No tensor '{name}' was recorded whole; there is {available}. Name it: tensors=['{name}'].")

    @property
    def cut_off(self) -> frozenset[str] | None:
        """Parameters whose gradient is zero for all values; None without a program."""
        if self._cut_off is None and self.jaxpr is not None:
            self._cut_off = cut_off(self.jaxpr)
        return self._cut_off

    def notes(self) -> list[Any]:
        """Return sentences about missing data."""
        self.settle()
        notes = []
        if self.stride > 1:
            notes.append(
                f"{self._count} steps ran; every {_format_ordinal(self.stride)} one is kept (keep={self.keep})."
            )
        if self.dropped:
            notes.append(
                f"{format_bytes(self.dropped)} of whole tensors did not fit into {format_bytes(self.memory)}: every "
                f"{_format_ordinal(self.tensor_stride)} step has them (memory={self.memory})."
            )
        if self.missed:
            notes.append(f"{len(self.missed)} operators in the condition of a while loop are not recorded.")
        if self.in_loops:
            notes.append(
                f"{self.in_loops} operators within loops or branches have values and no gradients here. PYNATIVE mode "
                "records both, and msnb.why has the gradients of a loop by round."
            )
        return notes

    def findings(self) -> "list[Finding]":
        """Return diagnoses in words; see `msnb.insight.gradients.findings`."""
        return find(self)

    def __repr__(self) -> str:
        numbers = self.numbers
        span = f"steps {numbers[0]} to {numbers[-1]}" if numbers else "no steps yet"
        return f"Recording({len(self._rows)} rows, {span}, {self.mode})"


def _format_ordinal(number):
    return {2: "second", 4: "fourth", 8: "eighth"}.get(number, f"{number}th")
