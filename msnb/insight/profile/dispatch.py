"""PYNATIVE mode: each operator as it is dispatched, how long that took and how long its kernel ran.

While a `Watch` is open it is told of every kernel that is run. To tell one operator from the next each is waited for,
so nothing overlaps and the step is a little longer than it is without a profile.
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
        name (str): name of the kernel; `scope` and `source` say whose it is.
        start (int), sent (int), done (int): nanoseconds on the clock of `time.perf_counter_ns`: called, returned,
            finished.
        busy (int): nanoseconds of that in which kernels ran. A CPU runs small ones before the call returns, so this is
            taken from the trace of kernels where there is one.
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
        self._places = {}  # ids of a forward call's inputs -> its scope and line
        self._work = {}
        self._listener = None

    def open(self) -> None:
        """Begin to watch what this thread runs, under the scopes of the Cells that somebody is told of."""
        self._listener = events.listen(dispatched=self._dispatched, ran=self._ran, name="profile", here=True)

    def close(self) -> None:
        """Look away."""
        self._listener.close()
        self._places.clear()

    def _dispatched(self, kernel, arrays, out, start, sent):
        """One kernel was run."""
        jax.block_until_ready(out)
        done = _clock()
        scope, source, backward = self._place(kernel, arrays)
        self.calls.append(Call(kernel.name, scope, source, backward, start, sent, done, self._cost(kernel, arrays)))

    def _ran(self, program, arrays, outs, start, sent):
        """A compiled function was run inside PYNATIVE code: one entry for all of it."""
        jax.block_until_ready(outs)
        call = events.current()
        if call is not None and call.net is program.root():  # it is no scope in its own program
            call = call.around
        self.calls.append(Call(program.name, _scope(call), _line(), False, start, sent, _clock(), (0, 0)))

    def _place(self, kernel, arrays):
        """(scope, line, whether backward): a pullback stands where the operator stands whose inputs it was given."""
        name = kernel.name.meaning.operator
        if name.endswith("Grad"):
            idents = tuple(map(id, arrays))
            for count in range(len(idents) - 1, 0, -1):
                found = self._places.get((name[:-4], idents[:count]))
                if found is not None:
                    return *found[:2], True
        place = _scope(events.current()), _line()
        # the inputs are kept so that their ids stay theirs; all is let go when the watch closes
        self._places[name, tuple(map(id, arrays))] = (*place, arrays)
        return *place, False

    def _cost(self, kernel, arrays):
        key = (kernel, *((getattr(a, "shape", ()), str(getattr(a, "dtype", type(a)))) for a in arrays))
        known = self._work.get(key)
        if known is None:
            try:
                jaxpr = jax.make_jaxpr(kernel.compiled)(*arrays).jaxpr
            except Exception:  # a kernel that cannot be traced again still ran: its work is then unknown
                known = (0, 0)
            else:
                known = (sum(cost.flops(eqn, {}) for eqn in jaxpr.eqns), sum(cost.nbytes(eqn) for eqn in jaxpr.eqns))
            self._work[key] = known
        return known


def _scope(call):
    return "/".join(("Default", *(call.scope if call is not None else ())))


def _line():
    """(file, line, function) of the innermost frame that is the user's."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library(file) and not file.startswith("<frozen"):
            return file, frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None
