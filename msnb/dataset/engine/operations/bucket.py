"""``bucket_batch_by_length``: batch rows of similar length together."""

import bisect
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

from msnb.common.kinds import Worded, checked
from msnb.dataset.core.dicts import as_batch
from msnb.dataset.core.kinds import ColumnList, Flag, PadInfo, of_type
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.chunk import Chunk, rows_of, try_stack
from msnb.dataset.engine.execution.errors import locate_error
from msnb.dataset.engine.operations.padding import make_padder


def _check_int_list(values, name):
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in of_type(list)(values, name)):
        raise TypeError(f"{name} should be a list of int, but got {values}.")
    return values


def _check_batch_sizes(values, name):
    if any(v <= 0 for v in _check_int_list(values, name)):
        raise ValueError(f"{name} should be a list of positive numbers, but got {values}.")
    return values


def _check_boundaries(values, name):
    if not _check_int_list(values, name):
        raise ValueError(f"{name} cannot be empty.")
    if any(v <= 0 for v in values):
        raise ValueError(f"{name} must only contain positive numbers. Got {values}.")
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError(f"{name} should be strictly increasing, but got {values}.")
    return values


Sizes = Annotated[list[int], Worded("a list of positive int", _check_batch_sizes)]
Bounds = Annotated[list[int], Worded("a list of increasing positive int", _check_boundaries)]


class BucketBatchByLengthDataset(Dataset):
    """Data set that :meth:`Dataset.bucket_batch_by_length` returns."""

    def __init__(
        self,
        input_dataset: Dataset,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., int] | None,
        pad_info: dict[str, Any] | None,
        pad_to_bucket_boundary: bool,
        drop_remainder: bool,
    ) -> None:
        if len(column_names) != 1 and element_length_function is None:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed.")
        buckets = len(bucket_boundaries) + 1
        if len(bucket_batch_sizes) != buckets:
            raise ValueError(
                f"bucket_batch_sizes must contain one element more than bucket_boundaries, {buckets}, but has "
                f"{len(bucket_batch_sizes)}."
            )
        super().__init__(input_dataset)
        self.column_names = column_names
        self.bucket_boundaries = bucket_boundaries
        self.bucket_batch_sizes = bucket_batch_sizes
        self.element_length_function = element_length_function
        self.pad_info: dict[str, Any] = pad_info or {}
        self.pad_to_bucket_boundary: bool = pad_to_bucket_boundary
        self.drop_remainder: bool = drop_remainder

    def _make_plan_node(self, children):
        return _Bucket(children[0], self)


@fluent
@checked
def bucket_batch_by_length(
    self: Dataset,
    column_names: ColumnList,
    bucket_boundaries: Bounds,
    bucket_batch_sizes: Sizes,
    element_length_function: Callable | None = None,
    pad_info: PadInfo | None = None,
    pad_to_bucket_boundary: Flag = False,
    drop_remainder: Flag = False,
) -> BucketBatchByLengthDataset:
    """Batch rows of similar length together.

    Args:
        column_names (list[str]): Columns that determine the length of a row.
        bucket_boundaries (list[int]): Increasing upper bounds (exclusive) of the buckets; n bounds make n + 1
            buckets.
        bucket_batch_sizes (list[int]): Batch size of each bucket.
        element_length_function (Callable, optional): Takes these columns and returns the length of a row. Default:
            None, the first dimension of the only column.
        pad_info (dict, optional): Maps columns to (shape, fill value). None in a shape stands for the length of the
            longest row of the batch. Default: None, no padding.
        pad_to_bucket_boundary (bool, optional): True if None in a shape stands for the bucket's bound - 1 instead.
            Default: False.
        drop_remainder (bool, optional): True to drop incomplete batches. Default: False.

    Returns:
        BucketBatchByLengthDataset.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If bounds or sizes do not fit together.

    Examples:
        Texts of any length are batched in three shapes. A graph is then compiled three times instead of once per
        length. A column of ones is padded with zeros like the text. It is a mask that excludes the padding from sums
        and means.

        >>> def texts():
        ...     for ids in ([3, 1], [5], [4, 4, 2], [7, 7, 7, 7, 7]):
        ...         yield np.array(ids, np.int32), np.ones(len(ids), np.float32)
        >>> zeros = {"ids": ([None], 0), "mask": ([None], 0)}
        >>> batches = ds.GeneratorDataset(texts, ["ids", "mask"], shuffle=False).bucket_batch_by_length(
        ...     ["ids"], [3, 5, 9], [2, 2, 2, 1], pad_info=zeros, pad_to_bucket_boundary=True)
        >>> for ids, mask in batches.create_tuple_iterator():
        ...     print(ids.shape, (ids * mask).sum() / mask.sum())
        (2, 2) 3.0
        (1, 4) 3.3333333
        (1, 8) 7.0
    """
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


class _Bucket(nodes.Node):
    def __init__(self, child, dataset):
        super().__init__([child], child.columns)
        for name in dataset.column_names:
            if name not in child.columns:
                raise RuntimeError(
                    "BucketBatchByLength: Couldn't find the specified column in the dataset: "
                    f"input column name: {name} doesn't exist in the dataset columns {child.columns}."
                )
        self.inputs = [child.columns.index(name) for name in dataset.column_names]
        self.dataset = dataset
        # Bucket i holds lengths from boundaries[i - 1] (0 for the first) up to, but not including, boundaries[i].
        self.pads = [self._make_padder(i) for i in range(len(dataset.bucket_batch_sizes))]

    def _make_padder(self, bucket):
        dataset = self.dataset
        info = dict(dataset.pad_info)
        if dataset.pad_to_bucket_boundary:
            for name, pair in info.items():
                shape = pair[0] if pair else None
                if shape is None or None not in shape:
                    continue
                if bucket == len(dataset.bucket_boundaries):
                    return None
                info[name] = ([dataset.bucket_boundaries[bucket] - 1 if d is None else d for d in shape], pair[1])
        return make_padder(info, self.columns)

    def _compute_row_length(self, row):
        function = self.dataset.element_length_function
        values = [row[i] for i in self.inputs]
        if function is None:
            return values[0].shape[0] if values[0].ndim else 1
        length = int(function(*values))
        if length < 0:
            raise RuntimeError(
                "Invalid parameter, element_length_function must return an integer greater than or equal to 0, but "
                "returned "
                f"{length}."
            )
        return length

    def chunks(self, hint):
        dataset = self.dataset
        buckets = [[] for _ in dataset.bucket_batch_sizes]
        number = 0
        for chunk in self.children[0].chunks(hint):
            for at, row in enumerate(zip(*map(rows_of, chunk.columns), strict=True)):
                try:
                    bucket = bisect.bisect_right(dataset.bucket_boundaries, self._compute_row_length(row))
                except Exception as error:
                    raise locate_error(
                        error, "element_length_function", dataset.column_names, chunk.first + at
                    ) from error
                buckets[bucket].append(row)
                if len(buckets[bucket]) == dataset.bucket_batch_sizes[bucket]:
                    yield self._make_batch(buckets[bucket], bucket, number)
                    buckets[bucket] = []
                    number += 1
        if not dataset.drop_remainder:
            for bucket, rows in enumerate(buckets):
                if rows:
                    yield self._make_batch(rows, bucket, number)
                    number += 1

    def _make_batch(self, rows, bucket, number):
        pad = self.pads[bucket]
        if pad is None:
            raise RuntimeError("Invalid data, requested to pad to bucket boundary, element falls in last bucket.")
        columns = [list(c) for c in zip(*rows, strict=True)]
        columns = pad(columns, self.columns)
        batched = []
        for name, column in zip(self.columns, columns, strict=True):
            array = column if not isinstance(column, list) else try_stack(column)
            if array is None:
                raise RuntimeError(
                    "Invalid data, expect same shape for each data row, but got inconsistent data shapes in column "
                    f"{name!r}: {sorted({r.shape for r in column})}. Name it in pad_info."
                )
            batched.append(as_batch(array, name)[None])
        return Chunk(batched, 1, number)

    def size(self):
        return None

    def describe(self):
        return f"bucket_batch_by_length at {self.dataset.bucket_boundaries}"
