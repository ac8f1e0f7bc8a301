"""Kernels with loops that a Ctrl-C ends: recurrent operators in PYNATIVE mode, and compiled functions on the tape."""

import itertools
from collections.abc import Callable
from typing import Any

import jax

from msnb.core.compat.jax_private import is_tracer
from msnb.core.jaxpr.stoppable_loops import StoppableLoops, make_stoppable
from msnb.core.state import deferred_errors, stop_flag, trace_state

_thread = trace_state.thread


class StoppableRun:
    """The `run` of a kernel whose loops can be stopped. A stopped call raises KeyboardInterrupt and has no results.

    A call within a trace, or without a long loop, is an ordinary call of the kernel.

    Args:
        run (Callable): The compiled function of the kernel.
    """

    # JAX's table of jitted functions has weak references: without `__weakref__` a later lookup crashes the process.
    __slots__ = ("run", "_has_loops", "_stoppable", "__weakref__")

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run: Any = run
        self._has_loops: dict[Any, bool] = {}  # signature of a call -> True if it has loops to stop

        def with_verdict(flag, *arrays):
            closed, shape = jax.make_jaxpr(self.run, return_shape=True)(*arrays)
            stoppable = make_stoppable(closed)
            *outs, verdict = jax.core.eval_jaxpr(stoppable.jaxpr, stoppable.consts, *jax.tree.leaves(arrays), flag)
            return jax.tree.unflatten(jax.tree.structure(shape), outs), verdict

        with_verdict.__name__ = with_verdict.__qualname__ = getattr(run, "__name__", "kernel")
        self._stoppable: Any = jax.jit(with_verdict)

    def __call__(self, *arrays: Any) -> Any:
        if _thread.frame is not None or any(map(is_tracer, arrays)):
            return self.run(*arrays)
        key = tuple([jax.typeof(array) for array in arrays])
        if key not in self._has_loops:
            self._has_loops[key] = StoppableLoops(jax.make_jaxpr(self.run)(*arrays).jaxpr).exist
        device = jax.config.jax_default_device or jax.local_devices()[0]
        if not self._has_loops[key] or not stop_flag.is_supported(device):
            return self.run(*arrays)
        outcome = []

        def run():
            try:  # `extend` stores the result in C: an interrupt cannot lose it
                outcome.extend(itertools.starmap(self._stoppable, ((stop_flag.array_on(device), *arrays),)))
            finally:
                for _, verdict in outcome:
                    deferred_errors.defer(verdict, stop_flag.Results(()))

        stop_flag.run(run)
        deferred_errors.poll(finishes_loops=True)
        return outcome[0][0]

    def clear_cache(self) -> None:
        """Discard the compiled functions; the next call compiles again."""
        self._has_loops.clear()
        self._stoppable.clear_cache()
        self.run.clear_cache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)
