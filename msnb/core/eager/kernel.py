"""`Kernel`: a pure function of arrays under a name, compiled once per signature, and its pullbacks.

`run` is the compiled function itself. It is wrapped only while `dispatched` has listeners (see `core.state.events`),
and while a graph is traced with gradient rules of an export (`gradient_rules`).
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

from msnb.core.compat.jax_private import clear_compiled, drop_weak_type, is_tracer, jit_kernel, limit_traces
from msnb.core.eager import integer_gradients, matmul_precision
from msnb.core.eager.stoppable_run import StoppableRun
from msnb.core.jaxpr.op_names import GraphName
from msnb.core.sharding import partitioner
from msnb.core.state import events, trace_state
from msnb.core.support import interrupts
from msnb.core.support.type_promotion import is_inexact

_clock = time.perf_counter_ns
_lock = threading.RLock()
_live = weakref.WeakSet()


class Kernel:
    """A pure function of arrays with one `jax.jit`, shown in a graph under `name`.

    Args:
        name (str): Name of the operator; a `GraphName` also has its attributes.
        fn (Callable): Takes arrays and Python scalars, returns an array or a tuple of arrays.
    """

    __slots__ = (
        "name",
        "fn",
        "run",
        "checked",
        "quiet",
        "real",
        "rows",
        "joined",
        "is_stoppable",
        "_pullbacks",
        "__weakref__",
    )

    def __init__(self, name: str, fn: Callable[..., Any]) -> None:
        def kernel(*arrays):  # runs at trace time only
            if trace_state.thread.frame is None:
                trace_state.thread.n_traces += 1
                limit_traces()
                if is_sharded:
                    partitioner.outside()
            with matmul_precision.products(arrays):
                out = fn(*arrays)
            if type(out) is tuple:
                return tuple([drop_weak_type(jnp.asarray(o)) for o in out])
            return drop_weak_type(jnp.asarray(out))

        self.name: GraphName = name if isinstance(name, GraphName) else GraphName(name)
        is_sharded = "strategy" in self.name.meaning.marks
        kernel.__name__ = kernel.__qualname__ = self.name
        self.fn: Callable[..., Any] = fn
        self.run: Any = jit_kernel(kernel)  # `_install_run_wrappers` may replace it by a wrapper
        with _lock:
            _live.add(self)
            _install_run_wrappers(self)
        self.quiet: Kernel | None = None  # the same kernel without prints, which the pullback runs
        self.real: Kernel | None = None  # the function to differentiate instead, see core.eager.integer_gradients
        self.checked: Any = None  # static values and input positions, if the operator checks values
        self.rows: Kernel | None = None  # row gradient of a look-up in a table, see core.operator.row_gradients
        self.joined = False  # True if it communicates with other devices, see core.sharding
        self.is_stoppable = False  # True if a Ctrl-C ends its loops
        self._pullbacks = {}

    def make_stoppable(self) -> None:
        """Let Ctrl-C end the loops of the kernel and of its gradients when they run outside a graph."""
        with _lock:
            self.is_stoppable = True
            self.run = StoppableRun(self.compiled)
            _install_run_wrappers(self)

    def join(self) -> None:
        """Make the kernel run in several processes at once, also outside a graph, as communication requires."""
        with _lock:
            self.joined = True
            self.run = partitioner.CollectiveKernel(self.fn, self.compiled)
            _install_run_wrappers(self)

    def call(self, *arrays: Any) -> Any:
        """Call `run` and clean up after an error. Hot paths call `run` and `recover` themselves."""
        try:
            return self.run(*arrays)
        except BaseException as error:
            self.recover(error)
            raise

    def recover(self, error: BaseException) -> None:
        """Discard a compilation that an error has interrupted, so that later calls are not slowed down."""
        if interrupts.is_incomplete_compilation(error):
            clear_compiled(self.compiled, error)

    @property
    def compiled(self) -> Any:
        """The compiled function without wrappers for observers."""
        run = self.run
        while type(run) in (_ObservedRun, _RunWithGradient):
            run = run.run
        return run

    def pullback(self, needs: tuple[bool, ...]) -> "Kernel":
        """Return the kernel of the vector-Jacobian product.

        It takes the inputs, then one cotangent per output, and returns a tuple with the cotangent of each input that
        `needs` (tuple of bool) marks.
        """
        kernel = self._pullbacks.get(needs)
        if kernel is None:
            kernel = Kernel(self.name.gradient, self._make_pullback_function(needs))
            if self.joined:
                kernel.join()
            elif self.is_stoppable:
                kernel.make_stoppable()
            self._pullbacks[needs] = kernel
        return kernel

    def _make_pullback_function(self, needs):
        count = len(needs)
        requested = [i for i, need in enumerate(needs) if need]

        def pull(*args):
            cotangents = args[count:]
            # `call` cleans up if an interrupt ends this trace; `run` would leave a partly traced function in the cache.
            call = (self.real or self.quiet or self).call
            variables, arrays = integer_gradients.differentiable_inputs(call, args[:count], requested)

            def call_variables(*values):
                for i, value in zip(variables, values):
                    arrays[i] = value
                return call(*arrays)

            out, vjp = jax.vjp(call_variables, *[arrays[i] for i in variables])
            outs = out if type(out) is tuple else (out,)
            cotangents = tuple(
                c.astype(o.dtype) if is_inexact(o.dtype) else np.zeros(o.shape, jax.dtypes.float0)
                for c, o in zip(cotangents, outs)
            )
            gradients = dict(zip(variables, vjp(cotangents if type(out) is tuple else cotangents[0])))
            return tuple(
                [
                    integer_gradients.cast_gradient(gradients[i], args[i].dtype)
                    if i in gradients
                    else jnp.zeros_like(args[i])
                    for i in requested
                ]
            )

        return lambda *args: interrupts.deliver_pending(lambda: pull(*args))  # runs at trace time only


class _ObservedRun:
    """Wrapper of a kernel's `run` that reports each call to listeners, except calls within a trace."""

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
    """Wrapper of a kernel's `run` with the gradient of this thread's gradient rules, used while the thread traces."""

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
    """Context manager in which this thread traces graphs with the gradients of `rules`.

    Args:
        rules (Callable): Takes a kernel and returns its gradient function, or None to use JAX's gradient. The gradient
            function takes (inputs, outputs, cotangents of the outputs) and returns a cotangent for each input.
    """
    global _differentiating
    before, trace_state.thread.pullbacks = trace_state.thread.pullbacks, rules
    with _lock:
        _differentiating += 1
        _install_run_wrappers(*_live)
    try:
        yield
    finally:
        trace_state.thread.pullbacks = before
        with _lock:
            _differentiating -= 1
            _install_run_wrappers(*_live)


_differentiating = 0  # number of threads with gradient rules


def _install_run_wrappers(*kernels):
    """Set `run` of kernels to the wrapper that is needed now."""
    for kernel in kernels:
        kernel.run = kernel.compiled
        if _differentiating:
            kernel.run = _RunWithGradient(kernel)
        if events.subscribers.dispatched:
            kernel.run = _ObservedRun(kernel)


def live_kernels() -> list[Kernel]:
    """Return every live kernel."""
    with _lock:
        return list(_live)


def _update_run_wrappers(has_listeners):
    """Update all kernels after `dispatched` got its first listener or lost its last one."""
    with _lock:
        _install_run_wrappers(*_live)


events.on_demand_change("dispatched", _update_run_wrappers)


def clear_kernels() -> None:
    """Clear the compiled functions of all kernels, after a change of a setting on which their traces depend."""
    for one in live_kernels():
        clear_cache = getattr(one.compiled, "clear_cache", None)  # None if `run` was replaced by another object
        if clear_cache is not None:
            clear_cache()


matmul_precision.on_change(clear_kernels)
