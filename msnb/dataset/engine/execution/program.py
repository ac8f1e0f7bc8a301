"""Steps of ``map``: each is a transform of the library, or a chain of the user's functions, on some columns."""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.tensor_op import TensorOp, as_array, as_str, holds_dict
from msnb.dataset.engine.execution.chunk import rows_of, stack_if_uniform
from msnb.dataset.engine.execution.errors import UserError, locate_error
from msnb.dataset.engine.execution.workers import parallel_map, processors

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.core.streams import Mt32
    from msnb.dataset.engine.execution.chunk import Chunk

_HEAVY = 4096  # a thread pool pays off for rows of at least this many elements


def op_name(op: Any) -> str:
    """Return the name of a transform or function for error messages and plans."""
    if isinstance(op, TensorOp):
        return type(op).__name__
    name = op.__name__ if inspect.isroutine(op) or inspect.isclass(op) else type(op).__name__
    return f"{name}()"


class Step:
    """Base of the steps of a ``map``: a transform of the columns `inputs` (indices) that returns `results` columns.

    If there are as many results as inputs, the results replace the inputs. Otherwise they come first and the other
    columns follow.
    """

    def __init__(self, inputs: Sequence[str], results: int, names: Sequence[str], workers: int = 1) -> None:
        self.inputs = inputs
        self.results: int = results
        self.names = names
        self.workers: int = workers

    deterministic = False
    costly = False
    pointwise = False
    operation = "PyFunc"  # MindSpore's name of the operation, here for a user's function

    def merge_results(self, columns: Any, results: Any) -> Any:
        """Return the columns after this step."""
        if len(results) != self.results:
            raise RuntimeError(
                f"Unexpected error. Result of a tensorOp doesn't match output column names: {self.label} gives "
                f"{len(results)} columns, "
                f"but {self.results} are named."
            )
        if len(results) == len(self.inputs):
            columns = list(columns)
            for i, column in zip(self.inputs, results, strict=True):
                columns[i] = column
            return columns
        used = set(self.inputs)
        return results + [c for i, c in enumerate(columns) if i not in used]

    def run(self, chunk: "Chunk") -> Any:
        """Return the columns of `chunk` after this step.

        If a row fails, the error's attribute ``before`` contains the columns of the rows before it.
        """
        try:
            results = self.apply([chunk.columns[i] for i in self.inputs], chunk.n, chunk.first)
        except UserError as error:
            if chunk.origin is not None and error.sample is not None:
                error.add_files(self.operation, chunk.origin.of(error.sample - chunk.first))
            if error.before is not None:
                results, n = error.before
                error.before = self.merge_results(chunk.part(0, n).columns, results), n
            raise
        return self.merge_results(chunk.columns, results)

    def wrap_error(self, error: BaseException, sample: int | None, results: Any = (), n: int = 0) -> Any:
        """Return the exception to raise for `error`. `results` are the columns of the `n` rows before it."""
        failure = locate_error(error, f"map operation {self.label}", self.names, sample)
        if isinstance(failure, UserError):
            failure.sample = sample
        if n and isinstance(failure, UserError):
            failure.before = list(results), n
        return failure


class LibraryStep(Step):
    """A transform of the library."""

    def __init__(self, op: Any, inputs: Sequence[str], results: int, names: Sequence[str], workers: int = 1) -> None:
        super().__init__(inputs, results, names, workers)
        self.op = op
        self.label: str = op_name(op)
        self.operation: str = self.label
        self.state: Any = op._create_random_state()
        self.stack_override: Any = None  # set by the optimiser to replace op._apply_stack_params
        self.deterministic: Any = op.deterministic
        self.costly: Any = op.costly
        self.pointwise: Any = op.pointwise and op.deterministic and len(inputs) == 1 and results == 1
        if op.inputs is not None and op.inputs != len(inputs):
            raise RuntimeError(
                f"{self.label} accepts {op.inputs} column(s), but is given {len(inputs)}: {', '.join(names)}. "
                "The op is OneToOne, can only accept one tensor as input."
                if op.inputs == 1
                else f"{self.label} accepts {op.inputs} columns, but is given {len(inputs)}: {', '.join(names)}."
            )

    def apply(self, columns: Any, n: int, first: int) -> Any:
        op = self.op
        for column, name in zip(columns, self.names, strict=True):
            if (column if isinstance(column, np.ndarray) else column[0]).dtype == object:
                message = f"{self.label} takes arrays, but column {name!r} holds dicts; map a function to them first."
                raise self.wrap_error(RuntimeError(message), None)
        if len(columns) == 1:
            column = columns[0]
            if op.deterministic:
                if op._transform_stack is not None:
                    column = stack_if_uniform(column)
                    if isinstance(column, np.ndarray):
                        try:
                            stacked = op._transform_stack(column)
                        except Exception:
                            stacked = NotImplemented  # processing row by row finds the invalid one
                        if stacked is not NotImplemented:
                            return [stacked]
            elif op._sample_stack_params is not None:
                column = stack_if_uniform(column)
                if isinstance(column, np.ndarray):
                    try:
                        random_values = op._sample_stack_params(self.state, n, column)
                        if random_values is not NotImplemented:
                            return [(self.stack_override or op._apply_stack_params)(random_values, column)]
                    except Exception as error:
                        raise self.wrap_error(error, None) from error
        rows = list(zip(*map(rows_of, columns), strict=True))
        return self._apply_row_by_row(rows, first)

    def _apply_row_by_row(self, rows, first):
        op, state = self.op, self.state
        use_threads = (
            self.workers > 1 and op.costly and len(rows) > 3 and rows[0][0].size >= _HEAVY and processors() > 1
        )
        out, preallocated, failure = [], None, None
        try:
            if not op.deterministic and op._sample_params is None:
                for row in rows:
                    out.append(op._transform_row_with_state(state, *row))
                return _stack_result_columns(out)
            if op.deterministic:
                function = op._transform_row
            elif (preallocated := self._allocate_results(rows)) is not None:
                # Each result is written to its slice of one array, which saves stacking.
                function = op._apply_params_into
                rows, failure = self._sample_params_for_rows(
                    [(*row, output) for row, output in zip(rows, preallocated, strict=True)], 1
                )
            else:
                function = op._apply_params
                if use_threads:
                    rows, failure = self._sample_params_for_rows(rows)
                else:
                    draw = op._sample_params
                    rows = ((draw(state, *row), *row) for row in rows)
            if use_threads:
                out = parallel_map(function, rows, min(self.workers, processors()))
            else:
                for row in rows:
                    out.append(function(*row))
        except Exception as error:
            failure, out = error, getattr(error, "msnb_results", out)
        if failure is None:
            return _stack_result_columns(out) if preallocated is None else [preallocated]
        n = len(out)
        done = () if not n else _stack_result_columns(out) if preallocated is None else [preallocated[:n]]
        raise self.wrap_error(failure, first + n, done, n) from failure

    def _sample_params_for_rows(self, rows, extra=0):
        """Draw random values for each row. Return (rows that begin with these values, the error that stopped it or
        None).

        The last `extra` values of a row are not passed to the transform.
        """
        draw, state, out = self.op._sample_params, self.state, []
        try:
            for row in rows:
                out.append((draw(state, *row[: len(row) - extra]), *row))
        except Exception as error:
            return out, error
        return out, None

    def _allocate_results(self, rows):
        """Return an empty array for the results of all rows, or None if they differ in shape or dtype."""
        result_type = self.op._infer_result_spec
        if result_type is None or len(rows) < 2:
            return None
        first = result_type(*rows[0])
        if first is None or any(result_type(*row) != first for row in rows):
            return None
        return np.empty((len(rows), *first[0]), first[1])


def _stack_result_columns(results):
    if results and isinstance(results[0], tuple):
        return [stack_if_uniform(list(column)) for column in zip(*results, strict=True)]
    return [stack_if_uniform(results)]


class UserStep(Step):
    """A chain of the user's functions or Python transforms, applied to one row after the other.

    Attributes:
        precedes_library_step: True if a transform of the library comes next. PIL images are then converted to arrays.
            In MindSpore 2 they are also converted at the end of ``map``.
    """

    precedes_library_step = False

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        inputs: Sequence[str],
        results: int,
        names: Sequence[str],
        workers: int = 1,
        processes: Any = None,
    ) -> None:
        super().__init__(inputs, results, names, workers)
        self.functions = functions
        self.label: str = " > ".join(op_name(f) for f in functions)
        self.processes = processes
        self.states: list[Mt32 | None] = [
            f._create_random_state() if isinstance(f, TensorOp) else None for f in functions
        ]
        self.passes_str: bool = api_generations.shared == 2  # functions of MindSpore 2 take str, those of r1.1 bytes

    def call(self, *row: Any) -> Any:
        """Apply the chain to one row and return the results as a tuple of arrays."""
        values = tuple(map(as_str, row)) if self.passes_str else row
        for function in self.functions:
            values = function(*values)
            if not isinstance(values, tuple):
                values = (values,)
        values = self._convert_to_arrays(values)
        return tuple(map(as_array, values)) if self.passes_str else values

    def _convert_to_arrays(self, values):
        if any(v is None for v in values):
            raise TypeError(
                f"{self.label} should return a numpy array (or a tuple of them), but returned None; is a return "
                f"missing?"
            )
        for v in values:
            if not isinstance(v, np.ndarray):
                values = tuple(self._convert_to_array(v) for v in values)
                break
        return values

    def _convert_to_array(self, value):
        if isinstance(value, np.ndarray):
            return value
        if type(value).__module__.startswith("PIL") and not self.precedes_library_step and not self.passes_str:
            raise TypeError(
                f"args should be NumPy ndarray. Got {type(value)} from {self.label}. Append ToTensor() to transforms."
            )
        array = as_array(value)
        if array.dtype == object and not holds_dict(value):
            raise TypeError(
                f"{self.label} should return numpy arrays of numbers or strings, but returned {type(value).__name__}."
            )
        return array

    def apply(self, columns: Any, n: int, first: int) -> Any:
        rows = list(zip(*map(rows_of, columns), strict=True))
        out, unconverted = [], False
        try:
            if self.processes is not None:
                out = self.processes.map(rows)
            elif self.workers > 1 and n > 1:
                out = parallel_map(self.call, rows, min(self.workers, n))
            elif len(self.functions) == 1 and not (self.passes_str and any(a.dtype.kind in "SO" for a in rows[0])):
                # A single function that returns arrays needs no tuple per row.
                function, unconverted = self.functions[0], True
                for row in rows:
                    out.append(function(*row))
                if out and set(map(type, out)) == {np.ndarray}:
                    return [stack_if_uniform(out)]
                out, unconverted = self._convert_results_to_arrays(out), False
            else:
                call = self.call
                for row in rows:
                    out.append(call(*row))
        except Exception as error:
            failure, out = error, getattr(error, "msnb_results", out)
        else:
            return self._stack_columns(out)
        if unconverted:
            try:
                out = self._convert_results_to_arrays(out)
            except Exception as error:  # the function returned no array for an earlier row
                failure, out = error, error.msnb_results
        raise self.wrap_error(failure, first + len(out), self._stack_columns(out), len(out)) from failure

    def _convert_results_to_arrays(self, values):
        """Convert each value that the step's only function returned to a tuple of arrays."""
        out = []
        try:
            for value in values:
                out.append(self._convert_to_arrays(value if isinstance(value, tuple) else (value,)))
        except Exception as error:
            error.msnb_results = out
            raise
        return out

    def _stack_columns(self, out):
        width = len(out[0]) if out else self.results
        if any(len(row) != width for row in out):
            raise RuntimeError(f"{self.label} should return the same number of columns for every sample.")
        return [stack_if_uniform(list(column)) for column in zip(*out, strict=True)]
