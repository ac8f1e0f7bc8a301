"""``map`` applies transforms and functions to columns of every row. ``flat_map`` calls a function for every row and
concatenates the data sets that it returns.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msnb import log
from msnb.common.kinds import Worded, checked
from msnb.core.operator import api_generations
from msnb.dataset.callback.ds_callback import DSCallback
from msnb.dataset.callback.watching import Watcher
from msnb.dataset.core.config import ErrorSamplesMode, settings
from msnb.dataset.core.kinds import ColumnList, Columns, Flag, Workers, as_list, list_of, of_type
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.processes import ProcessPool
from msnb.dataset.engine.execution.program import LibraryStep, UserStep
from msnb.dataset.engine.operations.error_tolerant_map import SalvagingMap
from msnb.dataset.engine.operations.zip_concat import ConcatDataset
from msnb.dataset.transforms._composite import accepts_pil, run_operation


def _check_callbacks(callbacks, name):
    return (list_of if isinstance(callbacks, list | tuple) else of_type)(DSCallback)(callbacks, name)


Callbacks = Annotated[DSCallback | list[DSCallback], Worded("a DSCallback or a list of them", _check_callbacks)]


def makes_pil(op: Any) -> bool:
    """Return True if a transform always returns PIL images."""
    return getattr(op, "to_pil", False) is True or getattr(type(op), "makes_pil", False)


class MapDataset(Dataset):
    """Data set that :meth:`Dataset.map` returns."""

    def __init__(
        self,
        input_dataset: Dataset,
        operations: Any = None,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        column_order: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        cache: Any = None,
        callbacks: Any = None,
    ) -> None:
        super().__init__(input_dataset, num_parallel_workers, cache)
        operations = [] if operations is None else operations
        self.operations: list[Any] = list(operations) if isinstance(operations, list | tuple) else [operations]
        for i, op in enumerate(self.operations):
            if not callable(op):
                raise TypeError(
                    f"operations[{i}] of map is neither a transform nor a callable Python function, but {op!r} "
                    f"({type(op).__name__})."
                )
        self.input_columns: list[str] = as_list(input_columns) or []
        self.output_columns: list[str] = as_list(output_columns) or self.input_columns
        self.column_order = column_order
        counts_differ = self.input_columns and len(self.input_columns) != len(self.output_columns)
        if counts_differ and column_order is None and api_generations.shared == 1:
            raise ValueError(
                "When length of input_columns and output_columns are not equal, column_order must be specified."
            )
        self.python_multiprocessing: bool = python_multiprocessing
        self.callbacks: list[Any] | None = (
            callbacks if callbacks is None or isinstance(callbacks, list) else [callbacks]
        )

    def _make_plan_node(self, children):
        child = children[0]
        names = self.input_columns or child.columns[:1]
        outputs = self.output_columns or names
        columns = list(child.columns)
        for name in names:
            if name not in columns:
                raise RuntimeError(f"input column name: {name} doesn't exist in the dataset columns {columns}.")
        inputs = [columns.index(name) for name in names]
        workers = self.num_parallel_workers or settings.workers
        steps = self._make_steps(inputs, list(names), len(outputs), workers)
        if len(outputs) == len(inputs):
            for i, name in zip(inputs, outputs, strict=True):
                columns[i] = name
        else:
            columns = list(outputs) + [c for c in columns if c not in names]
        if len(set(columns)) != len(columns):
            repeated = next(c for c in columns if columns.count(c) > 1)
            raise RuntimeError(
                f"Invalid parameter, duplicate column names are not allowed: {repeated} (map makes {columns})."
            )
        watcher = Watcher(self.callbacks) if self.callbacks else None
        if settings.error_samples_mode is ErrorSamplesMode.RETURN or watcher is not None:
            node = nodes.Map(child, steps, columns, watcher)
        else:
            node = SalvagingMap(child, steps, columns, settings.error_samples_mode)
        if self.cache is not None:
            node = self.cache.node(self, node)
        return nodes.Project(node, self.column_order) if self.column_order else node

    def _make_steps(self, inputs, names, results, workers):
        """Return the steps of the plan: one per transform of the library, and one per run of consecutive Python
        functions, which may pass PIL images to each other.
        """
        groups, is_pil = [], False
        for op in self.operations:
            # In MindSpore 2, a transform of both arrays and PIL images uses Pillow after one that returns PIL images.
            is_pil = api_generations.shared == 2 and (makes_pil(op) or is_pil and accepts_pil(op))
            if isinstance(op, TensorOp) and not is_pil:
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
            result_count = results if g == len(groups) - 1 else len(inputs)
            if isinstance(group, list):
                threads = workers if self.num_parallel_workers is not None and not self.python_multiprocessing else 1
                step = UserStep(group, inputs, result_count, names, threads)
                step.precedes_library_step = g < len(groups) - 1
                if self.python_multiprocessing:
                    step.processes = ProcessPool([step.call], workers)
                steps.append(step)
            else:
                steps.append(LibraryStep(group, inputs, result_count, names, workers))
        return steps


@fluent
@checked
def map(
    self: Dataset,
    operations: Callable | Sequence[Callable],
    input_columns: Columns | None = None,
    output_columns: Columns | None = None,
    column_order: ColumnList | None = None,
    num_parallel_workers: Workers | None = None,
    python_multiprocessing: Flag = False,
    cache: Cache | None = None,
    callbacks: Callbacks | None = None,
    max_rowsize: int = 16,
    offload: bool | None = None,
) -> MapDataset:
    """Apply transforms or functions to columns of every row.

    Args:
        operations (Union[list, TensorOp, Callable]): Applied one after the other; each gets the result of the one
            before.
        input_columns (Union[str, list[str]], optional): Columns for the first operation. Default: None, the first
            column.
        output_columns (Union[str, list[str]], optional): Names of the results. Default: None, those of the input
            columns.
        column_order (list[str], optional): Order of the columns afterwards. It is required if the numbers of input and
            output columns differ. In MindSpore 2 it is not: the results then come first. Default: None.
        num_parallel_workers (int, optional): Number of workers. If it is greater than 1, the user's functions run on
            that many threads. Otherwise they run one at a time, in order. Default: None.
        python_multiprocessing (bool, optional): True to run the user's functions in processes. Default: False.
        cache (DatasetCache, optional): Cache of the results. Default: None.
        callbacks (Union[DSCallback, list[DSCallback]], optional): Called before and after steps and epochs. Default:
            None.
        max_rowsize (int, optional): MindSpore 2's argument, no effect: rows may have any size. Default: 16.
        offload (bool, optional): MindSpore 2's argument, no effect: the plan is always optimised. Default: None.

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

    log.unused("Dataset", "processes pass rows of any size", max_rowsize=max_rowsize != 16)
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


@fluent
def flat_map(self: Dataset, func: Callable) -> Dataset:
    """Call `func` for each row and concatenate the data sets that it returns.

    Args:
        func (Callable): Takes a row, returns a Dataset. r1.1 passes a list of arrays, MindSpore 2 one array for each
            column.

    Returns:
        Dataset.

    Raises:
        TypeError: If `func` is not a function or returns something else.
    """

    if not callable(func):
        raise TypeError("func must be a function.")
    datasets = []
    for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
        dataset = func(*row) if api_generations.shared == 2 else func(row)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"flat_map must return a Dataset object, but func returned {type(dataset).__name__}.")
        datasets.append(dataset)
    if not datasets:
        raise TypeError("flat_map must return a Dataset object, but there was no row to make one from.")
    return datasets[0] if len(datasets) == 1 else ConcatDataset(datasets)


class _RowSteps(UserStep):
    """Step of operations that change the number of columns. Each operation receives the results of the previous one."""

    def __init__(self, groups, inputs, results, names):
        functions = [f for g in groups for f in (g if isinstance(g, list) else [g])]
        super().__init__(functions, inputs, results, names)

    def call(self, *row):
        """Apply the operations to one row."""
        values = row
        for function, state in zip(self.functions, self.states, strict=True):
            values = run_operation(function, state, values) if isinstance(function, TensorOp) else function(*values)
            if not isinstance(values, tuple):
                values = (values,)
        return tuple(self._convert_to_array(v) for v in values)
