"""Preview of a data set: columns, size, steps and, if reading has no side effect, its first rows.

A display must not run the user's functions, must not consume a source that can be read only once, and must not wait for
a slow source. Therefore a thread reads from a separate plan for a short time. Unknown facts are left out.
"""

import copy
import random
import threading
import time

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine import samplers
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes, shuffle_repeat
from msnb.dataset.engine.execution.chunk import Hint, rows_of
from msnb.dataset.engine.execution.optimiser import reorder_by_number
from msnb.dataset.engine.execution.program import UserStep, op_name
from msnb.dataset.engine.operations import sync
from msnb.dataset.engine.sources.python_rows import SequenceSource, Stream

_TIME_LIMIT = 0.3  # seconds
_ROWS_PER_CHECK = 16  # rows between two checks of the time
_HARMLESS_NODES = (
    nodes.IndexSource,
    nodes.StreamSource,
    nodes.Project,
    nodes.Rename,
    shuffle_repeat.Shuffle,
    shuffle_repeat.Repeat,
    shuffle_repeat.Take,
    shuffle_repeat.Skip,
    shuffle_repeat.Zip,
    shuffle_repeat.Concat,
)
_HOW_TO_READ = "next(dataset.create_dict_iterator()) gives the first row"


class Preview:
    """Summary of a data set (columns, types, size, steps, first rows) for a display.

    Attributes:
        kind (str): Name of the class.
        columns (list[str]): Names of the columns.
        types (list[tuple]): (dtype, shape) of each column, [] if no row was read. None in a shape stands for a length
            that differs among these rows.
        size (int): Rows, or batches; None if it is unknown before the pipeline runs.
        batched (bool): True if a row is a batch.
        steps (str): The pipeline, in the order of the data.
        rows (list[list[np.ndarray]]): The first rows, or the rows of the first batch.
        note (str): The reason why there are no rows, or the order of the rows, or "".
    """

    def __init__(self, dataset: Dataset) -> None:
        self.kind: str = type(dataset).__name__
        self.columns: list[str] = list(dataset._col_names or ())
        self.size: int | None = dataset.dataset_size
        self.batched: bool = False
        self.steps: str = ""
        self.rows: list[list[np.ndarray]] = []
        self.note: str = ""
        self.types: list[tuple[str, tuple[int | None, ...]]] = []
        saved = dataset.saved_output_types, dataset.saved_output_shapes
        if None not in saved:
            pairs = zip(*saved, strict=True)
            self.types = [(_format_dtype(np.dtype(dtype)), tuple(shape)) for dtype, shape in pairs]

    def count(self) -> str:
        """Return the size in words, or "" if it is unknown."""
        if self.size is None:
            return ""
        unit = ("batch" if self.size == 1 else "batches") if self.batched else "row" if self.size == 1 else "rows"
        return f"{self.size:,} {unit}"

    def __str__(self) -> str:
        lines = [", ".join(filter(None, (self.kind, self.count())))]
        width = max(map(len, self.columns), default=0)
        for number, name in enumerate(self.columns):
            type_text = " ".join(filter(None, self.described(number))) if self.types else ""
            lines.append(f"  {name:{width}}  {type_text}".rstrip())
        lines += [f"  {text}" for text in (self.steps, "" if self.rows else self.note) if text]
        return "\n".join(lines)

    def described(self, number: int) -> tuple[str, str]:
        """Return (dtype, shape) of column `number` as text. The shape of a scalar is ""."""
        dtype, shape = self.types[number]
        if not shape:
            return dtype, ""
        lengths = ["?" if length is None else str(length) for length in shape]
        return dtype, f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def preview(dataset: Dataset, rows: int = 1) -> Preview:
    """Read the facts and first rows of a data set, for at most about 0.3 s.

    Args:
        dataset (Dataset): The pipeline, which is not changed.
        rows (int): Number of rows to read, if reading has no side effect. Default: 1, which is enough for dtypes and
            shapes.

    Returns:
        Preview. An error is reported in its ``note`` and not raised.
    """
    initial = Preview(dataset)
    reader = _PreviewReader(dataset, rows, copy.copy(initial))
    # a user's ``__getitem__`` may draw random numbers; a display must not change later draws
    random_states = (random.getstate(), np.random.get_state())
    thread = threading.Thread(target=reader.run, name="msnb-preview", daemon=True)
    thread.start()
    thread.join(_TIME_LIMIT)
    random.setstate(random_states[0])
    np.random.set_state(random_states[1])
    timed_out = thread.is_alive()
    result = reader.preview  # the thread may continue for one row, whose facts are not used
    if timed_out and not result.rows and not result.note:
        result = copy.copy(result)
        action = "reading a row" if result.steps else "opening it"
        result.note = f"Left out, since {action} takes longer than {_TIME_LIMIT:g} s: {_HOW_TO_READ}."
    return result


@fluent("__repr__")
def dataset_repr(self: Dataset) -> str:
    """Return the repr of a data set: class, size, columns and steps in a few lines."""
    return str(preview(self))


class _TimeLimitExceeded(Exception):
    """Raised when reading the rows of a preview takes longer than the time limit."""


class _PreviewReader:
    """Creates a `Preview` in a thread. The attribute `preview` is replaced by a more complete one after each stage."""

    def __init__(self, dataset, rows, preview):
        self.reason: str = ""
        self.dataset = dataset
        self.rows = rows
        self.preview = preview
        self.end = time.perf_counter() + _TIME_LIMIT

    def _copy_without_side_effects(self, dataset):
        """Return a copy of the pipeline whose plan does not affect the user's samplers and sync conditions."""
        new = copy.deepcopy(dataset)
        pending = [new]
        while pending:
            one = pending.pop()
            pending += one.children
            if isinstance(one, sync.SyncWaitDataset):
                one._pair = sync.BlockReleasePair(1)
                self.reason = "sync_wait waits for the training"
            chain = getattr(one, "sampler", None)
            while chain is not None:
                if isinstance(chain, samplers.Sampler | samplers.IterSampler):
                    self.reason = "its sampler is Python code of yours"
                    one.sampler, one.dataset_size = samplers.SequentialSampler(), None
                    break
                chain = getattr(chain, "child_sampler", None)
        return new

    def run(self):
        """Make the plan, then read its first rows."""
        try:
            self.dataset = self._copy_without_side_effects(self.dataset)
            plan = self.dataset.make_plan(optimise=False)
            try:
                self._describe_plan(plan)
                if not self.reason:
                    self._read_rows(plan)
            finally:
                plan.close()
        except _TimeLimitExceeded:
            pass
        except Exception as error:  # a display reports errors and does not raise them
            self._update_preview(note=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")

    def _update_preview(self, **facts):
        updated = copy.copy(self.preview)
        vars(updated).update(facts)
        self.preview = updated

    def _describe_plan(self, plan):
        size = self.preview.size
        if size is None and not self.reason:
            size = plan.size()
        self.reason = self.reason or _find_reason_against_preview(plan)
        note = f"Not read for a display, since {self.reason}: {_HOW_TO_READ}." if self.reason else ""
        self._update_preview(
            columns=list(plan.columns), size=size, batched=_is_batched(plan), steps=_format_steps(plan), note=note
        )

    def _read_rows(self, plan):
        note = "The order is random; these are in the order of the source." if self.dataset.is_shuffled() else ""
        plan = self._limit_source_time(reorder_by_number(_remove_shuffles(plan)))
        count = 1 if self.preview.batched else self.rows
        rows = []
        for chunk in plan.chunks(Hint(count, 1)):
            rows += map(list, zip(*map(rows_of, chunk.columns), strict=True))
            if len(rows) >= count:
                break
        rows = rows[:count]
        types = [_summarize_column_type(column) for column in zip(*rows, strict=True)]
        if self.preview.batched and rows:
            rows = list(map(list, zip(*[list(column[: self.rows]) for column in rows[0]], strict=False)))
        self._update_preview(rows=rows, types=types, note=note if rows else "There are no rows.")

    def _limit_source_time(self, node):
        """Return the plan with sources that stop at the time limit."""
        if isinstance(node, nodes.IndexSource | nodes.StreamSource):
            return _TimeLimitedSource(node, self.end)
        node.children = [self._limit_source_time(child) for child in node.children]
        return node


class _TimeLimitedSource(nodes.Node):
    """A source that stops at the time limit."""

    def __init__(self, source, end):
        super().__init__([source], source.columns)
        self.end = end

    def chunks(self, hint):
        for chunk in self.children[0].chunks(Hint(min(hint.limit, _ROWS_PER_CHECK), 1)):
            if time.perf_counter() > self.end:
                raise _TimeLimitExceeded
            yield chunk


def _remove_shuffles(node):
    """Return the plan without shuffles, which read many rows before they yield one. The samples of a sequence are then
    fetched by index."""
    node.children = [_remove_shuffles(child) for child in node.children]
    if isinstance(node, shuffle_repeat.Shuffle):
        return node.children[0]
    if isinstance(node, nodes.IndexSource):
        chosen = getattr(node.sampler, "sampler", None)
        if isinstance(chosen, samplers.RandomSampler) and chosen.child_sampler is None:
            node.sampler = samplers.SequentialSampler().open(node.source.rows)
    if isinstance(node, SequenceSource):
        source = copy.copy(node.source)  # A few rows need no processes. By index, skipped samples are not read.
        source.workers, source._pool, source.random_access = 1, None, True
        return nodes.IndexSource(source, node.sampler, node.columns)
    return node


def _find_reason_against_preview(node):
    """Return the reason why the plan would run the user's Python code or change state; "" if it would not.

    An object with ``__getitem__`` is read nevertheless: a pipeline may also request any sample at any time.
    """
    if isinstance(node, nodes.StreamSource) and isinstance(node.source, Stream):
        return f"{node.describe()} is Python code of yours"
    if isinstance(node, nodes.Map) and node.callbacks is None:
        for step in node.steps:
            operations = step.functions if isinstance(step, UserStep) else [step.op]
            if function := next(filter(None, map(_find_user_function, operations)), None):
                return f"{op_name(function)} is Python code of yours"
    elif isinstance(node, nodes.Filter):
        return f"{node.describe()} is Python code of yours"
    elif isinstance(node, nodes.Batch):
        if node.per_batch is not None or node.size_of is not None:
            return "batch calls Python code of yours"
    elif not isinstance(node, _HARMLESS_NODES):
        return f"{node.describe()} does more than read"
    return next(filter(None, map(_find_reason_against_preview, node.children)), "")


def _find_user_function(op):
    """Return the user's function that is, or is part of, an operation of ``map``, or None."""
    if not isinstance(op, TensorOp):
        return op if callable(op) else None
    for value in vars(op).values():
        items = value if isinstance(value, list | tuple) else [value]
        for item in items:
            inner = item if isinstance(item, list | tuple) else [item]
            if function := next(filter(None, map(_find_user_function, inner)), None):
                return function
    return None


def _is_batched(node):
    """Return True if the rows are batched after they leave the source, or after data sets are joined."""
    while not isinstance(node, nodes.Batch):
        if len(node.children) != 1:
            return False
        node = node.children[0]
    return True


def _format_steps(node):
    """Format a plan as one line, source first."""
    if not node.children:
        return node.describe()
    inputs = ", ".join(map(_format_steps, node.children))
    if len(node.children) > 1:
        return f"{node.describe()} ({inputs})"
    return f"{inputs} > {node.describe()}"


def _format_dtype(dtype):
    return "string" if dtype.kind in "SU" else dtype.name


def _summarize_column_type(column):
    """Return (dtype, shape) of some rows. A length that differs is None. If ranks differ, the shape is that of the
    first row.
    """
    shapes = [value.shape for value in column]
    if len({len(shape) for shape in shapes}) > 1:
        shapes = shapes[:1]
    lengths = zip(*shapes, strict=True)
    return _format_dtype(column[0].dtype), tuple(one[0] if len(set(one)) == 1 else None for one in lengths)
