"""What a data set shows of itself: columns, size, steps and, where reading has no side effect, its first rows.

A display must neither run the user's functions nor use up what can be read only once, and must not wait for a slow
source. So a plan of its own is looked at, in a thread, for a short time; what is not known by then is left out.
"""

import copy
import random
import threading
import time

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine import nodes, samplers, shuffle_repeat, sync
from msnb.dataset.engine.chunk import Hint, rows_of
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.optimiser import reorder_by_number
from msnb.dataset.engine.program import UserStep, op_name
from msnb.dataset.engine.sources.python_rows import SequenceSource, Stream

_PATIENCE = 0.3  # seconds
_TOGETHER = 16  # rows that are read between two looks at the clock
_LIBRARY = (
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
_READ = "next(dataset.create_dict_iterator()) gives the first row"


class Preview:
    """What is known of a data set.

    Attributes:
        kind (str): Name of the class.
        columns (list[str]): Names of the columns.
        types (list[tuple]): (dtype, shape) of each column, [] where no row was read; None in a shape stands for a
            length that differs among the rows that were.
        size (int): Rows, or batches; None when only running the pipeline would tell.
        batched (bool): Whether a row is a batch.
        steps (str): The pipeline, in the order of the data.
        rows (list[list[np.ndarray]]): The first rows; of a batch, those in it.
        note (str): Why there are no rows, or in which order they are; "" where there is nothing to say.
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
        asked = dataset.saved_output_types, dataset.saved_output_shapes
        if None not in asked:
            pairs = zip(*asked, strict=True)
            self.types = [(_type_name(np.dtype(dtype)), tuple(shape)) for dtype, shape in pairs]

    def count(self) -> str:
        """The size in words, "" when it is not known."""
        if self.size is None:
            return ""
        unit = ("batch" if self.size == 1 else "batches") if self.batched else "row" if self.size == 1 else "rows"
        return f"{self.size:,} {unit}"

    def __str__(self) -> str:
        lines = [", ".join(filter(None, (self.kind, self.count())))]
        width = max(map(len, self.columns), default=0)
        for number, name in enumerate(self.columns):
            known = " ".join(filter(None, self.described(number))) if self.types else ""
            lines.append(f"  {name:{width}}  {known}".rstrip())
        lines += [f"  {text}" for text in (self.steps, "" if self.rows else self.note) if text]
        return "\n".join(lines)

    def described(self, number: int) -> tuple[str, str]:
        """(dtype, shape) of a column, as text; "" is the shape of a scalar."""
        dtype, shape = self.types[number]
        if not shape:
            return dtype, ""
        lengths = ["?" if length is None else str(length) for length in shape]
        return dtype, f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def preview(dataset: Dataset, rows: int = 1) -> Preview:
    """Look at a data set for at most about 0.3 s.

    Args:
        dataset (Dataset): The pipeline; it stays as it is.
        rows (int): How many rows to read, where that has no side effect. Default: 1, which tells dtypes and shapes.

    Returns:
        Preview. What fails is told in its ``note``; nothing is raised.
    """
    found = Preview(dataset)
    look = _Look(dataset, rows, copy.copy(found))
    drawn = random.getstate(), np.random.get_state()  # a user's ``__getitem__`` may draw; a display must not be seen
    thread = threading.Thread(target=look.run, name="msnb-preview", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    random.setstate(drawn[0])
    np.random.set_state(drawn[1])
    late = thread.is_alive()
    known = look.known  # the thread may go on for one row; what it finds then is not ours
    if late and not known.rows and not known.note:
        known = copy.copy(known)
        what = "reading a row" if known.steps else "opening it"
        known.note = f"Left out, since {what} takes longer than {_PATIENCE:g} s: {_READ}."
    return known


@fluent("__repr__")
def shown(self: Dataset) -> str:
    """Class, size, columns and steps, in a few lines."""
    return str(preview(self))


class _TooLate(Exception):
    """Nobody waits for these rows any more."""


class _Look:
    """One look at a data set, in a thread: `known` is replaced whenever more is known."""

    def __init__(self, dataset, rows, known):
        self.reason: str = ""
        self.dataset = dataset
        self.rows = rows
        self.known = known
        self.end = time.perf_counter() + _PATIENCE

    def _harmless(self, dataset):
        """A copy whose plan can be made without the user's samplers and conditions noticing."""
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
        """Make the plan, then read."""
        try:
            self.dataset = self._harmless(self.dataset)
            plan = self.dataset.make_plan(optimise=False)
            try:
                self._describe(plan)
                if not self.reason:
                    self._read(plan)
            finally:
                plan.close()
        except _TooLate:
            pass
        except Exception as error:  # a display tells what is wrong, and raises nothing
            self._learn(note=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")

    def _learn(self, **facts):
        known = copy.copy(self.known)
        vars(known).update(facts)
        self.known = known

    def _describe(self, plan):
        size = self.known.size
        if size is None and not self.reason:
            size = plan.size()
        self.reason = self.reason or _users_code(plan)
        note = f"Not read for a display, since {self.reason}: {_READ}." if self.reason else ""
        self._learn(columns=list(plan.columns), size=size, batched=_batched(plan), steps=_steps(plan), note=note)

    def _read(self, plan):
        note = "The order is random; these are in the order of the source." if self.dataset.is_shuffled() else ""
        plan = self._guarded(reorder_by_number(_direct(plan)))
        wanted = 1 if self.known.batched else self.rows
        rows = []
        for chunk in plan.chunks(Hint(wanted, 1)):
            rows += map(list, zip(*map(rows_of, chunk.columns), strict=True))
            if len(rows) >= wanted:
                break
        rows = rows[:wanted]
        types = [_common(column) for column in zip(*rows, strict=True)]
        if self.known.batched and rows:
            rows = list(map(list, zip(*[list(column[: self.rows]) for column in rows[0]], strict=False)))
        self._learn(rows=rows, types=types, note=note if rows else "There are no rows.")

    def _guarded(self, node):
        """The plan, with sources that stop when nobody waits any more."""
        if isinstance(node, nodes.IndexSource | nodes.StreamSource):
            return _InTime(node, self.end)
        node.children = [self._guarded(child) for child in node.children]
        return node


class _InTime(nodes.Node):
    """A source as long as there is time for it."""

    def __init__(self, source, end):
        super().__init__([source], source.columns)
        self.end = end

    def chunks(self, hint):
        for chunk in self.children[0].chunks(Hint(min(hint.limit, _TOGETHER), 1)):
            if time.perf_counter() > self.end:
                raise _TooLate
            yield chunk


def _direct(node):
    """The plan in the order of its sources: a shuffle would read much before its first row, and so would a skip."""
    node.children = [_direct(child) for child in node.children]
    if isinstance(node, shuffle_repeat.Shuffle):
        return node.children[0]
    if isinstance(node, nodes.IndexSource):
        chosen = getattr(node.sampler, "sampler", None)
        if isinstance(chosen, samplers.RandomSampler) and chosen.child_sampler is None:
            node.sampler = samplers.SequentialSampler().open(node.source.rows)
    if isinstance(node, SequenceSource):
        source = copy.copy(node.source)  # no processes for a few rows, and by number, so that nothing skipped is read
        source.workers, source._pool, source.random_access = 1, None, True
        return nodes.IndexSource(source, node.sampler, node.columns)
    return node


def _users_code(node):
    """What of a plan would run the user's Python, or change what others see; "" when nothing would.

    An object with ``__getitem__`` is read nevertheless: a pipeline, too, asks it for any sample at any time.
    """
    if isinstance(node, nodes.StreamSource) and isinstance(node.source, Stream):
        return f"{node.describe()} is Python code of yours"
    if isinstance(node, nodes.Map) and node.callbacks is None:
        for step in node.steps:
            own = step.functions if isinstance(step, UserStep) else [step.op]
            if function := next(filter(None, map(_function_in, own)), None):
                return f"{op_name(function)} is Python code of yours"
    elif isinstance(node, nodes.Filter):
        return f"{node.describe()} is Python code of yours"
    elif isinstance(node, nodes.Batch):
        if node.per_batch is not None or node.size_of is not None:
            return "batch calls Python code of yours"
    elif not isinstance(node, _LIBRARY):
        return f"{node.describe()} does more than read"
    return next(filter(None, map(_users_code, node.children)), "")


def _function_in(op):
    """The user's function that is, or is held by, an operation of ``map``; None when there is none."""
    if not isinstance(op, TensorOp):
        return op if callable(op) else None
    for value in vars(op).values():
        held = value if isinstance(value, list | tuple) else [value]
        for one in held:
            inner = one if isinstance(one, list | tuple) else [one]
            if found := next(filter(None, map(_function_in, inner)), None):
                return found
    return None


def _batched(node):
    """Whether rows are batches: whether there is one above the first branch or source."""
    while not isinstance(node, nodes.Batch):
        if len(node.children) != 1:
            return False
        node = node.children[0]
    return True


def _steps(node):
    """A plan as one line, source first."""
    if not node.children:
        return node.describe()
    below = ", ".join(map(_steps, node.children))
    if len(node.children) > 1:
        return f"{node.describe()} ({below})"
    return f"{below} > {node.describe()}"


def _type_name(dtype):
    return "string" if dtype.kind in "SU" else dtype.name


def _common(column):
    """(dtype, shape) of some rows; None for a length that differs, and all of the first row where ranks do."""
    shapes = [value.shape for value in column]
    if len({len(shape) for shape in shapes}) > 1:
        shapes = shapes[:1]
    lengths = zip(*shapes, strict=True)
    return _type_name(column[0].dtype), tuple(one[0] if len(set(one)) == 1 else None for one in lengths)
