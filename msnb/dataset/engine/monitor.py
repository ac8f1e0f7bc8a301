"""What each operator of a running pipeline does: rows, time, how full the queue before the consumer is.

Nothing here runs unless a pipeline is monitored: then the operators of its plan are wrapped, one by one.
"""

import threading
import time
from collections.abc import Iterator
from typing import Any, Self

from msnb.dataset.engine import nodes
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.monitor_text import duration, table
from msnb.dataset.engine.program import UserStep
from msnb.dataset.engine.workers import processors

_clock = time.perf_counter
_FULL = 0.05  # share of the time that a consumer may wait before its pipeline is called slow
_IDLE = 0.02  # share of the time below which a consumer's own work is that of an empty loop
_STEP = 1e-4  # seconds; no step of a training is as short
_MOST = 0.3  # share of the pipeline's time from which an operator is what holds it up


class Operator:
    """One line of a monitor: an operator, or one transform of a ``map``.

    Attributes:
        label (str): What it is.
        kind (str): ``source``, ``map``, ``function`` (the user's Python), ``cache``, ``batch``, ``device`` or
            ``operator``.
        depth (int): How far below the last operator; transforms stand one below their ``map``.
        rows (int): Rows that it gave out (samples, or batches behind a batch).
        seconds (float): Time spent in it, without what it reads from.
        advice (str): A sentence on what would make it faster; empty where nothing is known.
    """

    def __init__(self, label: Any, kind: str, depth: int, advice: str = "") -> None:
        self._label = label
        self.kind: str = kind
        self.depth: int = depth
        self.advice: str = advice
        self.rows: int = 0
        self.total: float = 0.0
        self.below: list[Any] = []

    @property
    def label(self) -> str:
        """What it is."""
        return self._label() if callable(self._label) else self._label

    @property
    def seconds(self) -> float:
        """Time spent in it alone."""
        return max(0.0, self.total - sum(o.total for o in self.below))


def _kind(node):
    if isinstance(node, nodes.IndexSource | nodes.StreamSource):
        return "source"
    known = ((nodes.CachedMap, "cache"), (nodes.Map, "map"), (nodes.Batch, "batch"), (nodes.Filter, "function"))
    return next((name for kind, name in known if isinstance(node, kind)), "operator")


class Monitor:
    """Measures a pipeline while it runs; what :meth:`Dataset.monitor` returns.

    Inside ``with``, every iterator that is made of the data set is measured, by whomever: a loop, ``Model.train``.
    Outside, the last figures stay. ``print`` shows them as text, a notebook as a table.

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
        self._filled, self._places = 0, 0  # sums over the items that were taken
        self.running: bool = False
        self._begun = self._ended = None
        self._left = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.dataset._monitor = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.dataset._monitor = None
        self.finish()

    # ---- what the engine calls

    def attach(self, plan: Any) -> None:
        """Wrap the operators of a plan that is about to run, and begin anew."""
        with self._lock:
            self.operators = []
            self._add(plan, 0)
            self.rows = 0
            self.waited = self.used = 0.0
            self._filled = self._places = 0
            self._begun = self._ended = self._left = None
            self.running = True

    def _add(self, node, depth):
        mine = Operator(node.describe, _kind(node), depth, getattr(getattr(node, "source", None), "advice", ""))
        self.operators.append(mine)
        node.chunks = self._timed(node.chunks, mine)
        if isinstance(node, nodes.Map | nodes.CachedMap):
            mine._label = "map" if isinstance(node, nodes.Map) else "kept in memory"
            for step in reversed(node.steps):
                kind = "function" if isinstance(step, UserStep) else "map"
                line = Operator(f"{step.label} on {'+'.join(step.names)}", kind, depth + 1, _advice(step))
                self.operators.append(line)
                step.run = self._counted(step.run, line)
                mine.below.append(line)
        if isinstance(node, nodes.CachedMap):
            # It asks its source for samples, not for chunks.
            source = node.children[0]
            line = Operator(source.describe, "source", depth + 1, getattr(source.source, "advice", ""))
            self.operators.append(line)
            source.fetch = self._counted(source.fetch, line)
            mine.below.append(line)
            return mine
        for child in node.children:
            mine.below.append(self._add(child, depth + 1))
        return mine

    def timed_boxing(self, boxed: Any) -> Any:
        """The function that makes Tensors of rows, as a line of its own."""
        with self._lock:
            if self.operators[0].kind != "device":  # it is there from the second epoch on
                self.operators.insert(0, Operator("to Tensors", "device", 0))
        return self._counted(boxed, self.operators[0])

    def _timed(self, chunks, line):
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

    def _counted(self, run, line):
        def counted(chunk):
            begin = _clock()
            made = run(chunk)
            line.total += _clock() - begin
            line.rows += len(chunk) if not hasattr(chunk, "n") else chunk.n
            return made

        return counted

    def follow(self, items: Any) -> Iterator[Any]:
        """The prefetcher's items, with the time that the consumer waits for them and uses in between."""
        self.queue = items
        if self._begun is None:
            self._begun = _clock()
        while True:
            begin = _clock()
            if self._left is not None:
                self.used += begin - self._left
            filled, places = items.fill()
            self._filled += filled
            self._places += places
            item = next(items, None)
            self._left = _clock()
            self.waited += self._left - begin
            if item is None:
                self._left = None
                self._ended = _clock()
                return
            self.rows += len(item)
            yield item

    def finish(self) -> None:
        """The pipeline ended, or nobody looks any more."""
        if self.running:
            self.running = False
            self._ended = _clock() if self._begun is not None else None

    # ---- what it found

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        if self._begun is None:
            return 0.0
        return (_clock() if self.running else self._ended or _clock()) - self._begun

    def snapshot(self) -> dict[str, Any]:
        """The figures now, as a dict of plain values: ``seconds``, ``rows``, ``waited``, ``used``, ``unit`` of these
        rows, ``queue`` (filled, places), ``operators`` and ``verdict``.
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
            "queue": self._fill(),
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

    def _fill(self):
        """[items ready, places] of the queue now; on average, once it is over."""
        filled, places = (0, 0) if self.queue is None else self.queue.fill()
        if not places and self._places:
            places = self.queue.ahead
            filled = round(places * self._filled / self._places)
        return [filled, places]

    def verdict(self) -> str:
        """What holds the pipeline up, in words."""
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
        whole = self.waited + self.used
        if self.used <= max(_IDLE * whole, _STEP * self.rows):  # nobody is held up
            made = duration(working / self.rows)
            return (
                f"Fast enough for training steps of {made} and more: that is what a {'batch' if batches else 'row'} "
                f"takes to make. For shorter steps: {slowest}{advice}"
            )
        if self.waited < _FULL * whole:
            return (
                f"The pipeline keeps up: its consumer waits {self.waited / whole:.1%} of its time. "
                f"Within the pipeline, {slowest}"
            )
        first = "Bottleneck: " if share > _MOST else ""
        return f"The consumer waits {self.waited / whole:.0%} of its time. {first}{slowest}{advice}"

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


def _advice(step):
    """What would make a transform of a ``map`` faster."""
    if isinstance(step, UserStep):
        return (
            "It is Python: more num_parallel_workers help if it releases the interpreter lock, "
            "python_multiprocessing=True if it does not; a transform of the library would be faster still."
        )
    if step.costly and step.workers < processors():
        return "More num_parallel_workers help."
    return ""
