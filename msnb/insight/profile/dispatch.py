"""PYNATIVE mode: each operator as it is dispatched, how long that took and how long its kernel ran.

While a `Watch` is open, the attribute `run` of every Kernel passes through it; when it closes the slot is what it was.
To tell one operator from the next each is waited for, so nothing overlaps and the step is a little longer than it is
without a profile.
"""

import sys
import threading
import time

import jax

from msnb.core import trace
from msnb.core._jax_private import is_tracer
from msnb.core.kernel import Kernel
from msnb.ir import cost
from msnb.ir.read import is_library

_slot = Kernel.run  # the descriptor of the slot itself
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

    def __init__(self, name, scope, source, backward, start, sent, done, work):
        self.name = name
        self.scope = scope
        self.source = source
        self.backward = backward
        self.start = start
        self.sent = sent
        self.done = done
        self.work = work  # (flops, bytes)
        self.busy = done - sent


class Watch:
    """Collects `calls` from `open` to `close`."""

    def __init__(self):
        self.calls = []
        self._scope = []
        self._places = {}  # ids of a forward call's inputs -> its scope and line
        self._work = {}
        self._owner = threading.get_ident()
        self._run = None

    def open(self):
        """Begin to watch."""
        from msnb.nn.cell import Cell

        watch = self

        def fetch(kernel):
            return _Timed(watch, kernel, _slot.__get__(kernel))

        self._run = Cell._run
        Kernel.run = property(fetch, lambda kernel, value: _slot.__set__(kernel, value))
        Cell._run = self._in_scope(self._run)

    def close(self):
        """Put everything back."""
        from msnb.nn.cell import Cell

        Kernel.run = _slot
        Cell._run = self._run
        self._places.clear()

    def _in_scope(self, run):
        scopes = self._scope

        def scoped(cell, args, kwargs):
            name = type(cell).__name__
            scopes.append(f"{cell._attr_name}-{name}" if scopes and cell._attr_name else name)
            try:
                return run(cell, args, kwargs)
            finally:
                scopes.pop()

        return scoped

    def run(self, kernel, function, arrays):
        """Run one kernel on arrays and note what it took."""
        if trace.thread.frame is not None or threading.get_ident() != self._owner or any(map(is_tracer, arrays)):
            return function(*arrays)
        start = _clock()
        out = function(*arrays)
        sent = _clock()
        jax.block_until_ready(out)
        done = _clock()
        scope, source, backward = self._place(kernel, arrays)
        self.calls.append(Call(kernel.name, scope, source, backward, start, sent, done, self._cost(kernel, arrays)))
        return out

    def run_whole(self, name, call):
        """Run a compiled function inside PYNATIVE code: one entry for all of it."""
        start = _clock()
        out = call()
        sent = _clock()
        jax.block_until_ready(
            [box._array for box in (out if isinstance(out, tuple) else (out,)) if hasattr(box, "_array")]
        )
        scope = "/".join(("Default", *self._scope))
        self.calls.append(Call(name, scope, _line(), False, start, sent, _clock(), (0, 0)))
        return out

    def _place(self, kernel, arrays):
        """(scope, line, whether backward): a pullback stands where the operator stands whose inputs it was given."""
        name = kernel.name.meaning.operator
        if name.endswith("Grad"):
            idents = tuple(map(id, arrays))
            for count in range(len(idents) - 1, 0, -1):
                found = self._places.get((name[:-4], idents[:count]))
                if found is not None:
                    return *found[:2], True
        place = "/".join(("Default", *self._scope)) if self._scope else "Default", _line()
        # the inputs are kept so that their ids stay theirs; all is let go when the watch closes
        self._places[name, tuple(map(id, arrays))] = (*place, arrays)
        return *place, False

    def _cost(self, kernel, arrays):
        key = (kernel, *((getattr(a, "shape", ()), str(getattr(a, "dtype", type(a)))) for a in arrays))
        known = self._work.get(key)
        if known is None:
            try:
                jaxpr = jax.make_jaxpr(_slot.__get__(kernel))(*arrays).jaxpr
            except Exception:  # a kernel that cannot be traced again still ran: its work is then unknown
                known = (0, 0)
            else:
                known = (sum(cost.flops(eqn, {}) for eqn in jaxpr.eqns), sum(cost.nbytes(eqn) for eqn in jaxpr.eqns))
            self._work[key] = known
        return known


class _Timed:
    """What `kernel.run` is while a watch is open."""

    __slots__ = ("watch", "kernel", "function")

    def __init__(self, watch, kernel, function):
        self.watch = watch
        self.kernel = kernel
        self.function = function

    def __call__(self, *arrays):
        return self.watch.run(self.kernel, self.function, arrays)

    def __getattr__(self, name):
        return getattr(self.function, name)


def _line():
    """(file, line, function) of the innermost frame that is the user's."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library(file) and not file.startswith("<frozen"):
            return file, frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None
