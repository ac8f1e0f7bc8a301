"""Wait for the asynchronous computations that a cell has started."""

import sys
import weakref

from msnb.core.compat.jax_private import clear_effect_tokens, live_arrays
from msnb.core.state import deferred_errors

_reported_arrays = weakref.WeakValueDictionary()  # arrays whose error has been raised once


def wait() -> None:
    """Block until every computation of this process is done.

    Raises:
        Exception: The error of a computation. Each error is raised once.
    """
    jax = sys.modules.get("jax")
    if jax is None:
        return
    try:
        deferred_errors.poll(finishes_loops=True)
        for array in live_arrays():
            if not array.is_deleted() and id(array) not in _reported_arrays:
                _wait_for_array(array)
        jax.effects_barrier()
        deferred_errors.wait_and_report()
    except Exception:
        clear_effect_tokens()
        raise


def _wait_for_array(array):
    try:
        array.block_until_ready()
    except Exception:
        if not array.is_deleted():  # another thread may have donated the array
            _reported_arrays[id(array)] = array
            raise
