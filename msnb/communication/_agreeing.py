"""What processes have to agree about before they can compute together, told through the service that joined them.

Nothing here is computed on a device: a process may ask while the others are busy, and is told when it waits in vain.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from msnb.communication._processes import world
from msnb.core._jax_private import coordinator

PATIENCE = 60.0  # seconds that one waits for the others
_PAUSE = 0.01  # seconds between two looks at who is there

_told: dict[str, Any] = {}
_meeting = 0  # the number of the next one, the same in all processes


def agreed(key: str, find: Callable[[], Any]) -> Any:
    """What process 0 finds; the others are told, and take it.

    Args:
        key (str): What it is about: the same in all processes, and of nothing else.
        find (Callable): Gives what can stand in JSON.

    Raises:
        RuntimeError: If process 0 does not say within a minute.
    """
    service = _service()
    if service is None:
        return find()
    if key not in _told:
        if world().rank == 0:
            _told[key] = find()
            service.key_value_set(f"msnb/{key}", json.dumps(_told[key]))
        else:
            _told[key] = json.loads(_said(service, f"msnb/{key}"))
    return _told[key]


def _said(service, key):
    try:
        return service.blocking_key_value_get(key, round(PATIENCE * 1000))
    except Exception as error:  # of a type of its own, which JAX does not name
        if "DEADLINE" not in str(error):
            raise
        raise RuntimeError(
            f"Process 0 has not said within {PATIENCE:g} seconds how its program is spread, which this process has to "
            f"know: all of them run the same steps."
        ) from None


def meet(what: str) -> None:
    """Wait until all processes are here; one that has waited in vain may come again.

    Args:
        what (str): What they are about to do together, for errors.

    Raises:
        RuntimeError: If one of them does not come within a minute.
    """
    global _meeting
    service = _service()
    if service is None:
        return
    key, all_of_them, until = f"msnb/meeting/{_meeting}/{what}", world().size, time.monotonic() + PATIENCE
    there = service.key_value_increment(key, 1)
    while there < all_of_them:
        if time.monotonic() > until and service.key_value_increment(key, -1) < all_of_them - 1:
            raise RuntimeError(
                f"{what} is done by all {all_of_them} processes together, and {all_of_them - there} of them did not "
                f"come to it within {PATIENCE:g} seconds."
            )
        if time.monotonic() > until:  # the last one came at the last moment
            there = service.key_value_increment(key, 1)
        else:
            time.sleep(_PAUSE)
            there = int(service.key_value_try_get(key))
    _meeting += 1


def _service():
    """Where processes tell each other; None where there is one."""
    return coordinator() if world().size > 1 else None
