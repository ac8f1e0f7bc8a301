"""What is going on in this thread: the frame being traced, whether a gradient is being recorded, and the epoch.

Tracing never changes a Parameter's box. While a function is traced, a `Frame` maps Parameters to the arrays that stand
in for them, remembers which were written, and falls back to its parent for those it does not hold.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import jax
import jax.numpy as jnp

from msnb.core.compat.jax_private import where_traced
from msnb.core.support.weak_identity import WeakIdentityDict


class _Thread(threading.local):
    """State of one thread."""

    frame: Any = None  # innermost Frame while tracing
    recording: int = 0  # number of PYNATIVE gradients being recorded
    looking: bool = False  # whether operators show their results to somebody; see `settle`
    checking: bool = False  # whether the float status is being watched in PYNATIVE mode
    status: Any = None  # bool array: what it has seen
    cell: Any = None  # innermost Cell that is being traced
    nodes: Any = None  # Parameter id -> tape node, while recording
    compute_dtype: Any = None  # numpy dtype that Cell.to_float asks for
    forward_mode: bool = False  # whether loops are traced for forward-mode derivatives
    carriers: Any = None  # of whole numbers that a gradient in a graph is taken by, see core.whole
    pullbacks: Any = None  # from a kernel to its gradient in other operators, see core.kernel.differentiated
    spread: Any = None  # how operators that are traced now are spread over devices, see core.spreading
    pipeline: Any = None  # what stands for the blocks of a pipeline, see nn._pipeline
    late: Any = ()  # verdicts that nobody waits for, see core.late


thread = _Thread()
ABSENT = object()  # the value of an attribute that does not exist


class TraceFrame:
    """The functional view of all boxes during one trace.

    Args:
        params (Iterable): Parameters that have a stand-in from the beginning.
        arrays (Iterable): Their stand-ins.
        parent (Frame): Where reads go that this frame does not hold; None for the frame of a whole program.
    """

    __slots__ = (
        "values",
        "parent",
        "written",
        "missing",
        "tensors",
        "cells",
        "key",
        "key_used",
        "number",
        "error",
        "errors",
        "hints",
        "calls",
        "handlers",
        "refused",
        "branch",
        "settings",
        "repeats",
        "made",
        "kept",
        "names",
        "named",
        "status",
        "checking",
        "tables",
        "looked_up",
        "_outer",
    )

    def __init__(
        self, params: Iterable[Any] = (), arrays: Iterable[Any] = (), parent: "TraceFrame | None" = None
    ) -> None:
        self.parent: TraceFrame | None = parent
        params = list(params)
        self.values: dict[int, Any] = {id(p): a for p, a in zip(params, arrays)}
        self.written: dict[Any, Any] = {}
        self.tensors: dict[Any, Any] = {}
        self.tables: Any = None  # of a gradient: which Parameters are looked up by row, see core.rows
        self.looked_up: bool = False  # whether rows were looked up here that a gradient further out asks for
        self.branch: bool = False  # whether what is traced here may not run
        self.key: Any = None  # random stream, once something here has drawn from it
        self.error: Any = (
            None  # int32 (code, value to blame) of what may go wrong as the graph runs, once that was traced
        )
        self.status: Any = None  # bool: whether a number overflowed, once someone looks; see float_status
        if parent is None:
            self.names: dict[int, str] = {id(p): p.name for p in params}
            self.missing: dict[Any, Any] = {}
            self.cells: dict[Any, Any] = {}  # Cells called in this trace
            self.made: set[Any] = set()  # Cells made in this trace, which know no time before it
            self.kept: list[Any] = []  # Parameters and Cells that became attributes of Cells that were there before
            self.named: dict[int, Any] = {}  # id -> plain Tensor that a function knew by a name from outside of it
            self.checking: bool = False  # whether results that are traced now enter the status
            self.number: Any = None  # of the seed stream
            self.key_used: bool = False
            self.errors: list[Any] = []  # (exception or checks.Finding, place) per code, from 1
            self.calls: dict[Any, Any] = {}  # name of a function -> how often it was called
            self.handlers: list[Any] = []  # places of the `try` statements around what is traced now
            self.refused: Any = None  # what this trace has to end with
            self.hints: dict[Any, Any] = {}  # what an earlier trace of a loop found out
            self.repeats: Any = None  # which Cells were met, see nn._repeated
            self.settings: dict[
                Any, Any
            ] = {}  # (id of Cell, name) -> (Cell, attribute that was set, its value before or ABSENT)
        else:
            self.cells = parent.cells

    def root(self) -> "TraceFrame":
        """The frame of the whole program."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def conditional(self) -> bool:
        """Whether what is traced now stands in a branch or loop body of the graph."""
        frame = self
        while frame is not None:
            if frame.branch:
                return True
            frame = frame.parent
        return False

    # ------------------------------------------------------------------ Parameters and Tensors
    def read(self, param: Any, counts: bool = True) -> Any:
        """Current array of `param`; without `counts` it is only asked what kind of array that is."""
        frame = self
        ident = id(param)
        while True:
            array = frame.values.get(ident)
            if array is not None:
                if counts and frame.tables is not None:
                    frame.tables.reads[ident] = frame.tables.reads.get(ident, 0) + 1
                return array
            if frame.parent is None:
                frame.missing[ident] = param
                return param._stored()
            frame = frame.parent

    def write(self, param: Any, array: Any) -> None:
        """Rebind `param` within this trace."""
        ident = id(param)
        if ident not in self.written:
            if ident not in self.values and self.parent is None:
                self.missing[ident] = param
            self.written[ident] = param
        self.values[ident] = array

    def remember(self, tensor: Any) -> None:
        """Note the array of a plain Tensor before it is rebound, to put it back when the trace ends."""
        if id(tensor) not in self.tensors:
            self.tensors[id(tensor)] = (tensor, tensor._array)

    def writes(self) -> list[tuple[Any, Any]]:
        """[(Parameter, new array)] in the order of first writing."""
        return [(p, self.values[i]) for i, p in self.written.items()]

    # ------------------------------------------------------------------ hidden state: random stream, error, status
    def next_key(self) -> jax.Array:
        """A fresh random key, split off this trace's stream."""
        self.key, sub = jax.random.split(self.current_key())
        return sub

    def current_key(self) -> jax.Array:
        """The stream's key as this trace sees it."""
        frame = self
        while frame.key is None:
            if frame.parent is None:
                frame.key_used = True
                frame.key = where_traced(frame.number, jax.random.key)  # a loop's body may be the first to ask
                break
            frame = frame.parent
        return frame.key

    def current_error(self) -> jax.Array:
        """The error as this trace sees it: its code, 0 for none, and the value to blame."""
        frame = self
        while frame is not None:
            if frame.error is not None:
                return frame.error
            frame = frame.parent
        return jnp.zeros(2, jnp.int32)

    def fail(self, code: int, condition: Any = True) -> None:
        """Note that error `code` comes where `condition` holds, unless another one came before."""
        before = self.current_error()
        self.error = jnp.where((before[0] == 0) & condition, jnp.array([code, 0], jnp.int32), before)

    def has_error(self) -> bool:
        """Whether something that may go wrong as the graph runs was traced before."""
        frame = self
        while frame is not None:
            if frame.error is not None:
                return True
            frame = frame.parent
        return False

    def current_status(self) -> Any:
        """Whether a number overflowed, as this trace sees it; None where nobody looked."""
        frame = self
        while frame is not None:
            if frame.status is not None:
                return frame.status
            frame = frame.parent
        return None

    def hidden_names(self) -> tuple[str, ...]:
        """Which hidden state this trace has changed."""
        return tuple(n for n in ("error", "key", "status") if getattr(self, n) is not None)

    def hidden_arrays(self, names: Sequence[str]) -> list[Any]:
        """The named hidden state as plain arrays."""
        return [self._hidden_array(n) for n in names]

    def _hidden_array(self, name):
        if name == "error":
            return self.current_error()
        if name == "key":
            return jax.random.key_data(self.current_key())
        status = self.current_status()
        return jnp.zeros((), bool) if status is None else status

    def adopt_hidden(self, names: Sequence[str], arrays: Sequence[Any]) -> None:
        """Take over hidden state that came out of a graph construct."""
        for name, array in zip(names, arrays):
            if name == "key":
                array = jax.random.wrap_key_data(array)
            setattr(self, name, array)

    # ------------------------------------------------------------------ what a trace may have to take back
    def state(self) -> tuple[Any, ...]:
        """What the trace has done so far beyond computing, for `same` and `back_to`; of the root frame."""
        now = {key: cell.__dict__.get(name, ABSENT) for key, (cell, name, _) in self.settings.items()}
        return dict(self.calls), len(self.errors), now, self.refused

    def same(self, state: tuple[Any, ...]) -> bool:
        """Whether it has only computed since `state` was taken, and perhaps called functions."""
        _, errors, settings, refused = state
        _, errors_now, settings_now, refused_now = self.state()
        alike = settings.keys() == settings_now.keys() and all(settings[k] is v for k, v in settings_now.items())
        return alike and errors == errors_now and refused is refused_now

    def back_to(self, state: tuple[Any, ...]) -> None:
        """Undo what it has done since."""
        self.calls, errors, settings, self.refused = dict(state[0]), *state[1:]
        del self.errors[errors:]
        for key, (cell, name, before) in list(self.settings.items()):
            value = settings.get(key, before)
            if value is ABSENT:
                cell.__dict__.pop(name, None)
            else:
                cell.__dict__[name] = value
            if key not in settings:
                del self.settings[key]

    def take_settings(self) -> Any:
        """Give the attributes of Cells that this trace has set the values that they had before; returns
        (Cell, name, value set) of each: a call of the program sets them."""
        taken = []
        for cell, name, before in self.settings.values():
            taken.append((cell, name, cell.__dict__.get(name, ABSENT)))
            if before is ABSENT:
                cell.__dict__.pop(name, None)
            else:
                cell.__dict__[name] = before
        self.settings.clear()
        return taken

    def __enter__(self) -> Self:
        self._outer = thread.frame
        thread.frame = self
        return self

    def __exit__(self, *exc: Any) -> Literal[False]:
        thread.frame = self._outer
        if self.parent is None and self.checking:  # the trace ended in between
            settle()
        for tensor, array in self.tensors.values():
            tensor._array = array
        return False


class Epoch:
    """One counter for the whole process: it moves whenever something that programs depend on may have changed."""

    __slots__ = ("value",)

    def __init__(self):
        self.value: int = 0

    def bump(self) -> None:
        """Make every compiled program check, at its next call, that it still fits."""
        self.value += 1


epoch: Epoch = Epoch()
# Moves with the hooks of Parameters, which programs are traced with.
hook_epoch: Epoch = Epoch()
storage_epoch: Epoch = Epoch()  # moves whenever Parameters go to another store, or an observer comes or goes


class Taking:
    """Who may write over the arrays of Parameters.

    Attributes:
        lock (RLock): Held while a step takes over the arrays of Parameters, which it writes where they were.
        contended (bool): Whether threads have been seen to use the same Parameters in PYNATIVE mode, where operators
            read them without the lock: from then on steps write elsewhere.
    """

    def __init__(self):
        self.lock = threading.RLock()
        self.contended: bool = False
        self._recorder = None

    def contend(self) -> None:
        """Make steps of PYNATIVE mode leave the arrays alone that they read."""
        if not self.contended:
            with self.lock:  # a step that goes on has ended
                self.contended = True
                storage_epoch.bump()

    def record(self) -> None:
        """This thread begins to record a gradient, which keeps what it reads."""
        ident = threading.get_ident()
        if ident != self._recorder:
            if self._recorder is not None:
                self.contend()
            self._recorder = ident


donation_lock: Taking = Taking()
constants: WeakIdentityDict = WeakIdentityDict()  # plain Tensor that a program holds as a constant -> True


def settle() -> None:
    """Bring `thread.looking` in line with what it stands for: a gradient is recorded, whole numbers carry theirs
    through a graph, the float status is watched, or what is traced is spread over devices."""
    watched = thread if thread.frame is None else thread.frame.root()
    carries = thread.carriers is not None and thread.carriers.active
    thread.looking = bool(thread.recording) or carries or watched.checking or thread.spread is not None


def tracing() -> bool:
    """Whether this thread is tracing a graph."""
    return thread.frame is not None
