"""Iterators, which return the rows of a pipeline as numpy arrays or Tensors."""

import copy
import time
import weakref
from itertools import chain
from typing import Annotated, Any, Self

import numpy as np

from msnb import log
from msnb.common.kinds import Worded, check, checked
from msnb.context import get_context
from msnb.core.operator import api_generations
from msnb.core.state import events
from msnb.core.tensor.tensor import Tensor, box_strings
from msnb.dataset.core.config import settings
from msnb.dataset.core.dicts import convert_values, map_values
from msnb.dataset.core.kinds import Columns, Flag, NoEnd
from msnb.dataset.core.tensor_op import as_str
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution.chunk import Hint, rows_of
from msnb.dataset.engine.execution.workers import Prefetcher

_subscribers = events.subscribers
_clock = time.perf_counter_ns
_MAX_HINT = 64
_DEVICE_PREFETCH = 2  # batches in the device's memory, besides the one in use
_CLEAN_UP_AT = 256
ITERATORS_LIST = []
_stopped = False  # True if all iterators were stopped and none was created since


def _cleanup():
    """Stop all iterators."""
    global _stopped
    _stopped = True
    for ref in ITERATORS_LIST:
        iterator = ref()
        if iterator is not None:
            iterator.stop()


def check_iterator_cleanup() -> bool:
    """Return True if all iterators have been stopped and none has been created since."""
    return _stopped


def _unset_iterator_cleanup():
    """Let :func:`check_iterator_cleanup` return False again, as creating an iterator does."""
    global _stopped
    _stopped = False


def _convert_rows_to_tensors(rows):
    # bytes, r1.1's strings, stay numpy arrays
    return [[_box_value(a) for a in row] for row in rows]


def _box_value(array):
    if isinstance(array, dict):
        return map_values(lambda value: _box_value(value) if isinstance(value, np.ndarray) else value, array)
    kind = array.dtype.kind
    return array if kind == "S" else box_strings(array) if kind == "U" else Tensor(array)


def _decode_rows(rows):
    """Convert arrays of bytes in `rows` to arrays of str, and dicts to dicts of arrays, as MindSpore 2 returns them."""
    return [list(map(_decode_value, row)) for row in rows]


def _decode_value(array):
    value = as_str(array)
    return convert_values(value) if isinstance(value, dict) else value


def _produce_rows(plan, box_rows, decode=False):
    """Run a plan and yield, for each chunk, the list of its rows.

    Tensors are created here, ahead of the consumer, so that a transfer to the device overlaps with the use of the
    previous batch. A thread may run this generator. It refers to the plan and not to the Iterator, because the thread
    must end when the Iterator is deleted.
    """
    for chunk in plan.chunks(Hint(_MAX_HINT, 1)):
        rows = list(zip(*map(rows_of, chunk.columns), strict=True))
        del chunk
        if decode:
            rows = _decode_rows(rows)
        yield rows if box_rows is None else box_rows(rows)


class Iterator:
    """Iterates over a pipeline, one epoch per ``for`` loop.

    Args:
        dataset (Dataset): The pipeline.
        num_epochs (int): Maximal number of epochs; -1 for no limit. Default: -1.
        output_numpy (bool): True for numpy arrays, False for Tensors. Default: False.
        do_copy (bool): Accepted for compatibility; arrays are never shared with the pipeline. Default: True.
    """

    def __init__(
        self, dataset: Dataset, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = True
    ) -> None:
        self.ori_dataset = dataset
        self.dataset: Dataset = copy.deepcopy(dataset)
        self._plan = self.dataset.make_plan()
        self._monitor = getattr(self.dataset, "_monitor", None)
        if self._monitor is not None:
            self._monitor.attach(self._plan)
        self._columns = self._plan.columns
        self._num_epochs = num_epochs
        self._epochs_done = 0
        self._rows = None
        self._prefetcher = None
        self._runtime_context = True
        self._convert_rows_to_tensors = None if output_numpy else _convert_rows_to_tensors
        self._decodes_strings = api_generations.shared == 2
        self._index = 0
        if len(ITERATORS_LIST) >= _CLEAN_UP_AT:
            ITERATORS_LIST[:] = [ref for ref in ITERATORS_LIST if ref() is not None]
        ITERATORS_LIST.append(weakref.ref(self))
        _unset_iterator_cleanup()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        start = _clock() if _subscribers.waited else None
        try:
            if not hasattr(self, "_runtime_context"):
                raise AttributeError(
                    f"'{type(self).__name__}' object has no attribute '_runtime_context': the iterator was stopped; "
                    "create another one."
                )
            if self._rows is None:
                self._begin_epoch()
            try:
                row = next(self._rows, None)
            except KeyboardInterrupt:
                self.stop()  # a traceback may keep this object alive: release threads and processes now
                raise
            if row is None:
                if self._index == 0:
                    log.warning("No records available.")
                if self.ori_dataset.dataset_size is None:
                    self.ori_dataset.dataset_size = self._index
                self._rows = None
                self._epochs_done += 1
                raise StopIteration
            self._index += 1
            return self._format_row(row)
        finally:
            if start is not None:
                events.notify("waited", self, start, _clock())

    def _begin_epoch(self):
        if 0 < self._num_epochs <= self._epochs_done:
            raise RuntimeError(
                "EOF buffer encountered. Users try to fetch data beyond the specified number of epochs. "
                f"The iterator was created for {self._num_epochs} epoch(s)."
            )
        self._index = 0
        self._stop_prefetching()
        to_device = self._convert_rows_to_tensors is not None and get_context("device_target") != "CPU"
        ahead = max(1, min(settings.prefetch, _DEVICE_PREFETCH if to_device else 8))
        box_rows = self._convert_rows_to_tensors
        if self._monitor is not None and box_rows is not None:
            box_rows = self._monitor.timed_boxing(box_rows)
        self._prefetcher = Prefetcher(
            _produce_rows(self._plan, box_rows, self._decodes_strings), ahead, always=to_device
        )
        groups = self._prefetcher if self._monitor is None else self._monitor.follow(self._prefetcher)
        self._rows = chain.from_iterable(groups)

    def get_next(self) -> Any:
        """Return the next row. At the end of an epoch return an empty row; the next call begins the next epoch."""
        try:
            return next(self)
        except StopIteration:
            return self._make_empty_row()

    def _make_empty_row(self):
        return []

    def _format_row(self, row):
        raise RuntimeError("Calling base class Iterator's get_next is invalid.")

    def _stop_prefetching(self):
        if self._prefetcher is not None:
            self._prefetcher.stop()
            self._prefetcher = None

    def get_col_names(self) -> list[str]:
        """Return the names of the columns, in the order of the pipeline."""
        return list(self._columns)

    def stop(self) -> None:
        """Release the resources of the pipeline. The iterator cannot be used afterwards."""
        if hasattr(self, "_runtime_context"):
            del self._runtime_context
            self._rows = None
            self._stop_prefetching()
            self._plan.close()

    release = stop

    def __del__(self) -> None:
        try:
            self.stop()
        except Exception:  # at interpreter exit, modules may be unloaded
            pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class DictIterator(Iterator):
    """Iterator over rows as dicts of column name to value."""

    def _make_empty_row(self):
        return {}

    def _format_row(self, row):
        return dict(zip(self._columns, row, strict=True))


class TupleIterator(Iterator):
    """Iterator over rows as lists of values, in the order of `columns`."""

    def __init__(
        self,
        dataset: Dataset,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = True,
    ) -> None:
        if columns is not None:
            monitor = getattr(dataset, "_monitor", None)
            dataset = dataset.project(columns if isinstance(columns, list) else [columns])
            dataset._monitor = monitor
        super().__init__(dataset, num_epochs, output_numpy, do_copy)

    def _format_row(self, row):
        return list(row)


Selection = Annotated[
    str | list[str],
    Worded("a column name or a list of them", lambda names, _: check(Columns, names, "column_names", "")),
]


@fluent
@checked
def create_tuple_iterator(
    self: Dataset,
    columns: Selection | None = None,
    num_epochs: NoEnd | None = -1,
    output_numpy: Flag | None = False,
    do_copy: bool = True,
) -> TupleIterator:
    """Return an iterator that yields each row as a list of values.

    Args:
        columns (list[str], optional): Columns and their order. Default: None, which means all.
        num_epochs (int, optional): Maximal number of epochs; -1 for no limit. Default: -1.
        output_numpy (bool, optional): True for numpy arrays, False for Tensors. Default: False.
        do_copy (bool, optional): No effect: values never share memory with the pipeline. Default: True.

    Returns:
        TupleIterator.

    Examples:
        >>> for image, label in dataset.create_tuple_iterator():
        ...     print(image.shape, label)
    """
    _report_unused_do_copy(do_copy)
    return TupleIterator(self, columns, -1 if num_epochs is None else num_epochs, bool(output_numpy), do_copy)


@fluent
@checked
def create_dict_iterator(
    self: Dataset, num_epochs: NoEnd | None = -1, output_numpy: Flag | None = False, do_copy: bool = True
) -> DictIterator:
    """Return an iterator that yields each row as a dict of column name to value.

    Args:
        num_epochs (int, optional): Maximal number of epochs; -1 for no limit. Default: -1.
        output_numpy (bool, optional): True for numpy arrays, False for Tensors. Default: False.
        do_copy (bool, optional): No effect: values never share memory with the pipeline. Default: True.

    Returns:
        DictIterator.

    Examples:
        >>> for row in dataset.create_dict_iterator(output_numpy=True):
        ...     print(row["image"].shape)
    """
    _report_unused_do_copy(do_copy)
    return DictIterator(self, -1 if num_epochs is None else num_epochs, bool(output_numpy), do_copy)


def _report_unused_do_copy(do_copy):
    log.unused("Dataset", "values never share memory with the pipeline", do_copy=do_copy is not True)


def empty_like(shapes: Any, types: Any) -> list[np.ndarray]:
    """Return zeros of these shapes and types, one array per column."""
    return [np.zeros(shape, dtype) for shape, dtype in zip(shapes, types, strict=True)]
