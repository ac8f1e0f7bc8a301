"""Measurements of the operators of a running pipeline: rows, time, and the fill level of the consumer's queue.

They cost nothing unless a pipeline is monitored. Then each node of its plan is wrapped.
"""

import threading
import time
from collections.abc import Iterator
from typing import Any, Self

from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.monitor_text import duration, table
from msnb.dataset.engine.execution.program import UserStep
from msnb.dataset.engine.execution.workers import processors

_clock = time.perf_counter
_SLOW_WAIT_SHARE = 0.05  # share of the time that a consumer may wait before its pipeline is called slow
_EMPTY_LOOP_SHARE = 0.02  # a consumer whose own work takes a smaller share of the time counts as an empty loop
_SHORTEST_STEP = 1e-4  # seconds; every training step is longer
_BOTTLENECK_SHARE = 0.3  # share of the pipeline's time from which an operator is the bottleneck


class Operator:
    """Measurements of one operator, or of one transform of a ``map``: a line of the monitor's table.

    Attributes:
        label (str): Its name.
        kind (str): ``source``, ``map``, ``function`` (the user's Python), ``cache``, ``batch``, ``device`` or
            ``operator``.
        depth (int): Number of operators between it and the last one. Transforms are one below their ``map``.
        rows (int): Rows that it yielded (samples, or batches after a batch).
        seconds (float): Time spent in it, without its inputs.
        advice (str): A sentence on ways to make it faster, or "".
    """

    def __init__(self, label: Any, kind: str, depth: int, advice: str = "") -> None:
        self._label = label
        self.kind: str = kind
        self.depth: int = depth
        self.advice: str = advice
        self.rows: int = 0
        self.total: float = 0.0
        self.children: list[Any] = []

    @property
    def label(self) -> str:
        """Name of the operator."""
        return self._label() if callable(self._label) else self._label

    @property
    def seconds(self) -> float:
        """Time spent in the operator, without its inputs."""
        return max(0.0, self.total - sum(o.total for o in self.children))


def _classify_node(node):
    if isinstance(node, nodes.IndexSource | nodes.StreamSource):
        return "source"
    kinds = ((nodes.CachedMap, "cache"), (nodes.Map, "map"), (nodes.Batch, "batch"), (nodes.Filter, "function"))
    return next((name for kind, name in kinds if isinstance(node, kind)), "operator")


class Monitor:
    """Measures a pipeline while it runs; the result of :meth:`Dataset.monitor`.

    Inside ``with``, every iterator over the data set is measured, in a loop or in ``Model.train``. After the block
    the last figures remain. ``print`` shows them as text, a notebook as a table.

    Args:
        dataset (Dataset): The pipeline.

    Examples:
        >>> with dataset.monitor() as monitor:
        ...     for batch in dataset.create_dict_iterator():
        ...         pass
        >>> print(monitor)
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.operators: list[Any] = []
        self.queue: Any = None
        self.rows: int = 0
        self.waited = self.used = 0.0
        self._filled, self._capacity = 0, 0  # sums over all items, for the average fill level of the queue
        self.running: bool = False
        self._started_at = self._ended_at = None
        self._returned_at = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.dataset._monitor = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.dataset._monitor = None
        self.finish()

    # ---- called by the engine

    def attach(self, plan: Any) -> None:
        """Wrap the nodes of a plan in timers before it runs, and reset all measurements."""
        with self._lock:
            self.operators = []
            self._instrument_node(plan, 0)
            self.rows = 0
            self.waited = self.used = 0.0
            self._filled = self._capacity = 0
            self._started_at = self._ended_at = self._returned_at = None
            self.running = True

    def _instrument_node(self, node, depth):
        operator = Operator(
            node.describe, _classify_node(node), depth, getattr(getattr(node, "source", None), "advice", "")
        )
        self.operators.append(operator)
        node.chunks = self._wrap_chunks_in_timer(node.chunks, operator)
        if isinstance(node, nodes.Map | nodes.CachedMap):
            operator._label = "map" if isinstance(node, nodes.Map) else "kept in memory"
            for step in reversed(node.steps):
                kind = "function" if isinstance(step, UserStep) else "map"
                line = Operator(f"{step.label} on {'+'.join(step.names)}", kind, depth + 1, _suggest_speedup(step))
                self.operators.append(line)
                step.run = self._wrap_call_in_timer(step.run, line)
                operator.children.append(line)
        if isinstance(node, nodes.CachedMap):
            # a CachedMap calls `fetch` of its source and not `chunks`, so `fetch` is timed
            source = node.children[0]
            line = Operator(source.describe, "source", depth + 1, getattr(source.source, "advice", ""))
            self.operators.append(line)
            source.fetch = self._wrap_call_in_timer(source.fetch, line)
            operator.children.append(line)
            return operator
        for child in node.children:
            operator.children.append(self._instrument_node(child, depth + 1))
        return operator

    def timed_boxing(self, box_rows: Any) -> Any:
        """Return `box_rows`, which converts rows to Tensors, wrapped in a timer with its own line in the table."""
        with self._lock:
            if self.operators[0].kind != "device":  # the line exists from the second epoch on
                self.operators.insert(0, Operator("to Tensors", "device", 0))
        return self._wrap_call_in_timer(box_rows, self.operators[0])

    def _wrap_chunks_in_timer(self, chunks, line):
        def timed(hint):
            source = iter(chunks(hint))
            while True:
                begin = _clock()
                chunk = next(source, None)
                line.total += _clock() - begin
                if chunk is None:
                    return
                line.rows += chunk.n
                yield chunk

        return timed

    def _wrap_call_in_timer(self, run, line):
        def counted(chunk):
            begin = _clock()
            result = run(chunk)
            line.total += _clock() - begin
            line.rows += len(chunk) if not hasattr(chunk, "n") else chunk.n
            return result

        return counted

    def follow(self, items: Any) -> Iterator[Any]:
        """Yield the prefetcher's items, and measure the consumer's waiting time and its own time in between."""
        self.queue = items
        if self._started_at is None:
            self._started_at = _clock()
        while True:
            begin = _clock()
            if self._returned_at is not None:
                self.used += begin - self._returned_at
            filled, capacity = items.fill()
            self._filled += filled
            self._capacity += capacity
            item = next(items, None)
            self._returned_at = _clock()
            self.waited += self._returned_at - begin
            if item is None:
                self._returned_at = None
                self._ended_at = _clock()
                return
            self.rows += len(item)
            yield item

    def finish(self) -> None:
        """Stop the clock, when the pipeline ends or the ``with`` block is left."""
        if self.running:
            self.running = False
            self._ended_at = _clock() if self._started_at is not None else None

    # ---- results

    @property
    def seconds(self) -> float:
        """Running time of the pipeline."""
        if self._started_at is None:
            return 0.0
        return (_clock() if self.running else self._ended_at or _clock()) - self._started_at

    def snapshot(self) -> dict[str, Any]:
        """Return the current measurements as a dict of plain values.

        The keys are ``seconds``, ``rows``, ``waited``, ``used``, ``unit`` of these rows, ``queue`` (filled, capacity),
        ``operators`` and ``verdict``.
        """
        with self._lock:
            lines = list(self.operators)
        working = sum(o.seconds for o in lines) or 1e-12
        worst = max(lines, key=lambda o: o.seconds, default=None)
        return {
            "running": self.running,
            "seconds": self.seconds,
            "rows": self.rows,
            "waited": self.waited,
            "used": self.used,
            "unit": "batches" if any(o.kind == "batch" for o in lines) else "rows",
            "queue": self._measure_queue_fill(),
            "operators": [
                {
                    "label": o.label,
                    "kind": o.kind,
                    "depth": o.depth,
                    "rows": o.rows,
                    "seconds": o.seconds,
                    "share": o.seconds / working,
                    "worst": o is worst and o.seconds > 0,
                }
                for o in lines
            ],
            "verdict": self.verdict(),
        }

    def _measure_queue_fill(self):
        """Return [items ready, capacity] of the queue: now, or on average once the pipeline has ended."""
        filled, capacity = (0, 0) if self.queue is None else self.queue.fill()
        if not capacity and self._capacity:
            capacity = self.queue.ahead
            filled = round(capacity * self._filled / self._capacity)
        return [filled, capacity]

    def verdict(self) -> str:
        """Return the bottleneck of the pipeline as a sentence."""
        with self._lock:
            lines = list(self.operators)
        working = sum(o.seconds for o in lines)
        if not working or not self.rows:
            return "Nothing has come out yet."
        worst = max(lines, key=lambda o: o.seconds)
        share = worst.seconds / working
        batches = any(o.kind == "batch" for o in lines)
        each = "batch" if batches and worst.kind in ("batch", "device") else "row"
        slowest = (
            f"{worst.label} takes {share:.0%} of the pipeline's time"
            f" ({duration(worst.seconds / max(worst.rows, 1))} per {each})."
        )
        advice = f" {worst.advice}" if worst.advice else ""
        total = self.waited + self.used
        if self.used <= max(_EMPTY_LOOP_SHARE * total, _SHORTEST_STEP * self.rows):  # the loop does nothing
            row_time = duration(working / self.rows)
            return (
                f"Fast enough for training steps of {row_time} and more: that is what a "
                f"{'batch' if batches else 'row'} takes to make. For shorter steps: {slowest}{advice}"
            )
        if self.waited < _SLOW_WAIT_SHARE * total:
            return (
                f"The pipeline keeps up: its consumer waits {self.waited / total:.1%} of its time. "
                f"Within the pipeline, {slowest}"
            )
        first = "Bottleneck: " if share > _BOTTLENECK_SHARE else ""
        return f"The consumer waits {self.waited / total:.0%} of its time. {first}{slowest}{advice}"

    def __repr__(self) -> str:
        return table(self.snapshot())


@fluent
def monitor(self: Dataset) -> Monitor:
    """Measure each operator of this pipeline while it runs (msnb only).

    Returns:
        Monitor, to use with ``with``; printing it shows throughput and time of every operator and names the
        bottleneck.

    Examples:
        >>> with dataset.monitor() as monitor:
        ...     for batch in dataset.create_dict_iterator(num_epochs=1):
        ...         pass
        >>> print(monitor)
    """
    return Monitor(self)


def _suggest_speedup(step):
    """Return a sentence on ways to make a transform of a ``map`` faster."""
    if isinstance(step, UserStep):
        return (
            "It is Python: more num_parallel_workers help if it releases the interpreter lock, "
            "python_multiprocessing=True if it does not; a transform of the library would be faster still."
        )
    if step.costly and step.workers < processors():
        return "More num_parallel_workers help."
    return ""
