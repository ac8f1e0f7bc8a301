"""Queries of a data set: columns, shapes, types, sizes."""

from typing import Any

import numpy as np

from msnb.common.kinds import checked
from msnb.core.operator import api_generations
from msnb.dataset.core.kinds import Flag
from msnb.dataset.engine.execution.chunk import Hint, rows_of
from msnb.dataset.engine.execution.errors import NoDataError


def _merge_shapes(shapes, column):
    """Return the common shape of `shapes`, with None for each dimension whose length differs."""
    if len({len(s) for s in shapes}) > 1:
        raise RuntimeError(f"Column {column!r} has rows with different numbers of dimensions: {sorted(shapes)}.")
    return [lengths[0] if len(set(lengths)) == 1 else None for lengths in zip(*shapes, strict=True)]


class Queries:
    """Base of :class:`Dataset` with methods that return properties of its rows."""

    # results that the first query caches
    dataset_size: int | None = None
    saved_output_shapes: list[Any] | None = None
    saved_output_types: list[Any] | None = None

    @property
    def input_indexs(self) -> Any:
        """Indices of the columns that are the network's inputs, as set on this data set or on one of its inputs."""
        child_indices = (child.input_indexs for child in self.children)
        return self._input_indexs or next(filter(None, child_indices), ())

    @input_indexs.setter
    def input_indexs(self, value: Any) -> None:
        self._input_indexs = value

    def copy_batch_size(self, value: int) -> None:
        """Set the batch size that :meth:`get_batch_size` returns."""
        self._batch_size = value

    def get_col_names(self) -> list[str]:
        """Return the names of the columns."""
        if self._col_names is None:
            plan = self.make_plan(optimise=False)
            self._col_names = list(plan.columns)
            plan.close()
        return self._col_names

    def _inspect_first_row(self):
        plan = self.make_plan()
        try:
            for chunk in plan.chunks(Hint(1)):
                row = [rows_of(c)[0] for c in chunk.columns]
                break
            else:
                row = []
        finally:
            plan.close()
        self.saved_output_shapes = [[0] if a.dtype == object else list(a.shape) for a in row]  # [0] stands for a dict
        if api_generations.shared == 1:
            self.saved_output_types = [a.dtype.type for a in row]
        else:  # pipelines store strings as bytes and return them as str
            self.saved_output_types = [np.dtype("U") if a.dtype.kind in "SU" else a.dtype for a in row]

    @checked
    def output_shapes(self, estimate: Flag = False) -> list[list[int | None]]:
        """Return the shape of each column.

        Args:
            estimate (bool, optional): True to read every row instead of only the first. None in a shape then stands for
                a length that differs among rows. Default: False.

        Returns:
            list[list[int]].

        Raises:
            RuntimeError: If `estimate` is True, and the number of dimensions of a column is not the same in all rows.
        """
        if estimate:
            return self._compute_common_shapes()
        if self.saved_output_shapes is None:
            self._inspect_first_row()
        return self.saved_output_shapes

    def _compute_common_shapes(self):
        column_shapes = None
        plan = self.make_plan()
        try:
            for chunk in plan.chunks(Hint(64)):
                shapes = [{a.shape for a in rows_of(column)} for column in chunk.columns]
                column_shapes = (
                    shapes if column_shapes is None else [a | b for a, b in zip(column_shapes, shapes, strict=True)]
                )
        finally:
            plan.close()
        return [
            _merge_shapes(shapes, name)
            for shapes, name in zip(column_shapes or [], plan.columns, strict=bool(column_shapes))
        ]

    def output_types(self) -> list[type]:
        """Return the numpy type of each column, according to the first row."""
        if self.saved_output_types is None:
            self._inspect_first_row()
        return self.saved_output_types

    def get_dataset_size(self) -> int:
        """Return the number of rows per epoch, or of batches if the rows are batched.

        If the size cannot be computed, the pipeline runs once to count them.
        """
        if self.dataset_size is None:
            try:
                self.dataset_size = self._count_rows()
            except NoDataError:
                self.dataset_size = 0
        return self.dataset_size

    def __bool__(self) -> bool:
        return True  # not ``len(self) > 0``, because ``if dataset:`` must not run a pipeline

    def __len__(self) -> int:
        if self.dataset_size is None and self._is_single_pass():
            raise TypeError(  # `list` asks for the length first, and ignores this error
                f"The length of this {type(self).__name__} is not known: its source is an iterator, which can be read "
                "only once. Give GeneratorDataset the function that makes it, or read the rows and count them."
            )
        return self.get_dataset_size()

    def _is_single_pass(self):
        return any(child._is_single_pass() for child in self.children)

    def _count_rows(self):
        plan = self.make_plan()
        try:
            size = plan.size()
            return sum(chunk.n for chunk in plan.chunks(Hint(64))) if size is None else size
        finally:
            plan.close()

    def num_classes(self) -> int | None:
        """Return the number of classes, or None if the source does not know it."""
        if self._num_classes is None:
            self._num_classes = self._count_classes()
        return self._num_classes

    def _count_classes(self):
        return self.children[-1]._count_classes() if self.children else None

    def get_batch_size(self) -> int:
        """Return the rows per batch, 1 if there is no batch."""
        if self._batch_size is None:
            self._batch_size = self._compute_batch_size()
        return self._batch_size

    def _compute_batch_size(self):
        return self.children[-1]._compute_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """Return the count of the pipeline's last ``repeat``, or 1 if it has none."""
        if self._repeat_count is None:
            self._repeat_count = self._count_repeats()
        return self._repeat_count

    def _count_repeats(self):
        return self.children[-1]._count_repeats() if self.children else 1

    def get_class_indexing(self) -> dict[Any, Any]:
        """Return {class name: class index}, or {} if the source has no classes."""
        return self.children[0].get_class_indexing() if self.children else {}

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return any(child.is_shuffled() for child in self.children)

    def is_sharded(self) -> bool:
        """Return True if this data set reads only one shard of the data."""
        return any(child.is_sharded() for child in self.children)
