"""Record operators in PYNATIVE mode: time of dispatch and time of the kernel.

An open `Watch` receives an event for every kernel that runs. It waits for each kernel, because the times of overlapping
operators could not be separated. A step is therefore a little longer than without a profile.
"""

import sys
import time
from typing import Any

import jax

from msnb.core.state import events
from msnb.ir import cost
from msnb.ir.read import is_library

_clock = time.perf_counter_ns


class Call:
    """One dispatched operator.

    Attributes:
        name (str): name of the kernel; `scope` and `source` locate it.
        start (int), sent (int), done (int): times when the kernel was called, when the call returned, and when the
            kernel had finished, in nanoseconds of `time.perf_counter_ns`.
        busy (int): nanoseconds of this call in which kernels ran. A CPU runs small kernels before the call returns, so
            the kernel trace sets this if there is one.
    """

    __slots__ = ("name", "scope", "source", "backward", "start", "sent", "done", "work", "busy")

    def __init__(
        self,
        name: str,
        scope: str,
        source: tuple[Any, ...] | None,
        backward: bool,
        start: float,
        sent: float,
        done: Any,
        work: Any,
    ) -> None:
        self.name: str = name
        self.scope: str = scope
        self.source: tuple[Any, ...] | None = source
        self.backward: bool = backward
        self.start: float = start
        self.sent: float = sent
        self.done: Any = done
        self.work: Any = work  # (flops, bytes)
        self.busy: Any = done - sent


class Watch:
    """Collects `calls` from `open` to `close`."""

    def __init__(self):
        self.calls: list[Any] = []
        self._places = {}  # (operator, ids of its inputs) -> scope and line of a forward call
        self._work = {}
        self._listener = None
        self._seen = set()  # kernels and programs that have run: their first call compiles
        self._in_programs = self._in_kernels = 0  # nanoseconds of all calls but the first

    @property
    def runs_programs(self) -> bool:
        """Return True if compiled functions take nearly all of the time, as in a training step that ``ms.jit``
        compiles.
        """
        return self._in_programs > 9 * self._in_kernels

    def open(self) -> None:
        """Start to record kernels of this thread, with the scopes of their Cells."""
        self._listener = events.listen(
            dispatched=self._on_dispatch, ran=self._on_program_run, name="profile", here=True
        )

    def close(self) -> None:
        """Stop recording."""
        self._listener.close()
        self._places.clear()

    def _on_dispatch(self, kernel, arrays, out, start, sent):
        """Record one kernel."""
        jax.block_until_ready(out)
        done = _clock()
        if kernel in self._seen:
            self._in_kernels += done - start
        self._seen.add(kernel)
        scope, source, backward = self._locate_kernel(kernel, arrays)
        self.calls.append(
            Call(kernel.name, scope, source, backward, start, sent, done, self._count_flops_and_bytes(kernel, arrays))
        )

    def _on_program_run(self, program, arrays, outs, start, sent):
        """Record a compiled function that PYNATIVE code calls, as one entry."""
        jax.block_until_ready(outs)
        call = events.current()
        if call is not None and call.net is program.root():  # the call of the program itself is not a scope around it
            call = call.around
        done = _clock()
        if program in self._seen:
            self._in_programs += done - start
        self._seen.add(program)
        self.calls.append(
            Call(program.name, _format_scope(call), _locate_user_frame(), False, start, sent, done, (0, 0))
        )

    def _locate_kernel(self, kernel, arrays):
        """Return (scope, line, True for backward). A gradient kernel has the location of its forward operator, which
        had the same first inputs.
        """
        name = kernel.name.meaning.operator
        if name.endswith("Grad"):
            idents = tuple(map(id, arrays))
            for count in range(len(idents) - 1, 0, -1):
                location = self._places.get((name[:-4], idents[:count]))
                if location is not None:
                    return *location[:2], True
        place = _format_scope(events.current()), _locate_user_frame()
        # references keep the ids of the inputs unique; `close` drops them
        self._places[name, tuple(map(id, arrays))] = (*place, arrays)
        return *place, False

    def _count_flops_and_bytes(self, kernel, arrays):
        key = (kernel, *((getattr(a, "shape", ()), str(getattr(a, "dtype", type(a)))) for a in arrays))
        cached = self._work.get(key)
        if cached is None:
            try:
                jaxpr = jax.make_jaxpr(kernel.compiled)(*arrays).jaxpr
            except Exception:  # the kernel can't be traced again: its work is unknown
                cached = (0, 0)
            else:
                cached = (sum(cost.flops(eqn, {}) for eqn in jaxpr.eqns), sum(cost.nbytes(eqn) for eqn in jaxpr.eqns))
            self._work[key] = cached
        return cached


def _format_scope(call):
    return "/".join(("Default", *(call.scope if call is not None else ())))


def _locate_user_frame():
    """Return (file, line, function) of the innermost frame of user code."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library(file) and not file.startswith("<frozen"):
            return file, frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None
