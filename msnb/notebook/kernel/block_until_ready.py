"""Waiting for what a cell has started: JAX hands out arrays before they are computed."""

import sys
import weakref

from msnb.core.compat.jax_private import clear_effect_tokens, live_arrays
from msnb.core.state import deferred_errors

_told = weakref.WeakValueDictionary()  # arrays whose error has been raised once


def wait() -> None:
    """Block until every computation of this process is done.

    Raises:
        Exception: What went wrong in one of them, once.
    """
    jax = sys.modules.get("jax")
    if jax is None:
        return
    try:
        for array in live_arrays():
            if not array.is_deleted() and id(array) not in _told:
                _wait_for(array)
        jax.effects_barrier()
        deferred_errors.wait_and_report()
    except Exception:
        clear_effect_tokens()
        raise


def _wait_for(array):
    try:
        array.block_until_ready()
    except Exception:
        if not array.is_deleted():  # else another thread has handed it on meanwhile
            _told[id(array)] = array
            raise
