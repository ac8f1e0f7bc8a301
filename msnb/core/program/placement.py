"""Placement of the arrays of a program on several devices."""

import copy
import itertools
from typing import Any

from msnb.core.sharding.partitioner import ArrayShardings

_BATCH_BYTES = 256 << 20  # bytes of Parameters that are moved to their devices at once


class Placement:
    """The shardings of the arrays of a program. Moves Parameters to their devices.

    Args:
        program (Staged): The traced function; its partitioner returns the shardings.

    Attributes:
        shardings (Union[ArrayShardings, None]): The shardings; None for one device.
    """

    __slots__ = ("shardings", "_error")

    def __init__(self, program: Any) -> None:
        self.shardings: ArrayShardings | None = None
        # Raised by the first run, so that a program for devices that do not exist can be viewed.
        self._error: RuntimeError | None = None
        try:
            if program.spread is not None:
                self.shardings = program.spread.places(program)
        except RuntimeError as error:
            self._error = error

    def place_parameters(self, written: list[Any], read: list[Any]) -> None:
        """Move the arrays of Parameters to the devices of their shardings.

        Raises:
            RuntimeError: If the program is for devices that this process does not have.
        """
        shardings = self.shardings
        if shardings is None:
            if self._error is not None:
                raise copy.copy(self._error)
            return
        if shardings.bring is None:
            return
        pairs = list(zip([*written, *read], [*shardings.written, *shardings.read], strict=True))
        while pairs:
            # Batches limit the memory of unsharded copies.
            count = _count_params_in_batch([p for p, _ in pairs])
            misplaced = [(p, sharding) for p, sharding in pairs[:count] if p._get_stored_array().sharding != sharding]
            if misplaced:
                moved = shardings.bring(
                    [p._get_stored_array() for p, _ in misplaced], [sharding for _, sharding in misplaced]
                )
                for (p, _), array in zip(misplaced, moved, strict=True):
                    p._rebind_array(array)
            del pairs[:count]


def _count_params_in_batch(params):
    """Return the number of Parameters, from the first on, that are moved at once; at least one."""
    sizes = itertools.accumulate(p.size * p.itemsize for p in params)
    return max(1, sum(size <= _BATCH_BYTES for size in sizes))
