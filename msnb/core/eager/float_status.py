"""Detection of infinities and NaN in results of operators and in gradients.

The status covers operators between `begin` and `end`, in PYNATIVE mode or within a trace. Without `begin` this costs
nothing: results are only passed to `note` while `thread.results_observed` keeps calls off their fast path.
"""

import threading
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from msnb.core.eager.kernel import Kernel
from msnb.core.state import events, trace_state
from msnb.core.support.type_promotion import is_inexact

_thread = trace_state.thread
_overflow_kernel = Kernel(
    "OverflowSeen", lambda flag, *arrays: flag | ~jnp.stack([jnp.isfinite(a).all() for a in arrays]).all()
)


def begin() -> None:
    """Clear the overflow status and start to check results of operators."""
    frame = _thread.frame
    (_thread if frame is None else frame).status = jnp.zeros((), bool)
    (_thread if frame is None else frame.trace).checking = True
    # With `vital`, errors of the listener are raised: training depends on it, as it skips a step with an overflow.
    if frame is None and _state.listener is None:
        _state.listener = events.listen(
            pulled=_check_cotangents_for_overflow, name="float status", here=True, vital=True
        )
    trace_state.update_results_observed()


def end() -> jax.Array:
    """Stop checking and return the overflow status, a bool array that is True after an overflow."""
    frame = _thread.frame
    (_thread if frame is None else frame.trace).checking = False
    if frame is None and _state.listener is not None:
        _state.listener = _state.listener.close()
    trace_state.update_results_observed()
    status = _thread.status if frame is None else frame.current_status()
    return jnp.zeros((), bool) if status is None else status


def note(arrays: Sequence[jax.Array]) -> None:
    """Update the status from `arrays` if checking is on."""
    frame = _thread.frame
    if not (_thread if frame is None else frame.trace).checking:
        return
    arrays = [a for a in arrays if a is not None and is_inexact(a.dtype)]
    if not arrays:
        return
    if frame is None:
        _thread.status = _overflow_kernel.run(_thread.status, *arrays)
    else:
        frame.status = _overflow_kernel.run(frame.current_status(), *arrays)


def _check_cotangents_for_overflow(node, cotangents):
    """Check the cotangents of one node's outputs for infinities and NaN. Results are checked elsewhere."""
    if _thread.results_observed:
        note([c._array for c in cotangents if c is not None])


class _ThreadState(threading.local):
    """The listener of one thread."""

    listener = None  # listens to tape events while results are checked in PYNATIVE mode


_state = _ThreadState()
