"""Operators that work on rows: batch, map, shuffle and what selects rows."""

from msnb import log
from msnb.dataset.core.validator_helpers import (
    INT32_MAX,
    as_list,
    check_cache,
    check_columns,
    check_num_parallel_workers,
    check_optional,
    check_pad_info,
    check_pos_int32,
    check_types,
    check_within,
    type_check,
    type_check_list,
)


class RowMethods:
    """Methods of :class:`Dataset` that make a data set of other rows."""

    def bucket_batch_by_length(
        self,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        """Batch rows of similar length together.

        Args:
            column_names (list[str]): Columns whose length counts.
            bucket_boundaries (list[int]): Increasing upper bounds (exclusive) of the buckets; n bounds make n + 1
                buckets.
            bucket_batch_sizes (list[int]): Batch size of each bucket.
            element_length_function (Callable, optional): Length of a row, from the columns. Default: None, the first
                dimension of
                the one column.
            pad_info (dict, optional): Column to (shape, value) to pad to; None in a shape stands for the longest.
                Default: None,
                no padding.
            pad_to_bucket_boundary (bool, optional): Whether None in a shape is the bucket's bound - 1 instead. Default:
                False.
            drop_remainder (bool, optional): Whether incomplete batches are dropped. Default: False.

        Returns:
            BucketBatchByLengthDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If bounds or sizes do not fit together.

        Examples:
            >>> pad_info = {"col": ([None], 0)}
            >>> dataset = dataset.bucket_batch_by_length(["col"], [5, 10], [2, 3, 1], lambda x: len(x), pad_info)
        """
        from msnb.dataset.engine.bucket import BucketBatchByLengthDataset

        return BucketBatchByLengthDataset(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        """Batch rows, padding each column to one shape.

        Args:
            batch_size (Union[int, Callable]): Rows per batch.
            drop_remainder (bool, optional): Whether the last, incomplete batch is dropped. Default: False.
            num_parallel_workers (int, optional): Workers. Default: None.
            pad_info (dict, optional): Column to (shape, value). Default: None, every column, to the longest, with
                zeros.

        Returns:
            BatchDataset.
        """
        return self.batch(
            batch_size, drop_remainder, num_parallel_workers, pad_info={} if pad_info is None else pad_info
        )

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        pad_info=None,
        python_multiprocessing=False,
        max_rowsize=16,
    ):
        """Combine consecutive rows into one with a leading axis.

        Args:
            batch_size (Union[int, Callable]): Rows per batch, or a function of BatchInfo that tells it.
            drop_remainder (bool, optional): Whether the last, incomplete batch is dropped. Default: False.
            num_parallel_workers (int, optional): Workers. Default: None.
            per_batch_map (Callable, optional): Called with a list of arrays per input column and a BatchInfo before
                rows are put
                together; returns as many lists. Default: None.
            input_columns (Union[str, list[str]], optional): Columns for `per_batch_map`. Default: None.
            output_columns (Union[str, list[str]], optional): Names of its results. Default: None, those of the input
                columns.
            column_order (Union[str, list[str]], optional): Order of the columns afterwards. Default: None.
            pad_info (dict, optional): Column to (shape, value) to pad to; None in a shape is the longest of the batch.
                Default: None.
            python_multiprocessing (bool, optional): Whether `per_batch_map` runs in processes. Default: False.
            max_rowsize (int, optional): Of 2.x; without effect, rows of any size pass. Default: 16.

        Returns:
            BatchDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If arguments contradict each other.

        Examples:
            >>> dataset = dataset.batch(32, drop_remainder=True)
        """
        from msnb.dataset.engine.operators import BatchDataset

        _check_batch_size(batch_size)
        check_types((bool,), drop_remainder=drop_remainder)
        check_optional((bool,), python_multiprocessing=python_multiprocessing)
        _check_workers(num_parallel_workers)
        _check_names(input_columns=input_columns, output_columns=output_columns, column_order=column_order)
        if pad_info is not None:
            check_pad_info(pad_info)
        _check_per_batch(per_batch_map, input_columns, pad_info)
        _say_unused(max_rowsize)
        return BatchDataset(
            self,
            batch_size,
            drop_remainder,
            num_parallel_workers,
            per_batch_map,
            input_columns,
            output_columns,
            column_order,
            pad_info,
            python_multiprocessing,
        )

    def sync_wait(self, condition_name, num_batch=1, callback=None):
        """Let rows pass only as :meth:`sync_update` allows.

        Args:
            condition_name (str): Name of the condition.
            num_batch (int, optional): Batches that pass at the beginning and per update. Default: 1.
            callback (Callable, optional): Called with the data of each update. Default: None.

        Returns:
            SyncWaitDataset.

        Raises:
            RuntimeError: If the name is used already.
        """
        from msnb.dataset.engine.sync import SyncWaitDataset

        check_types((str,), condition_name=condition_name)
        check_types((int,), num_batch=num_batch)
        return SyncWaitDataset(self, condition_name, num_batch, callback)

    def shuffle(self, buffer_size):
        """Shuffle rows through a buffer: each next row is drawn from the `buffer_size` rows waiting in it.

        Args:
            buffer_size (int): At least 2; the whole data set's size shuffles perfectly.

        Returns:
            ShuffleDataset.

        Raises:
            ValueError: If `buffer_size` is less than 2.
            RuntimeError: If it follows ``sync_wait``.

        Examples:
            >>> dataset = dataset.shuffle(10000)
        """
        from msnb.dataset.engine.operators import ShuffleDataset

        check_within(2, INT32_MAX, buffer_size=buffer_size)
        return ShuffleDataset(self, buffer_size)

    def flat_map(self, func):
        """Make a data set of each row and concatenate them.

        Args:
            func (Callable): Takes a row (a list of arrays), returns a Dataset.

        Returns:
            Dataset.

        Raises:
            TypeError: If `func` is no function or returns something else.
        """
        from msnb.dataset.engine.dataset import Dataset
        from msnb.dataset.engine.operators import ConcatDataset

        if not callable(func):
            raise TypeError("func must be a function.")
        parts = []
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            part = func(row)
            if not isinstance(part, Dataset):
                raise TypeError(f"flat_map must return a Dataset object, but func returned {type(part).__name__}.")
            parts.append(part)
        if not parts:
            raise TypeError("flat_map must return a Dataset object, but there was no row to make one from.")
        return parts[0] if len(parts) == 1 else ConcatDataset(parts)

    def map(
        self,
        operations,
        input_columns=None,
        output_columns=None,
        column_order=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
        max_rowsize=16,
        offload=None,
    ):
        """Apply transforms or functions to columns of every row.

        Args:
            operations (Union[list, TensorOp, Callable]): Applied one after the other; each gets what the one before
                returns.
            input_columns (Union[str, list[str]], optional): Columns for the first. Default: None, the first column.
            output_columns (Union[str, list[str]], optional): Names of the results. Default: None, those of the input
                columns.
            column_order (list[str], optional): Order of the columns afterwards; needed when the numbers differ.
                Default: None.
            num_parallel_workers (int, optional): Workers. Functions of the user's run on that many threads when it is
                given and
                greater than 1, and one at a time, in order, when it is not. Default: None.
            python_multiprocessing (bool, optional): Whether the user's functions run in processes. Default: False.
            cache (DatasetCache, optional): Where to keep the results. Default: None.
            callbacks (Union[DSCallback, list[DSCallback]], optional): Called around steps and epochs. Default: None.
            max_rowsize (int, optional): Of 2.x; without effect, rows of any size pass. Default: 16.
            offload (bool, optional): Of 2.x; without effect, the plan is optimised anyway. Default: None.

        Returns:
            MapDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If column numbers differ and `column_order` is not given.

        Examples:
            >>> import mindspore.dataset.vision.c_transforms as CV
            >>> operations = [CV.Decode(), CV.Resize((32, 32))]
            >>> dataset = dataset.map(operations, input_columns="image", num_parallel_workers=4)
        """
        from msnb.dataset.callback import DSCallback
        from msnb.dataset.engine.operators import MapDataset

        check_cache(cache)
        check_types((bool,), python_multiprocessing=python_multiprocessing)
        check_optional((list,), column_order=column_order)
        _check_workers(num_parallel_workers)
        _check_names(input_columns=input_columns, output_columns=output_columns, column_order=column_order)
        if isinstance(callbacks, list | tuple):
            type_check_list(callbacks, (DSCallback,), "callbacks")
        else:
            check_optional((DSCallback,), callbacks=callbacks)
        _say_unused(max_rowsize)
        if offload:
            log.once("Dataset.map: 'offload' has no effect: the plan is optimised anyway (dataset.explain() shows it).")
        return MapDataset(
            self,
            operations,
            input_columns,
            output_columns,
            column_order,
            num_parallel_workers,
            python_multiprocessing,
            cache,
            callbacks,
        )

    def filter(self, predicate, input_columns=None, num_parallel_workers=1):
        """Keep the rows for which `predicate` is true.

        Args:
            predicate (Callable): Takes the input columns, returns a bool.
            input_columns (Union[str, list[str]], optional): Columns for it. Default: None, all.
            num_parallel_workers (int, optional): Without effect: predicates run in order. Default: 1.

        Returns:
            FilterDataset.

        Examples:
            >>> dataset = dataset.filter(lambda label: label < 5, input_columns=["label"])
        """
        from msnb.dataset.engine.operators import FilterDataset

        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        _check_workers(num_parallel_workers)
        if (num_parallel_workers or 1) > 1:
            log.once("Dataset.filter: predicates run one at a time, in order; num_parallel_workers has no effect.")
        _check_names(input_columns=input_columns)
        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    def repeat(self, count=None):
        """Go through the data `count` times per epoch.

        Args:
            count (int, optional): Positive, or -1 for ever. Default: None, for ever.

        Returns:
            RepeatDataset.

        Examples:
            >>> dataset = dataset.repeat(3)
        """
        from msnb.dataset.engine.operators import RepeatDataset

        type_check(count, (int, type(None)), "repeat")
        _check_count(-1 if count is None else count)
        return RepeatDataset(self, count)

    def skip(self, count):
        """Leave out the first `count` rows.

        Args:
            count (int): Not negative.

        Returns:
            SkipDataset.
        """
        from msnb.dataset.engine.operators import SkipDataset

        check_within(-1, INT32_MAX, count=count)
        return SkipDataset(self, count)

    def take(self, count=-1):
        """Only the first `count` rows.

        Args:
            count (int, optional): Positive, or -1 for all. Default: -1.

        Returns:
            TakeDataset.
        """
        from msnb.dataset.engine.operators import TakeDataset

        check_types((int,), count=count)
        _check_count(count)
        return TakeDataset(self, count)


def _check_count(count):
    """-1, for no limit, or a positive number."""
    if count != -1 and not 0 < count <= INT32_MAX:
        raise ValueError(f"count should be either -1 or positive integer, but got {count}.")


def _check_workers(number):
    if number is not None:
        check_num_parallel_workers(number)


def _check_names(**arguments):
    """Each is None, a column name or a list of them."""
    for name, columns in arguments.items():
        if columns is not None:
            check_columns(columns, name)


def _check_batch_size(size):
    """A positive int, or a function of a BatchInfo."""
    if isinstance(size, int):
        check_pos_int32(size, "batch_size")
    elif not callable(size):
        raise TypeError(f"batch_size should either be an int or a callable, but got {size!r}.")
    elif len(_parameters(size)) != 1:
        raise ValueError("callable batch_size should take one parameter (BatchInfo).")


def _check_per_batch(function, columns, pad_info):
    """A function of the columns and a BatchInfo, or None with no columns."""
    if function is not None and pad_info is not None:
        raise ValueError("pad_info and per_batch_map can't both be set.")
    if (function is None) is not (columns is None):
        raise ValueError("per_batch_map and input_columns need to be passed in together.")
    if function is None:
        return
    takes, gets = _parameters(function), len(as_list(columns)) + 1
    if takes is not None and len(takes) != gets:
        raise ValueError(
            f"The signature of per_batch_map should match with input columns: it takes {len(takes)} arguments, but "
            f"gets {gets - 1} columns and a BatchInfo."
        )


def _parameters(function):
    import inspect

    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _say_unused(max_rowsize):
    log.unused("Dataset", "processes pass rows of any size", max_rowsize=max_rowsize != 16)
