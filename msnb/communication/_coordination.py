"""Coordination between processes through JAX's distributed key-value service.

The functions use no device: a process may call them while other processes compute. A call fails after `PATIENCE`
seconds.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from msnb.communication._processes import world
from msnb.core.compat.jax_private import coordinator

PATIENCE = 60.0  # seconds to wait for the other processes
_POLL_INTERVAL = 0.01  # seconds between two polls of the counter

_decisions: dict[str, Any] = {}
_barrier_number = 0  # number of the next barrier; equal in all processes


def agree_on(key: str, compute: Callable[[], Any]) -> Any:
    """Return the value that process 0 computes. All other processes receive it and do not compute it.

    Args:
        key (str): Name of the decision: equal in all processes, and used for one decision only.
        compute (Callable): Returns a value that JSON can represent.

    Raises:
        RuntimeError: If process 0 does not answer within a minute.
    """
    service = _get_key_value_service()
    if service is None:
        return compute()
    if key not in _decisions:
        if world().rank == 0:
            _decisions[key] = compute()
            service.key_value_set(f"msnb/{key}", json.dumps(_decisions[key]))
        else:
            _decisions[key] = json.loads(_receive_decision(service, f"msnb/{key}"))
    return _decisions[key]


def _receive_decision(service, key):
    try:
        return service.blocking_key_value_get(key, round(PATIENCE * 1000))
    except Exception as error:  # JAX does not export the type of this error
        if "DEADLINE" not in str(error):
            raise
        raise RuntimeError(
            f"Process 0 has not said within {PATIENCE:g} seconds how its program is spread, which this process has to "
            f"know: all of them run the same steps."
        ) from None


def wait_for_all(purpose: str) -> None:
    """Block until all processes have called this function. A process that timed out may call it again.

    Args:
        purpose (str): The joint action that follows, for errors.

    Raises:
        RuntimeError: If a process does not arrive within a minute.
    """
    global _barrier_number
    service = _get_key_value_service()
    if service is None:
        return
    key, size, deadline = f"msnb/meeting/{_barrier_number}/{purpose}", world().size, time.monotonic() + PATIENCE
    arrived = service.key_value_increment(key, 1)
    while arrived < size:
        if time.monotonic() > deadline and service.key_value_increment(key, -1) < size - 1:
            raise RuntimeError(
                f"{purpose} is done by all {size} processes together, and {size - arrived} of them did not "
                f"come to it within {PATIENCE:g} seconds."
            )
        if time.monotonic() > deadline:  # the last process arrived while this one gave up: count this one again
            arrived = service.key_value_increment(key, 1)
        else:
            time.sleep(_POLL_INTERVAL)
            arrived = int(service.key_value_try_get(key))
    _barrier_number += 1


def _get_key_value_service():
    """Return the key-value service that connects the processes, or None if there is one process."""
    return coordinator() if world().size > 1 else None
