"""State of the current thread: the frame being traced, gradient recording, and the epochs that invalidate programs.

Tracing never changes the box of a Parameter. While a function is traced, a `TraceFrame` maps Parameters to the arrays
that replace them and records which were written. Lookups of other Parameters go to its parent frame.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Self

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.state.cell_changes import ABSENT as ABSENT
from msnb.core.state.program_trace import ProgramTrace
from msnb.core.support.weak_identity import WeakIdentityDict


class _Thread(threading.local):
    """State of one thread: its trace in progress, gradient recording and float status."""

    frame: Any = None  # innermost TraceFrame while tracing
    n_traces: int = 0  # traces of kernels outside graphs, for a new signature of their inputs
    recording: int = 0  # number of PYNATIVE gradients being recorded
    paused: int | None = None  # `recording` while `_no_grad` stops it
    results_observed: bool = False  # True if operators must report their results; see `update_results_observed`
    checking: bool = False  # True while the float status is watched in PYNATIVE mode
    status: Any = None  # bool array: the float status so far
    cell: Any = None  # innermost Cell that is being traced
    nodes: Any = None  # Parameter id -> tape node, while recording
    forward: Any = None  # recording of the last forward pass, see core.transforms.recorded_forward
    compute_dtype: Any = None  # numpy dtype that Cell.to_float asks for
    casts_all: bool = False  # True while operators cast every float input to `compute_dtype`, not only constants
    runs_as_graph: bool = False  # True while a graph that needs values runs operator by operator
    forward_mode: bool = False  # True if loops are traced for forward-mode derivatives
    carriers: Any = None  # `Carriers` of integer Tensors in a graph, see core.eager.integer_gradients
    pullbacks: Any = None  # gradient rules: kernel -> gradient function or None, see core.eager.kernel
    spread: Any = None  # Partitioner of the operators that are traced now, see core.sharding.partitioner
    pipeline: Any = None  # represents the blocks of a pipeline, see nn._cell.pipeline
    pending_verdicts: Any = ()  # results of data checks that are not ready, see core.state.deferred_errors


thread = _Thread()


class TraceFrame:
    """Current arrays of the Parameters during a part of a trace, such as a branch; records reads and writes.

    Args:
        params (Iterable): Parameters with initial arrays.
        arrays (Iterable): Arrays of the Parameters.
        parent (TraceFrame): Frame for Parameters that this one does not have; None for the root frame of a program.

    Attributes:
        trace (ProgramTrace): State that it shares with the other frames of the program.
        values (dict): id -> current array of a Parameter.
        written (dict): id -> Parameter that was written, in the order of first writing.
        cells (dict): id -> Cell called in this trace.
        branch (bool): True if the code traced here may not run.
        key (Any): Random stream, once a random operator was traced here.
        error (Any): int32 (code, offending value) of runtime errors, once a check was traced.
        status (Any): bool: overflow so far, while the float status is watched; see `core.eager.float_status`.
        tables (Any): `LookupTables` of a gradient, see `core.operator.row_gradients`.
        looked_up (bool): True if rows were looked up here for an outer gradient.
        log (list): (Parameter, array before, or None) for each write, in order.
        calls (dict): id -> (Cell, its arguments, begin and end of its writes in `log`) of its last call that wrote.
    """

    __slots__ = (
        "parent",
        "trace",
        "values",
        "written",
        "cells",
        "branch",
        "key",
        "error",
        "status",
        "tables",
        "looked_up",
        "log",
        "calls",
        "_tensors",
        "_outer",
    )

    def __init__(
        self, params: Iterable[Any] = (), arrays: Iterable[Any] = (), parent: "TraceFrame | None" = None
    ) -> None:
        params = list(params)
        self.parent: TraceFrame | None = parent
        self.trace: ProgramTrace = ProgramTrace(params) if parent is None else parent.trace
        self.values: dict[int, Any] = {id(p): a for p, a in zip(params, arrays)}
        self.written: dict[int, Any] = {}
        self.cells: dict[int, Any] = {} if parent is None else parent.cells
        self.branch: bool = False
        self.key: Any = None
        self.error: Any = None
        self.status: Any = None
        self.tables: Any = None
        self.looked_up: bool = False
        self.log: list[tuple[Any, Any]] = []
        self.calls: dict[int, tuple[Any, tuple[Any, ...], int, int]] = {}
        self._tensors: dict[int, Any] = {}  # id -> (plain Tensor that was rebound, its array before)

    def conditional(self) -> bool:
        """Return True inside a branch or loop body of the graph."""
        frame = self
        while frame is not None:
            if frame.branch:
                return True
            frame = frame.parent
        return False

    # ------------------------------------------------------------------ Parameters and Tensors
    def read(self, param: Any, counts: bool = True) -> Any:
        """Return the current array of `param`. With ``counts=False`` only its shape and dtype are used."""
        frame = self
        ident = id(param)
        while True:
            array = frame.values.get(ident)
            if array is not None:
                if counts and frame.tables is not None:
                    frame.tables.reads[ident] = frame.tables.reads.get(ident, 0) + 1
                return array
            if frame.parent is None:
                self.trace.missing[ident] = param
                return param._get_stored_array()
            frame = frame.parent

    def write(self, param: Any, array: Any) -> None:
        """Rebind `param` within this trace."""
        ident = id(param)
        if ident not in self.written:
            if ident not in self.values and self.parent is None:
                self.trace.missing[ident] = param
            self.written[ident] = param
        self.log.append((param, self.values.get(ident)))
        self.values[ident] = array

    def undo_call(self, cell: Any, is_same: Callable[[Any, Any], bool], args: tuple[Any, ...]) -> None:
        """Undo the writes of the last call of `cell`, if it had these arguments and nothing was written since.

        A gradient runs the Cell again. MindSpore merges the two runs, so that moving statistics are updated once. XLA
        merges them as well, if the second run begins with the same values.
        """
        _, before, begin, end = self.calls.get(id(cell), (None, (), 0, 0))
        if begin == end or end != len(self.log) or len(before) != len(args) or not all(map(is_same, before, args)):
            return
        undone = self.log[begin:end]
        if any(array is None for _, array in undone):  # a new Parameter: the program is traced again with it
            return
        for param, array in reversed(undone):
            self.values[id(param)] = array
        del self.log[begin:end]

    def remember(self, tensor: Any) -> None:
        """Record the array of a plain Tensor before it is rebound; the end of the trace restores it."""
        self._tensors.setdefault(id(tensor), (tensor, tensor._array))

    def rebinds_tensors(self) -> bool:
        """Return True if plain Tensors were rebound here."""
        return bool(self._tensors)

    def rebound_tensors(self) -> list[tuple[Any, Any]]:
        """Return [(plain Tensor, its array before)] of the Tensors that were rebound here, in the order of first
        rebinding."""
        return list(self._tensors.values())

    def writes(self) -> list[tuple[Any, Any]]:
        """Return [(Parameter, new array)] of the written Parameters, in the order of first writing."""
        return [(p, self.values[i]) for i, p in self.written.items()]

    # ------------------------------------------------------------------ hidden state: random stream, error, status
    def next_key(self) -> jax.Array:
        """Return a new random key, split off the stream of this trace."""
        self.key, sub = jax.random.split(self.current_key())
        return sub

    def current_key(self) -> jax.Array:
        """Return the key of the stream of this trace or of the nearest parent that has one."""
        frame = self
        while frame.key is None:
            if frame.parent is None:
                frame.key = frame.trace.first_key()
                break
            frame = frame.parent
        return frame.key

    def current_error(self) -> jax.Array | np.ndarray:
        """Return the error so far: its code, 0 for none, and the offending value."""
        frame = self
        while frame is not None:
            if frame.error is not None:
                return frame.error
            frame = frame.parent
        return np.zeros(2, np.int32)

    def fail(self, code: int, condition: Any = True) -> None:
        """Set the error to `code` if `condition` is true and no earlier error is set."""
        before = self.current_error()
        self.error = jnp.where((before[0] == 0) & condition, jnp.array([code, 0], jnp.int32), before)

    def has_error(self) -> bool:
        """Return True if a check that can fail at run time was traced before."""
        frame = self
        while frame is not None:
            if frame.error is not None:
                return True
            frame = frame.parent
        return False

    def current_status(self) -> Any:
        """Return the overflow status so far; None if the float status is not watched."""
        frame = self
        while frame is not None:
            if frame.status is not None:
                return frame.status
            frame = frame.parent
        return None

    def hidden_names(self) -> tuple[str, ...]:
        """Return the names of the hidden state that this trace has changed: error code, random key, overflow status."""
        return tuple(n for n in ("error", "key", "status") if getattr(self, n) is not None)

    def hidden_arrays(self, names: Sequence[str]) -> list[Any]:
        """Return the named hidden state (error code, random key, overflow status) as plain arrays."""
        return [self._get_hidden_array(n) for n in names]

    def _get_hidden_array(self, name):
        if name == "error":
            return self.current_error()
        if name == "key":
            return jax.random.key_data(self.current_key())
        status = self.current_status()
        return jnp.zeros((), bool) if status is None else status

    def adopt_hidden(self, names: Sequence[str], arrays: Sequence[Any]) -> None:
        """Set the named hidden state (error code, random key, overflow status) to outputs of a loop or conditional."""
        for name, array in zip(names, arrays):
            if name == "key":
                array = jax.random.wrap_key_data(array)
            setattr(self, name, array)

    def __enter__(self) -> Self:
        self._outer = thread.frame
        thread.frame = self
        return self

    def __exit__(self, *exc: Any) -> Literal[False]:
        thread.frame = self._outer
        if self.parent is None and self.trace.checking:  # `results_observed` depends on `checking`
            update_results_observed()
        for tensor, array in self._tensors.values():
            tensor._array = array
        return False


class Epoch:
    """A counter of the process that increases when a dependency of compiled programs may have changed."""

    __slots__ = ("value",)

    def __init__(self):
        self.value: int = 0

    def bump(self) -> None:
        """Increase the counter, so that every compiled program checks its guards at its next call."""
        self.value += 1


epoch: Epoch = Epoch()
# Increases when a hook of a Parameter is added or removed, because hooks are part of a trace.
hook_epoch: Epoch = Epoch()
storage_epoch: Epoch = Epoch()  # increases when Parameters move to another store or an observer changes


class DonationLock:
    """Lock and flag that decide if a step may donate the arrays of Parameters.

    Attributes:
        lock (RLock): Locked while a step is started, which may donate the arrays of Parameters.
        contended (bool): True once two threads have used the same Parameters in PYNATIVE mode, where operators read
            them without the lock. Steps do not donate from then on.
    """

    def __init__(self):
        self.lock = threading.RLock()
        self.contended: bool = False
        self._recorder = None

    def contend(self) -> None:
        """Stop the donation of arrays by steps in PYNATIVE mode: two threads use the same Parameters."""
        if not self.contended:
            with self.lock:  # wait until a running step has ended
                self.contended = True
                storage_epoch.bump()

    def record(self) -> None:
        """Register that this thread begins to record a gradient, which keeps references to the arrays that it reads."""
        ident = threading.get_ident()
        if ident != self._recorder:
            if self._recorder is not None:
                self.contend()
            self._recorder = ident


donation_lock: DonationLock = DonationLock()
constants: WeakIdentityDict = WeakIdentityDict()  # plain Tensor that is a constant of a program -> True


def update_results_observed() -> None:
    """Recompute `thread.results_observed`.

    It is True while a gradient is recorded, integers carry gradients through a graph, the float status is watched, or
    traced operators are partitioned over devices.
    """
    watched = thread if thread.frame is None else thread.frame.trace
    carries = thread.carriers is not None and thread.carriers.active
    thread.results_observed = bool(thread.recording) or carries or watched.checking or thread.spread is not None


def tracing() -> bool:
    """Return True while this thread is tracing a graph."""
    return thread.frame is not None
