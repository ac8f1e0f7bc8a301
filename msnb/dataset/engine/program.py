"""What ``map`` does to a chunk: a list of steps, each a transform of the library or a chain of the user's functions
on some columns.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.tensor_op import TensorOp, as_array, as_str
from msnb.dataset.engine.chunk import rows_of, settle
from msnb.dataset.engine.errors import UserError, located
from msnb.dataset.engine.workers import parallel_map, processors

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.core.streams import Mt32
    from msnb.dataset.engine.chunk import Chunk

_HEAVY = 4096  # elements of a row from which the pool is worth its hand-over


def op_name(op: Any) -> str:
    """The name of a transform or function, as error messages and plans show it."""
    if isinstance(op, TensorOp):
        return type(op).__name__
    name = op.__name__ if inspect.isroutine(op) or inspect.isclass(op) else type(op).__name__
    return f"{name}()"


class Step:
    """One transform on `inputs` (numbers of columns); its results stand in for `outputs` of them.

    With as many results as inputs the results take the inputs' places; otherwise they come first and the other columns
    follow.
    """

    def __init__(self, inputs: Sequence[str], results: int, names: Sequence[str], workers: int = 1) -> None:
        self.inputs = inputs
        self.results: int = results
        self.names = names
        self.workers: int = workers

    deterministic = False
    costly = False
    pointwise = False
    operation = "PyFunc"  # MindSpore's name of what it does: that of a function of the user's

    def place(self, columns: Any, made: Any) -> Any:
        """The columns after this step."""
        if len(made) != self.results:
            raise RuntimeError(
                f"Unexpected error. Result of a tensorOp doesn't match output column names: {self.label} gives "
                f"{len(made)} columns, "
                f"but {self.results} are named."
            )
        if len(made) == len(self.inputs):
            columns = list(columns)
            for i, column in zip(self.inputs, made, strict=True):
                columns[i] = column
            return columns
        used = set(self.inputs)
        return made + [c for i, c in enumerate(columns) if i not in used]

    def run(self, chunk: "Chunk") -> Any:
        """The columns of `chunk` after this step. An error has those of the rows before its own as ``before``."""
        try:
            made = self.apply([chunk.columns[i] for i in self.inputs], chunk.n, chunk.first)
        except UserError as error:
            if chunk.origin is not None and error.sample is not None:
                error.tell_files(self.operation, chunk.origin.of(error.sample - chunk.first))
            if error.before is not None:
                made, n = error.before
                error.before = self.place(chunk.part(0, n).columns, made), n
            raise
        return self.place(chunk.columns, made)

    def fail(self, error: BaseException, sample: int | None, made: Any = (), n: int = 0) -> Any:
        """The error that is raised for `error`; `made` are the columns of the `n` rows that were made before."""
        failure = located(error, f"map operation {self.label}", self.names, sample)
        if isinstance(failure, UserError):
            failure.sample = sample
        if n and isinstance(failure, UserError):
            failure.before = list(made), n
        return failure


class LibraryStep(Step):
    """A transform of the library."""

    def __init__(self, op: Any, inputs: Sequence[str], results: int, names: Sequence[str], workers: int = 1) -> None:
        super().__init__(inputs, results, names, workers)
        self.op = op
        self.label: str = op_name(op)
        self.operation: str = self.label
        self.state: Any = op._open_state()
        self.act_on_stack: Any = None  # what the optimiser puts in the place of op._apply_stack
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
        if len(columns) == 1:
            column = columns[0]
            if op.deterministic:
                if op._transform_stack is not None:
                    column = settle(column)
                    if isinstance(column, np.ndarray):
                        try:
                            made = op._transform_stack(column)
                        except Exception:
                            made = NotImplemented  # row by row it is seen which one is wrong
                        if made is not NotImplemented:
                            return [made]
            elif op._draw_stack is not None:
                column = settle(column)
                if isinstance(column, np.ndarray):
                    try:
                        drawn = op._draw_stack(self.state, n, column)
                        if drawn is not NotImplemented:
                            return [(self.act_on_stack or op._apply_stack)(drawn, column)]
                    except Exception as error:
                        raise self.fail(error, None) from error
        rows = list(zip(*map(rows_of, columns), strict=True))
        return self._by_row(rows, first)

    def _by_row(self, rows, first):
        op, state = self.op, self.state
        heavy = self.workers > 1 and op.costly and len(rows) > 3 and rows[0][0].size >= _HEAVY and processors() > 1
        out, whole, failure = [], None, None
        try:
            if not op.deterministic and op._draw_params is None:
                for row in rows:
                    out.append(op._run_row(state, *row))
                return _columns_of(out)
            if op.deterministic:
                function = op._transform_row
            elif (whole := self._whole_result(rows)) is not None:
                # The results are written to where they belong, side by side.
                function = op._apply_into
                rows, failure = self._drawn([(*row, place) for row, place in zip(rows, whole, strict=True)], 1)
            else:
                function = op._apply_params
                if heavy:
                    rows, failure = self._drawn(rows)
                else:
                    draw = op._draw_params
                    rows = ((draw(state, *row), *row) for row in rows)
            if heavy:
                out = parallel_map(function, rows, min(self.workers, processors()))
            else:
                for row in rows:
                    out.append(function(*row))
        except Exception as error:
            failure, out = error, getattr(error, "msnb_made", out)
        if failure is None:
            return _columns_of(out) if whole is None else [whole]
        n = len(out)
        made = () if not n else _columns_of(out) if whole is None else [whole[:n]]
        raise self.fail(failure, first + n, made, n) from failure

    def _drawn(self, rows, extra=0):
        """(the rows with what is drawn for each before them, the error at which it ended or None); the last `extra`
        values are not shown to the transform.
        """
        draw, state, out = self.op._draw_params, self.state, []
        try:
            for row in rows:
                out.append((draw(state, *row[: len(row) - extra]), *row))
        except Exception as error:
            return out, error
        return out, None

    def _whole_result(self, rows):
        """Memory for the results of all rows, where they will be alike; else None."""
        of = self.op._result_spec
        if of is None or len(rows) < 2:
            return None
        first = of(*rows[0])
        if first is None or any(of(*row) != first for row in rows):
            return None
        return np.empty((len(rows), *first[0]), first[1])


def _columns_of(results):
    if results and isinstance(results[0], tuple):
        return [settle(list(column)) for column in zip(*results, strict=True)]
    return [settle(results)]


class UserStep(Step):
    """A chain of the user's own functions (or Python transforms), called row by row in order.

    Attributes:
        followed: whether a transform of the library comes next, for which a PIL image becomes an array. In MindSpore 2
            it becomes one at the end, too.
    """

    followed = False

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
        self.states: list[Mt32 | None] = [f._open_state() if isinstance(f, TensorOp) else None for f in functions]
        self.texts: bool = api_generations.shared == 2  # functions of MindSpore 2 are given str, those of r1.1 bytes

    def call(self, *row: Any) -> Any:
        """One row through the chain; the results as a tuple of arrays."""
        values = tuple(map(as_str, row)) if self.texts else row
        for function in self.functions:
            values = function(*values)
            if not isinstance(values, tuple):
                values = (values,)
        values = self._arrays(values)
        return tuple(map(as_array, values)) if self.texts else values

    def _arrays(self, values):
        if any(v is None for v in values):
            raise TypeError(
                f"{self.label} should return a numpy array (or a tuple of them), but returned None; is a return "
                f"missing?"
            )
        for v in values:
            if not isinstance(v, np.ndarray):
                values = tuple(self._array(v) for v in values)
                break
        return values

    def _array(self, value):
        if isinstance(value, np.ndarray):
            return value
        if type(value).__module__.startswith("PIL") and not self.followed and not self.texts:
            raise TypeError(
                f"args should be NumPy ndarray. Got {type(value)} from {self.label}. Append ToTensor() to transforms."
            )
        made = as_array(value)
        if made.dtype == object:
            raise TypeError(
                f"{self.label} should return numpy arrays of numbers or strings, but returned {type(value).__name__}."
            )
        return made

    def apply(self, columns: Any, n: int, first: int) -> Any:
        rows = list(zip(*map(rows_of, columns), strict=True))
        out, raw = [], False
        try:
            if self.processes is not None:
                out = self.processes.map(rows)
            elif self.workers > 1 and n > 1:
                out = parallel_map(self.call, rows, min(self.workers, n))
            elif len(self.functions) == 1 and not (self.texts and any(a.dtype.kind == "S" for a in rows[0])):
                # One function, without a tuple per row as long as it returns arrays.
                function, raw = self.functions[0], True
                for row in rows:
                    out.append(function(*row))
                if out and set(map(type, out)) == {np.ndarray}:
                    return [settle(out)]
                out, raw = self._checked(out), False
            else:
                call = self.call
                for row in rows:
                    out.append(call(*row))
        except Exception as error:
            failure, out = error, getattr(error, "msnb_made", out)
        else:
            return self._columns(out)
        if raw:
            try:
                out = self._checked(out)
            except Exception as error:  # what an earlier row returned is no array
                failure, out = error, error.msnb_made
        raise self.fail(failure, first + len(out), self._columns(out), len(out)) from failure

    def _checked(self, values):
        """What the one function returned, as a tuple of arrays per row."""
        out = []
        try:
            for value in values:
                out.append(self._arrays(value if isinstance(value, tuple) else (value,)))
        except Exception as error:
            error.msnb_made = out
            raise
        return out

    def _columns(self, out):
        width = len(out[0]) if out else self.results
        if any(len(row) != width for row in out):
            raise RuntimeError(f"{self.label} should return the same number of columns for every sample.")
        return [settle(list(column)) for column in zip(*out, strict=True)]
