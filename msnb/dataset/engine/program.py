"""What ``map`` does to a chunk: a list of steps, each a transform of the library or a chain of the user's functions
on some columns.
"""

import inspect
import threading

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp, as_array
from msnb.dataset.engine.chunk import rows_of, settle
from msnb.dataset.engine.errors import located
from msnb.dataset.engine.workers import parallel_map, processors

_HEAVY = 4096  # elements of a row from which the pool is worth its hand-over


def op_name(op):
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

    def __init__(self, inputs, results, names, workers=1):
        self.inputs = inputs
        self.results = results
        self.names = names
        self.workers = workers
        self.seconds = 0.0
        self.rows = 0

    deterministic = False
    costly = False
    pointwise = False

    def place(self, columns, made):
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

    def run(self, chunk):
        """The columns of `chunk` after this step."""
        made = self.apply([chunk.columns[i] for i in self.inputs], chunk.n, chunk.first)
        return self.place(chunk.columns, made)

    def fail(self, error, sample):
        return located(error, f"map operation {self.label}", self.names, sample)


class LibraryStep(Step):
    """A transform of the library."""

    def __init__(self, op, inputs, results, names, workers=1):
        super().__init__(inputs, results, names, workers)
        self.op = op
        self.label = op_name(op)
        self.state = op._open()
        self.deterministic = op.deterministic
        self.costly = op.costly
        self.pointwise = op.pointwise and op.deterministic and len(inputs) == 1 and results == 1
        if op.inputs is not None and op.inputs != len(inputs):
            raise RuntimeError(
                f"{self.label} accepts {op.inputs} column(s), but is given {len(inputs)}: {', '.join(names)}. "
                "The op is OneToOne, can only accept one tensor as input."
                if op.inputs == 1
                else f"{self.label} accepts {op.inputs} columns, but is given {len(inputs)}: {', '.join(names)}."
            )

    def apply(self, columns, n, first):
        op = self.op
        if len(columns) == 1:
            column = columns[0]
            if op.deterministic:
                if op._stack is not None:
                    column = settle(column)
                    if isinstance(column, np.ndarray):
                        try:
                            made = op._stack(column)
                        except Exception as error:
                            raise self.fail(error, None) from error
                        if made is not NotImplemented:
                            return [made]
            elif op._draw_stack is not None:
                column = settle(column)
                if isinstance(column, np.ndarray):
                    try:
                        drawn = op._draw_stack(self.state, n, column)
                        if drawn is not NotImplemented:
                            return [op._apply_stack(drawn, column)]
                    except Exception as error:
                        raise self.fail(error, None) from error
        rows = list(zip(*map(rows_of, columns), strict=True))
        return self._by_row(rows, first)

    def _by_row(self, rows, first):
        op, state = self.op, self.state
        heavy = self.workers > 1 and op.costly and len(rows) > 3 and rows[0][0].size >= _HEAVY and processors() > 1
        out = []
        try:
            if op.deterministic:
                if heavy:
                    out = parallel_map(op._row, rows, min(self.workers, processors()))
                else:
                    row_of = op._row
                    for row in rows:
                        out.append(row_of(*row))
            elif op._draw is not None:
                if heavy:
                    drawn = [(op._draw(state, *row), *row) for row in rows]
                    out = parallel_map(op._apply, drawn, min(self.workers, processors()))
                else:
                    draw, act = op._draw, op._apply
                    for row in rows:
                        out.append(act(draw(state, *row), *row))
            else:
                for row in rows:
                    out.append(op._run(state, *row))
        except Exception as error:
            raise self.fail(error, None if heavy else first + len(out)) from error
        return _columns_of(out)


def _columns_of(results):
    if results and isinstance(results[0], tuple):
        return [settle(list(column)) for column in zip(*results, strict=True)]
    return [settle(results)]


class UserStep(Step):
    """A chain of the user's own functions (or Python transforms), called row by row in order.

    Attributes:
        followed: whether a transform of the library comes next, for which a PIL image becomes an array.
    """

    followed = False

    def __init__(self, functions, inputs, results, names, workers=1, processes=None):
        super().__init__(inputs, results, names, workers)
        self.functions = functions
        self.label = " > ".join(op_name(f) for f in functions)
        self.processes = processes
        self.states = [f._open() if isinstance(f, TensorOp) else None for f in functions]

    def call(self, *row):
        """One row through the chain; the results as a tuple of arrays."""
        values = row
        for function in self.functions:
            values = function(*values)
            if not isinstance(values, tuple):
                values = (values,)
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
        if type(value).__module__.startswith("PIL") and not self.followed:
            raise TypeError(
                f"args should be NumPy ndarray. Got {type(value)} from {self.label}. Append ToTensor() to transforms."
            )
        made = as_array(value)
        if made.dtype == object:
            raise TypeError(
                f"{self.label} should return numpy arrays of numbers or strings, but returned {type(value).__name__}."
            )
        return made

    def apply(self, columns, n, first):
        rows = list(zip(*map(rows_of, columns), strict=True))
        out = []
        try:
            if self.processes is not None:
                out = self.processes.map(rows)
            elif self.workers > 1 and n > 1:
                out = parallel_map(self.call, rows, min(self.workers, n))
            else:
                call = self.call
                for row in rows:
                    out.append(call(*row))
        except Exception as error:
            raise self.fail(error, first + len(out)) from error
        width = len(out[0]) if out else self.results
        if any(len(row) != width for row in out):
            raise RuntimeError(f"{self.label} should return the same number of columns for every sample.")
        return [settle(list(column)) for column in zip(*out, strict=True)]


class TableStep(Step):
    """Pointwise transforms in a row, applied to uint8 input through a table of 256 results per channel.

    The table is made by the transforms themselves, so the result is theirs to the bit. Other input goes through them
    one by one.
    """

    deterministic = True
    pointwise = True

    def __init__(self, steps):
        super().__init__(steps[0].inputs, 1, steps[0].names, steps[0].workers)
        self.steps = steps
        self.label = " + ".join(s.label for s in steps)
        self._tables = {}
        self._lock = threading.Lock()

    def _table(self, channels):
        """(256, channels) results; (256,) when the channels agree; None when the transforms refuse or change the
        shape.
        """
        if channels not in self._tables:
            with self._lock:
                values = np.repeat(np.arange(256, dtype=np.uint8), channels).reshape(256, 1, channels)
                for step in self.steps:
                    values = step.op._row(values)
                if values.shape != (256, 1, channels):
                    self._tables[channels] = None
                else:
                    table = values.reshape(256, channels)
                    if (table == table[:, :1]).all():
                        table = np.ascontiguousarray(table[:, 0])
                    self._tables[channels] = table
        return self._tables[channels]

    def apply(self, columns, n, first):
        column = settle(columns[0])
        if isinstance(column, np.ndarray) and column.dtype == np.uint8 and column.ndim == 4 and column.shape[-1] <= 4:
            table = self._table(column.shape[-1])
            if table is not None:
                return [look_up(table, column)]
        for step in self.steps:
            column = step.apply([column], n, first)[0]
        return [column]


def look_up(table, images):
    """``table[images]`` for uint8 images, through OpenCV where it has the table's type."""
    if table.dtype in (np.float32, np.uint8, np.float64, np.int32, np.int16, np.uint16):
        from msnb.dataset.core.optional import cv2

        images = np.ascontiguousarray(images)
        if table.ndim == 1:
            return cv2().LUT(images.reshape(-1, images.shape[-1] * images.shape[-2]), table).reshape(images.shape)
        return (
            cv2().LUT(images.reshape(-1, *images.shape[-2:]), np.ascontiguousarray(table[None])).reshape(images.shape)
        )
    if table.ndim == 1:
        return table[images]
    return table[images, np.arange(images.shape[-1])]


def fuse_pointwise(steps):
    """Neighbouring pointwise steps on the same column become one TableStep."""
    out, run = [], []

    def close():
        if len(run) > 1 or (run and run[0].label in ("Normalize", "Rescale")):
            out.append(TableStep(list(run)))
        else:
            out.extend(run)
        run.clear()

    for step in steps:
        if isinstance(step, LibraryStep) and step.pointwise and (not run or run[-1].inputs == step.inputs):
            run.append(step)
            continue
        if isinstance(step, LibraryStep) and step.pointwise:
            close()
            run.append(step)
            continue
        close()
        out.append(step)
    close()
    return out
