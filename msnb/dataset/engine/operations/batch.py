"""``batch``: combine consecutive rows into one."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from msnb import log
from msnb.common.kinds import Worded, check, checked, readable
from msnb.core.operator import api_generations
from msnb.core.tensor.tensor import Tensor
from msnb.dataset.core.dicts import convert_values
from msnb.dataset.core.kinds import Columns, Flag, PadInfo, PositiveInt32, Workers, as_list
from msnb.dataset.core.tensor_op import as_array, as_str
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.chunk import rows_of, stack_if_uniform
from msnb.dataset.engine.execution.errors import locate_error
from msnb.dataset.engine.execution.nodes import BatchInfo
from msnb.dataset.engine.execution.processes import ProcessPool
from msnb.dataset.engine.execution.program import op_name
from msnb.dataset.engine.operations.padding import make_padder
from msnb.dataset.engine.operations.take_skip import RepeatDataset


def _list_parameter_names(function):
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _check_batch_size(size, name):
    if isinstance(size, int):
        return check(PositiveInt32, size, name, "batch")
    if not callable(size):
        raise TypeError(f"{name} should either be an int or a callable, but got {size!r}.")
    if len(_list_parameter_names(size)) != 1:
        raise ValueError(f"callable {name} should take one parameter (BatchInfo).")
    return size


BatchSize = Annotated[int | Callable, Worded("a positive int or a function of a BatchInfo", _check_batch_size)]


class BatchDataset(Dataset):
    """Data set that :meth:`Dataset.batch` returns."""

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        column_order: str | list[str] | None = None,
        pad_info: dict[str, Any] | None = None,
        python_multiprocessing: bool = False,
    ) -> None:
        super().__init__(input_dataset, num_parallel_workers)
        if _contains_repeat(input_dataset):
            log.warning("Repeat is located before batch, data from two epochs can be batched together.")
        _set_sync_batch_size(input_dataset, batch_size)
        self.batch_size: int = 1 if callable(batch_size) else batch_size
        self.batch_size_func: Callable[..., Any] | None = batch_size if callable(batch_size) else None
        self.drop_remainder: bool = drop_remainder or False
        self.per_batch_map = per_batch_map
        self.input_columns: list[str] = as_list(input_columns) or []
        self.output_columns: list[str] = as_list(output_columns) or []
        self.column_order: list[str] = as_list(column_order) or []
        self.pad: bool = pad_info is not None
        self.pad_info: dict[str, Any] = pad_info or {}
        self.python_multiprocessing: bool = python_multiprocessing

    def _make_plan_node(self, children):
        child = children[0]
        columns, per_batch = list(child.columns), None
        if self.per_batch_map is not None:
            per_batch = _PerBatchMap(self, child)
            columns = per_batch.columns
        pad = make_padder(self.pad_info, columns) if self.pad else None
        node = nodes.Batch(child, columns, self.batch_size, self.drop_remainder, self.batch_size_func, per_batch, pad)
        if self.column_order:
            node = nodes.Project(node, self.column_order)
        return node

    def _compute_batch_size(self):
        return -1 if self.batch_size_func else self.batch_size


@fluent
@checked
def batch(
    self: Dataset,
    batch_size: BatchSize,
    drop_remainder: Flag = False,
    num_parallel_workers: Workers | None = None,
    per_batch_map: Callable | None = None,
    input_columns: Columns | None = None,
    output_columns: Columns | None = None,
    column_order: Columns | None = None,
    pad_info: PadInfo | None = None,
    python_multiprocessing: Flag | None = False,
    max_rowsize: int = 16,
) -> BatchDataset:
    """Combine consecutive rows into one with a leading axis.

    Args:
        batch_size (Union[int, Callable]): Rows per batch, or a function of BatchInfo that returns it.
        drop_remainder (bool, optional): True to drop an incomplete last batch. Default: False.
        num_parallel_workers (int, optional): Number of workers. Default: None.
        per_batch_map (Callable, optional): Called with a list of arrays per input column and a BatchInfo before
            rows are stacked. It returns a tuple with one list of rows per output column. In MindSpore 2 an array or a
            dict in the tuple is the value of the batch, and one output needs no tuple. Default: None.
        input_columns (Union[str, list[str]], optional): Columns for `per_batch_map`. Default: None, in
            MindSpore 2 all columns.
        output_columns (Union[str, list[str]], optional): Names of the results of `per_batch_map`. Default: None, the
            names of the input columns.
        column_order (Union[str, list[str]], optional): Order of the columns afterwards. Default: None.
        pad_info (dict, optional): Maps columns to (shape, fill value). None in a shape stands for the length of the
            longest row of the batch. Default: None, no padding.
        python_multiprocessing (bool, optional): True to run `per_batch_map` in processes. Default: False.
        max_rowsize (int, optional): MindSpore 2's argument, no effect: rows may have any size. Default: 16.

    Returns:
        BatchDataset.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If arguments contradict each other.

    Examples:
        >>> dataset = dataset.batch(32, drop_remainder=True)
    """

    _check_per_batch_map(per_batch_map, input_columns, pad_info)
    log.unused("Dataset", "processes pass rows of any size", max_rowsize=max_rowsize != 16)
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


@fluent
@readable
def padded_batch(
    self: Dataset,
    batch_size: BatchSize,
    drop_remainder: Flag = False,
    num_parallel_workers: Workers | None = None,
    pad_info: PadInfo | None = None,
) -> BatchDataset:
    """Batch rows, padding each column to one shape.

    Args:
        batch_size (Union[int, Callable]): Rows per batch.
        drop_remainder (bool, optional): True to drop an incomplete last batch. Default: False.
        num_parallel_workers (int, optional): Number of workers. Default: None.
        pad_info (dict, optional): Maps columns to (shape, fill value). Default: None, which pads every column with
            zeros to its longest row.

    Returns:
        BatchDataset.
    """
    return self.batch(batch_size, drop_remainder, num_parallel_workers, pad_info={} if pad_info is None else pad_info)


def _check_per_batch_map(function, columns, pad_info):
    """Check that `function` (a ``per_batch_map``) takes `columns` and a BatchInfo, or that both are None."""
    if function is not None and pad_info is not None:
        raise ValueError("pad_info and per_batch_map can't both be set.")
    if function is None and columns is not None:
        raise ValueError("input_columns are those of per_batch_map, which is missing.")
    if function is not None and columns is None and api_generations.shared == 1:
        raise ValueError("per_batch_map and input_columns need to be passed in together.")
    if function is None or columns is None:
        return
    parameters, argument_count = _list_parameter_names(function), len(as_list(columns)) + 1
    if parameters is not None and len(parameters) != argument_count:
        raise ValueError(
            f"The signature of per_batch_map should match with input columns: it takes {len(parameters)} arguments, "
            f"but gets {argument_count - 1} columns and a BatchInfo."
        )


def _contains_repeat(dataset):
    return isinstance(dataset, RepeatDataset) or any(_contains_repeat(c) for c in dataset.children)


def _set_sync_batch_size(dataset, batch_size):
    """Let each ``sync_wait`` before a ``batch`` count batches instead of rows."""
    update = getattr(dataset, "update_sync_batch_size", None)
    if update is not None and not callable(batch_size):
        update(batch_size)
    for child in dataset.children:
        _set_sync_batch_size(child, batch_size)


class _PerBatchMap:
    """Calls the user's ``per_batch_map`` with the rows of each batch."""

    def __init__(self, dataset, child):
        self.function = dataset.per_batch_map
        self.passes_str = api_generations.shared == 2  # functions of MindSpore 2 take str, as in `map`
        self.names = dataset.input_columns or list(child.columns)
        for name in self.names:
            if name not in child.columns:
                raise RuntimeError(f"error. col:{name} doesn't exist. The columns are {child.columns}.")
        self.inputs = [child.columns.index(name) for name in self.names]
        outputs = dataset.output_columns or self.names
        self.outputs = outputs
        columns = list(child.columns)
        if len(outputs) == len(self.names):
            for i, name in zip(self.inputs, outputs, strict=True):
                columns[i] = name
        else:
            columns = list(outputs) + [c for c in child.columns if c not in self.names]
        if len(set(columns)) != len(columns):
            raise RuntimeError(f"output_columns is NOT set correctly: it would make the columns {columns}.")
        self.columns = columns
        self.pool = None
        if dataset.python_multiprocessing:
            self.pool = ProcessPool([self.function], dataset.num_parallel_workers or 1)

    def __call__(self, columns, group, epoch, number):
        lists = [
            list(map(as_str, rows) if self.passes_str else rows) for rows in (rows_of(columns[i]) for i in self.inputs)
        ]
        try:
            if self.pool is not None:
                outputs = self.pool.call(0, *lists, BatchInfo(epoch, number))
            else:
                outputs = self.function(*lists, BatchInfo(epoch, number))
        except Exception as error:
            raise locate_error(error, f"per_batch_map {op_name(self.function)}", self.names, group.first) from error
        if not isinstance(outputs, tuple):
            if self.passes_str and outputs is not None:
                outputs = (outputs,)
            elif not isinstance(outputs, list) or len(outputs) != len(self.outputs):
                raise RuntimeError(
                    "Invalid parameter, batch map function should return a tuple of list of numpy array, but returned "
                    f"{type(outputs).__name__}."
                )
        if len(outputs) != len(self.outputs):
            raise RuntimeError(
                f"Incorrect number of columns returned. expects: {len(self.outputs)} gets: {len(outputs)}"
            )
        results = [
            self._convert_output(name, output, group.n) for name, output in zip(self.outputs, outputs, strict=True)
        ]
        if len(results) == len(self.inputs):
            columns = list(columns)
            for i, column in zip(self.inputs, results, strict=True):
                columns[i] = column
            return columns
        used = set(self.inputs)
        return results + [c for i, c in enumerate(columns) if i not in used]

    def _convert_output(self, name, output, n):
        """Return the column `name` of a batch of `n` rows from a result of the function.

        In MindSpore 2 an array, a Tensor or a dict is the value of the batch. Otherwise a result has one value per row.
        """
        if self.passes_str and isinstance(output, dict | np.ndarray | Tensor):
            return as_array(convert_values(output))
        try:
            rows = list(output)
        except TypeError:
            raise RuntimeError(
                f"column: {name} expects: a list of {n} rows returned from per_batch_map, gets: "
                f"{type(output).__name__} {output!r}"
            ) from None
        if len(rows) != n:
            raise RuntimeError(f"column: {name} expects: {n} rows returned from per_batch_map, gets: {len(rows)}")
        if not self.passes_str:
            return stack_if_uniform([np.asarray(row) for row in rows])
        return stack_if_uniform([as_array(convert_values(row) if isinstance(row, dict) else row) for row in rows])
