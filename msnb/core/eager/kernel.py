"""`Kernel`: a pure function of arrays under a name, compiled once per signature, and its pullbacks.

`run` is the compiled function itself, with nothing around it. Only while somebody listens to `dispatched` (see
`core.events`) the kernels of this process hold a `run` that tells of itself, and only while a graph is traced for a
file (`differentiated`) one that says what it is differentiated by.
"""

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import clear_compiled, drop_weak_type, is_tracer
from msnb.core.eager import integer_gradients, matmul_precision
from msnb.core.jaxpr.op_names import GraphName
from msnb.core.sharding import partitioner
from msnb.core.state import events, trace_state
from msnb.core.support import interrupts
from msnb.core.support.type_promotion import is_inexact

_clock = time.perf_counter_ns
_lock = threading.RLock()
_live = weakref.WeakSet()


class Kernel:
    """A pure function of arrays with one `jax.jit`, which shows in a graph under `name`.

    Args:
        name (str): Name of the operator; a `GraphName` says its attributes as well.
        fn (Callable): Takes arrays and Python scalars, returns an array or a tuple of arrays.
    """

    __slots__ = ("name", "fn", "run", "checked", "quiet", "real", "rows", "joined", "_pullbacks", "__weakref__")

    def __init__(self, name: str, fn: Callable[..., Any]) -> None:
        def kernel(*arrays):  # runs while it is traced, and then no more
            if held and trace_state.thread.frame is None:
                partitioner.outside()
            with matmul_precision.products(arrays):
                out = fn(*arrays)
            if type(out) is tuple:
                return tuple([drop_weak_type(jnp.asarray(o)) for o in out])
            return drop_weak_type(jnp.asarray(out))

        self.name: GraphName = name if isinstance(name, GraphName) else GraphName(name)
        held = "strategy" in self.name.meaning.marks
        kernel.__name__ = kernel.__qualname__ = self.name
        self.fn: Callable[..., Any] = fn
        self.run: Any = jax.jit(kernel)  # or what tells tools of its calls
        with _lock:
            _live.add(self)
            _install_wrappers(self)
        self.quiet: Kernel | None = None  # the same without prints, of one that prints: its pullback runs it once more
        self.real: Kernel | None = None  # what is differentiated in its place, see core.whole
        self.checked: Any = None  # of an operator with checks: what is static, and where the inputs stand
        self.rows: Kernel | None = None  # of a look-up: how its gradient by the table falls into rows, see core.rows
        self.joined = False  # whether it speaks of other devices, see core.spreading
        self._pullbacks = {}

    def join(self) -> None:
        """Let it run in several processes at once, outside of a graph too: it speaks of other devices."""
        with _lock:
            self.joined = True
            self.run = partitioner.CollectiveKernel(self.fn, self.compiled)
            _install_wrappers(self)

    def call(self, *arrays: Any) -> Any:
        """`run`, and what has to be done when it fails; the hot paths call `run` and do it themselves."""
        try:
            return self.run(*arrays)
        except BaseException as error:
            self.recover(error)
            raise

    def recover(self, error: BaseException) -> None:
        """Make sure that an error which broke off a first call does not slow down all later ones."""
        if interrupts.is_incomplete_compilation(error):
            clear_compiled(self.compiled, error)

    @property
    def compiled(self) -> Any:
        """`run` as it is when nobody listens."""
        run = self.run
        while type(run) in (_ObservedRun, _RunWithGradient):
            run = run.run
        return run

    def pullback(self, needs: tuple[bool, ...]) -> "Kernel":
        """Kernel that takes the inputs, then one cotangent per output, and returns a tuple of cotangents: one for
        each input that `needs` (tuple of bool) marks."""
        kernel = self._pullbacks.get(needs)
        if kernel is None:
            kernel = Kernel(self.name.gradient, self._pull_fn(needs))
            if self.joined:
                kernel.join()
            self._pullbacks[needs] = kernel
        return kernel

    def _pull_fn(self, needs):
        count = len(needs)
        wanted = [i for i, need in enumerate(needs) if need]

        def pull(*args):
            cotangents = args[count:]
            # `call`, since a Stop within this trace must not leave it half traced for all others
            call = (self.real or self.quiet or self).call
            variables, arrays = integer_gradients.differentiable_inputs(call, args[:count], wanted)

            def part(*values):
                for i, value in zip(variables, values):
                    arrays[i] = value
                return call(*arrays)

            out, vjp = jax.vjp(part, *[arrays[i] for i in variables])
            outs = out if type(out) is tuple else (out,)
            cotangents = tuple(
                c.astype(o.dtype) if is_inexact(o.dtype) else np.zeros(o.shape, jax.dtypes.float0)
                for c, o in zip(cotangents, outs)
            )
            found = dict(zip(variables, vjp(cotangents if type(out) is tuple else cotangents[0])))
            return tuple(
                [
                    integer_gradients.cast_gradient(found[i], args[i].dtype) if i in found else jnp.zeros_like(args[i])
                    for i in wanted
                ]
            )

        return lambda *args: interrupts.deliver_pending(
            lambda: pull(*args)
        )  # it runs while it is traced, and then no more


class _ObservedRun:
    """What `run` is while somebody listens: it runs, and tells of it unless that was part of a trace."""

    __slots__ = ("kernel", "run")

    def __init__(self, kernel):
        self.kernel = kernel
        self.run = kernel.run

    def __call__(self, *arrays):
        start = _clock()
        out = self.run(*arrays)
        sent = _clock()
        if trace_state.thread.frame is None and not any(
            map(is_tracer, (*arrays, *(out if type(out) is tuple else (out,))))
        ):
            events.notify("dispatched", self.kernel, arrays, out, start, sent)
        return out

    def __getattr__(self, name):
        return getattr(self.run, name)


class _RunWithGradient:
    """What `run` is while a thread traces with gradients of its own: there, a function with that gradient."""

    __slots__ = ("kernel", "run")

    def __init__(self, kernel):
        self.kernel = kernel
        self.run = kernel.run

    def __call__(self, *arrays):
        rules = trace_state.thread.pullbacks
        rule = None if rules is None or trace_state.thread.frame is None else rules(self.kernel)
        if rule is None:
            return self.run(*arrays)
        run = jax.custom_vjp(self.run)
        run.defvjp(self._forward, lambda saved, cotangents: rule(*saved, cotangents))
        return run(*arrays)

    def _forward(self, *arrays):
        out = self.run(*arrays)
        return out, (arrays, out)

    def __getattr__(self, name):
        return getattr(self.run, name)


@contextlib.contextmanager
def gradient_rules(rules: Callable[[Kernel], Callable[..., Any] | None]) -> Iterator[None]:
    """While this lasts, graphs that this thread traces have the gradients of `rules`.

    Args:
        rules (Callable): Of a kernel, a function of (inputs, outputs, cotangents of the outputs), all arrays or tuples
            of them, that returns a cotangent for each input; None for a kernel that JAX differentiates as always.
    """
    global _differentiating
    before, trace_state.thread.pullbacks = trace_state.thread.pullbacks, rules
    with _lock:
        _differentiating += 1
        _install_wrappers(*_live)
    try:
        yield
    finally:
        trace_state.thread.pullbacks = before
        with _lock:
            _differentiating -= 1
            _install_wrappers(*_live)


_differentiating = 0  # how many threads do


def _install_wrappers(*kernels):
    """Let kernels hold the `run` that they are to have now."""
    for kernel in kernels:
        kernel.run = kernel.compiled
        if _differentiating:
            kernel.run = _RunWithGradient(kernel)
        if events.subscribers.dispatched:
            kernel.run = _ObservedRun(kernel)


def live_kernels() -> list[Kernel]:
    """Every kernel that somebody holds."""
    with _lock:
        return list(_live)


def _switch(asked):
    """Somebody listens to `dispatched` from now on, or nobody does any more."""
    with _lock:
        _install_wrappers(*_live)


events.on_demand_change("dispatched", _switch)


def _trace_anew():
    """What kernels have compiled is for another precision of products."""
    for one in live_kernels():
        forget = getattr(one.compiled, "clear_cache", None)  # None of what somebody has put in its place
        if forget is not None:
            forget()


matmul_precision.on_change(_trace_anew)
