"""The operators as a pipeline's description holds them; each says which node of a running plan it becomes."""

from builtins import zip as builtin_zip

import numpy as np

from msnb import log
from msnb.dataset.core.config import settings
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.core.validator_helpers import as_list, type_check
from msnb.dataset.engine import nodes, ordering
from msnb.dataset.engine.chunk import rows_of, settle
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.errors import located
from msnb.dataset.engine.padding import padder
from msnb.dataset.engine.program import LibraryStep, UserStep, op_name


def zip(datasets):
    """Put the columns of several data sets side by side.

    Args:
        datasets (tuple[Dataset]): At least two.

    Returns:
        ZipDataset.

    Raises:
        ValueError: If there are fewer than two.
        TypeError: If `datasets` is no tuple of data sets.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.zip((images, labels))
    """
    type_check(datasets, (tuple,), "datasets")
    if len(datasets) <= 1:
        raise ValueError("Can't zip empty or just one dataset!")
    return ZipDataset(datasets)


class ShuffleDataset(Dataset):
    """The result of :meth:`Dataset.shuffle`."""

    def __init__(self, input_dataset, buffer_size):
        super().__init__(input_dataset)
        self.buffer_size = buffer_size
        self.reshuffle_each_epoch = True
        self.own_seed = None
        if self.is_sync():
            raise RuntimeError("No shuffle after sync operators.")

    def _node(self, children):
        return ordering.Shuffle(children[0], self.buffer_size, self.reshuffle_each_epoch, self.own_seed)

    def is_shuffled(self):
        """True."""
        return True


class RepeatDataset(Dataset):
    """The result of :meth:`Dataset.repeat`."""

    def __init__(self, input_dataset, count):
        super().__init__(input_dataset)
        self.count = -1 if count is None else count

    def _node(self, children):
        if any(getattr(op, "callbacks", None) for op in _all_below(self)):
            from msnb.dataset.callback.watching import multiply_passes

            multiply_passes(children[0], max(self.count, 1))
        return ordering.Repeat(children[0], self.count)

    def _repeats(self):
        return self.count


class SkipDataset(Dataset):
    """The result of :meth:`Dataset.skip`."""

    def __init__(self, input_dataset, count):
        super().__init__(input_dataset)
        self.count = count

    def _node(self, children):
        if self.count < 0:
            raise RuntimeError(f"SkipNode: skip_count should not be negative, skip_count: {self.count}")
        return ordering.Skip(children[0], self.count)


class TakeDataset(Dataset):
    """The result of :meth:`Dataset.take`."""

    def __init__(self, input_dataset, count):
        super().__init__(input_dataset)
        self.count = count

    def _node(self, children):
        return ordering.Take(children[0], self.count)


class ZipDataset(Dataset):
    """The result of :meth:`Dataset.zip`."""

    def __init__(self, datasets):
        for dataset in datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(dataset)}!")
        super().__init__(list(datasets))
        self.datasets = datasets

    def _node(self, children):
        return ordering.Zip(children)

    def is_sync(self):
        """Whether a ``sync_wait`` is in any of the pipelines."""
        return any(c.is_sync() for c in self.children)


class RenameDataset(Dataset):
    """The result of :meth:`Dataset.rename`."""

    def __init__(self, input_dataset, input_columns, output_columns):
        super().__init__(input_dataset)
        self.input_column_names = as_list(input_columns)
        self.output_column_names = as_list(output_columns)

    def _node(self, children):
        return nodes.Rename(children[0], self.input_column_names, self.output_column_names)


class ProjectDataset(Dataset):
    """The result of :meth:`Dataset.project`."""

    def __init__(self, input_dataset, columns, prefetch_size=None):
        super().__init__(input_dataset)
        self.columns = as_list(columns)
        self.prefetch_size = prefetch_size

    def _node(self, children):
        return nodes.Project(children[0], self.columns)


class FilterDataset(Dataset):
    """The result of :meth:`Dataset.filter`."""

    def __init__(self, input_dataset, predicate, input_columns=None, num_parallel_workers=None):
        super().__init__(input_dataset, num_parallel_workers)
        self.predicate = predicate
        self.input_columns = as_list(input_columns) or []

    def _node(self, children):
        return nodes.Filter(children[0], lambda *row: bool(self.predicate(*row)), self.input_columns)


class ConcatDataset(Dataset):
    """The result of :meth:`Dataset.concat`."""

    def __init__(self, datasets):
        super().__init__(list(datasets))
        for dataset in datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(dataset)}!")
        self.datasets = datasets
        self._shard = None
        self.children_sizes_ = [c.get_dataset_size() for c in self.children]
        for number, size in enumerate(self.children_sizes_):
            if size == 0:
                raise ValueError(
                    f"There are no samples in the dataset number {number}. Please make sure there are valid samples in "
                    "the dataset."
                )

    def use_sampler(self, sampler):
        """Give out one share of the concatenated samples.

        Args:
            sampler (DistributedSampler): Without shuffle and num_samples.

        Raises:
            TypeError: If it is another sampler, or a part of the concatenation is batched.
            ValueError: If it shuffles or limits the samples.
        """
        from msnb.dataset.engine import samplers
        from msnb.dataset.engine.concat import shard_children

        if not isinstance(sampler, samplers.DistributedSampler):
            raise TypeError(f"The parameter {sampler} of concat must be DistributedSampler!")
        if sampler.is_shuffled():
            raise ValueError("The parameter shuffle of DistributedSampler must be False!")
        if sampler.get_num_samples() is not None:
            raise ValueError("The parameter num_samples of DistributedSampler is not support to be set!")
        for child in self.children:
            if getattr(child, "sampler", None) is not None and child.sampler.get_num_samples() is not None:
                raise ValueError(f"The parameter NumSamples of {child} is not support to be set!")
            if isinstance(child, BatchDataset):
                raise TypeError(f"The parameter {child} of concat must not be BatchDataset!")
        self.dataset_size = None
        _read_all(self)
        self.children_sizes_ = [c.get_dataset_size() for c in self.children]
        self._shard = shard_children(self, sampler)

    def _node(self, children):
        return ordering.Concat(children, self._shard)

    def _count_classes(self):
        counts = [c._count_classes() for c in self.children]
        return max((c for c in counts if c is not None), default=None)


def _read_all(dataset):
    """No source below divides its data among processes: `dataset` is what is divided."""
    dataset.dataset_size = None
    for child in dataset.children:
        _read_all(child)
    if hasattr(dataset, "read_all"):
        dataset.read_all()


class BatchInfo:
    """What a batch-size function or ``per_batch_map`` is told: which batch of which epoch is being made."""

    def __init__(self, epoch=0, batch=0):
        self._epoch = epoch
        self._batch = batch

    def get_batch_num(self):
        """Number of the batch in this epoch, from 0."""
        return self._batch

    def get_epoch_num(self):
        """Number of the epoch, from 0."""
        return self._epoch


class BatchDataset(Dataset):
    """The result of :meth:`Dataset.batch`."""

    def __init__(
        self,
        input_dataset,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        pad_info=None,
        python_multiprocessing=False,
    ):
        super().__init__(input_dataset, num_parallel_workers)
        if _repeats_below(input_dataset):
            log.warning("Repeat is located before batch, data from two epochs can be batched together.")
        _tell_sync(input_dataset, batch_size)
        self.batch_size = 1 if callable(batch_size) else batch_size
        self.batch_size_func = batch_size if callable(batch_size) else None
        self.drop_remainder = drop_remainder or False
        self.per_batch_map = per_batch_map
        self.input_columns = as_list(input_columns) or []
        self.output_columns = as_list(output_columns) or []
        self.column_order = as_list(column_order) or []
        self.pad = pad_info is not None
        self.pad_info = pad_info or {}
        self.python_multiprocessing = python_multiprocessing

    def _node(self, children):
        child = children[0]
        columns, per_batch = list(child.columns), None
        if self.per_batch_map is not None:
            per_batch = _PerBatch(self, child)
            columns = per_batch.columns
        pad = padder(self.pad_info, columns) if self.pad else None
        node = nodes.Batch(child, columns, self.batch_size, self.drop_remainder, self.batch_size_func, per_batch, pad)
        if self.column_order:
            node = nodes.Project(node, self.column_order)
        return node

    def _batch_rows(self):
        return -1 if self.batch_size_func else self.batch_size


class _PerBatch:
    """Calls the user's ``per_batch_map`` with the rows of a batch."""

    def __init__(self, dataset, child):
        self.function = dataset.per_batch_map
        self.names = dataset.input_columns
        for name in self.names:
            if name not in child.columns:
                raise RuntimeError(f"error. col:{name} doesn't exist. The columns are {child.columns}.")
        self.inputs = [child.columns.index(name) for name in self.names]
        outputs = dataset.output_columns or self.names
        self.outputs = outputs
        columns = list(child.columns)
        if len(outputs) == len(self.names):
            for i, name in builtin_zip(self.inputs, outputs, strict=True):
                columns[i] = name
        else:
            columns = list(outputs) + [c for c in child.columns if c not in self.names]
        if len(set(columns)) != len(columns):
            raise RuntimeError(f"output_columns is NOT set correctly: it would make the columns {columns}.")
        self.columns = columns
        self.pool = None
        if dataset.python_multiprocessing:
            from msnb.dataset.engine.processes import ProcessPool

            self.pool = ProcessPool([self.function], dataset.num_parallel_workers or 1)

    def __call__(self, columns, group, epoch, number):
        lists = [list(rows_of(columns[i])) for i in self.inputs]
        try:
            if self.pool is not None:
                made = self.pool.call(0, *lists, BatchInfo(epoch, number))
            else:
                made = self.function(*lists, BatchInfo(epoch, number))
        except Exception as error:
            raise located(error, f"per_batch_map {op_name(self.function)}", self.names, group.first) from error
        if not isinstance(made, tuple):
            if not isinstance(made, list) or len(made) != len(self.outputs):
                raise RuntimeError(
                    "Invalid parameter, batch map function should return a tuple of list of numpy array, but returned "
                    f"{type(made).__name__}."
                )
        if len(made) != len(self.outputs):
            raise RuntimeError(f"Incorrect number of columns returned. expects: {len(self.outputs)} gets: {len(made)}")
        results = []
        for name, rows in builtin_zip(self.outputs, made, strict=True):
            if len(rows) != group.n:
                raise RuntimeError(
                    f"column: {name} expects: {group.n} rows returned from per_batch_map, gets: {len(rows)}"
                )
            results.append(settle([np.asarray(r) for r in rows]))
        if len(results) == len(self.inputs):
            columns = list(columns)
            for i, column in builtin_zip(self.inputs, results, strict=True):
                columns[i] = column
            return columns
        used = set(self.inputs)
        return results + [c for i, c in enumerate(columns) if i not in used]


class MapDataset(Dataset):
    """The result of :meth:`Dataset.map`."""

    def __init__(
        self,
        input_dataset,
        operations=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
    ):
        super().__init__(input_dataset, num_parallel_workers, cache)
        operations = [] if operations is None else operations
        self.operations = list(operations) if isinstance(operations, list | tuple) else [operations]
        for i, op in enumerate(self.operations):
            if not callable(op):
                raise TypeError(
                    f"operations[{i}] of map is neither a transform nor a callable Python function, but {op!r} "
                    f"({type(op).__name__})."
                )
        self.input_columns = as_list(input_columns) or []
        self.output_columns = as_list(output_columns) or self.input_columns
        self.column_order = column_order
        if self.input_columns and len(self.input_columns) != len(self.output_columns) and column_order is None:
            raise ValueError(
                "When length of input_columns and output_columns are not equal, column_order must be specified."
            )
        self.python_multiprocessing = python_multiprocessing
        self.callbacks = callbacks if callbacks is None or isinstance(callbacks, list) else [callbacks]

    def _node(self, children):
        child = children[0]
        names = self.input_columns or child.columns[:1]
        outputs = self.output_columns or names
        columns = list(child.columns)
        for name in names:
            if name not in columns:
                raise RuntimeError(f"input column name: {name} doesn't exist in the dataset columns {columns}.")
        inputs = [columns.index(name) for name in names]
        workers = self.num_parallel_workers or settings.workers
        steps = self._steps(inputs, list(names), len(outputs), workers)
        if len(outputs) == len(inputs):
            for i, name in builtin_zip(inputs, outputs, strict=True):
                columns[i] = name
        else:
            columns = list(outputs) + [c for c in columns if c not in names]
        if len(set(columns)) != len(columns):
            twice = next(c for c in columns if columns.count(c) > 1)
            raise RuntimeError(
                f"Invalid parameter, duplicate column names are not allowed: {twice} (map makes {columns})."
            )
        watcher = None
        if self.callbacks:
            from msnb.dataset.callback.watching import Watcher

            watcher = Watcher(self.callbacks)
        node = nodes.Map(child, steps, columns, watcher)
        if self.cache is not None:
            node = self.cache.node(self, node)
        return nodes.Project(node, self.column_order) if self.column_order else node

    def _steps(self, inputs, names, results, workers):
        """One step per transform; neighbouring Python functions share one, in which PIL images may travel."""
        groups = []
        for op in self.operations:
            if isinstance(op, TensorOp):
                groups.append(op)
            elif groups and isinstance(groups[-1], list):
                groups[-1].append(op)
            else:
                groups.append([op])
        if (
            len(groups) > 1
            and len(inputs) != results
            and any(isinstance(g, list) for g in groups)
            or len(groups) > 1
            and any(getattr(g, "inputs", 1) != 1 for g in groups if not isinstance(g, list))
        ):
            return [_RowSteps(groups, inputs, results, names)]
        steps = []
        for g, group in enumerate(groups):
            made = results if g == len(groups) - 1 else len(inputs)
            if isinstance(group, list):
                threads = workers if self.num_parallel_workers is not None and not self.python_multiprocessing else 1
                step = UserStep(group, inputs, made, names, threads)
                step.followed = g < len(groups) - 1
                if self.python_multiprocessing:
                    from msnb.dataset.engine.processes import ProcessPool

                    step.processes = ProcessPool([step.call], workers)
                steps.append(step)
            else:
                steps.append(LibraryStep(group, inputs, made, names, workers))
        return steps


class _RowSteps(UserStep):
    """Operations that change the number of columns on their way: each gets whatever the one before returns."""

    def __init__(self, groups, inputs, results, names):
        functions = [f for g in groups for f in (g if isinstance(g, list) else [g])]
        super().__init__(functions, inputs, results, names)

    def call(self, *row):
        """One row through the operations."""
        values = row
        for function, state in builtin_zip(self.functions, self.states, strict=True):
            values = function._run(state, *values) if isinstance(function, TensorOp) else function(*values)
            if not isinstance(values, tuple):
                values = (values,)
        return tuple(self._array(v) for v in values)


def _all_below(dataset):
    for child in dataset.children:
        yield child
        yield from _all_below(child)


def _repeats_below(dataset):
    return isinstance(dataset, RepeatDataset) or any(_repeats_below(c) for c in dataset.children)


def _tell_sync(dataset, batch_size):
    """A ``sync_wait`` below a batch counts in batches."""
    update = getattr(dataset, "update_sync_batch_size", None)
    if update is not None and not callable(batch_size):
        update(batch_size)
    for child in dataset.children:
        _tell_sync(child, batch_size)
