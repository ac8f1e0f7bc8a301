"""No garbage collection while much is made that stays: it would find nothing, and look at all there is each time."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Python's collector waits until the end of the block; where it was off, it stays off.

    Importing JAX leaves a hundred thousand objects, and the declarations of operators make as many again. By default
    all of them are looked through three times on the way, a third of the time that importing msnb takes.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():  # counted as old: the next look at what is new is not one at all of this
                gc.freeze()
                gc.unfreeze()
            gc.enable()
