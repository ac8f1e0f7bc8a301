"""Whether a result of an operator, or a gradient, was infinite or not a number since somebody began to look.

`begin` to `end` is a stretch of the program: of what runs in PYNATIVE mode, of what is traced into a graph otherwise.
Who never begins pays nothing: results only pass here while `thread.results_observed` keeps calls off their fast path.
"""

import threading
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from msnb.core.eager.kernel import Kernel
from msnb.core.state import events, trace_state
from msnb.core.support.type_promotion import is_inexact

_thread = trace_state.thread
_seen = Kernel("OverflowSeen", lambda flag, *arrays: flag | ~jnp.stack([jnp.isfinite(a).all() for a in arrays]).all())


def begin() -> None:
    """Forget what was seen and look from here on."""
    frame = _thread.frame
    (_thread if frame is None else frame).status = jnp.zeros((), bool)
    (_thread if frame is None else frame.root()).checking = True
    if frame is None and _state.listener is None:  # vital: a training skips its step for what is found here
        _state.listener = events.listen(pulled=_pulled, name="float status", here=True, vital=True)
    trace_state.update_results_observed()


def end() -> jax.Array:
    """Look no further; returns what was seen, a bool array."""
    frame = _thread.frame
    (_thread if frame is None else frame.root()).checking = False
    if frame is None and _state.listener is not None:
        _state.listener = _state.listener.close()
    trace_state.update_results_observed()
    status = _thread.status if frame is None else frame.current_status()
    return jnp.zeros((), bool) if status is None else status


def note(arrays: Sequence[jax.Array]) -> None:
    """Take notice of `arrays`, if somebody looks."""
    frame = _thread.frame
    if not (_thread if frame is None else frame.root()).checking:
        return
    arrays = [a for a in arrays if a is not None and is_inexact(a.dtype)]
    if not arrays:
        return
    if frame is None:
        _thread.status = _seen.run(_thread.status, *arrays)
    else:
        frame.status = _seen.run(frame.current_status(), *arrays)


def _pulled(node, cotangents):
    """The cotangents of one node's outputs; results and finished gradients are noted where they are made."""
    if _thread.results_observed:
        note([c._array for c in cotangents if c is not None])


class _ThreadState(threading.local):
    """State of one thread."""

    listener = None  # to the tape, while the status of PYNATIVE mode is watched


_state = _ThreadState()
