"""Statistics of a step's gradients and Parameter changes, computed while the next step runs."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.gradients import host, summary
from msnb.insight.gradients.rows import SATURATES, Row

_NONE = np.zeros((0, len(summary.COLUMNS)), np.float32), np.zeros((0, summary.BINS), np.uint16)


def nothing() -> Any:
    """Return a dict without measurements. Every run adds its numbers to a `Recording` in a dict of this form.

    "stats", "histograms", "units", "tensors" and "latest" have row keys, and "changes" has names of Parameters.
    "latest" has full tensors that are still in memory, as `jax.Array`. "loss" is a number or None; "odd" is True if a
    gradient, a change or the loss is not finite.
    """
    kinds = ("stats", "histograms", "changes", "units", "tensors", "latest")
    return {**{kind: {} for kind in kinds}, "loss": None, "odd": False}


class StepNumbers:
    """Moments, histograms and changes of one step.

    Arrays in the memory of this process are read by numpy, which needs no compilation and takes a third of the time of
    XLA's CPU backend. On other devices they are summarised on the device.

    Args:
        gradients (list[jax.Array]): real arrays.
        before (list), after (list): Parameters before and after the update.
    """

    def __init__(self, gradients: list[jax.Array], before: list[jax.Array], after: list[jax.Array]) -> None:
        # all arrays of a step are on the same device
        self.here: bool = _are_in_host_memory([*gradients[:1], *before[:1]])
        self.computed: Any = (
            (gradients, before, after) if self.here else _compute_step_statistics(gradients, before, after)
        )

    def ready(self) -> bool:
        """Return True if `read` does not block."""
        return _are_all_ready(self.computed)

    def read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (moments, histograms, changes) as numpy arrays with a row for each array.

        The changes are None if another program has overwritten a Parameter since.
        """
        if not self.here:
            return tuple(map(np.asarray, self.computed))
        gradients, before, after = self.computed
        is_available = not any(array.is_deleted() for array in (*before, *after))
        stats, bars = host.summarised(gradients) if gradients else _NONE
        return stats, bars, (host.changes(before, after) if before else ()) if is_available else None


class Values:
    """Moments, histograms and living units of operators' outputs in one step. The device is chosen as in `StepNumbers`.

    Args:
        rows (list[Row]): the rows of the arrays.
        arrays (list[jax.Array]): real, not empty.
    """

    def __init__(self, rows: list[Row], arrays: list[jax.Array]) -> None:
        self.keys: list[tuple[str, str]] = [row.key for row in rows]
        self.kinds: tuple[Any, ...] = tuple((flat_ends(row), has_units(row)) for row in rows)
        self.here: bool = _are_in_host_memory(arrays[:1])
        self.computed: Any = arrays if self.here else _compute_value_statistics(self.kinds, arrays)

    def ready(self) -> bool:
        """Return True if `read` does not block."""
        return _are_all_ready(self.computed)

    def read(self, into: dict[str, Any]) -> None:
        """Add the numbers to a dict that `nothing` has returned."""
        if not self.keys:
            return
        if self.here:
            stats, bars = host.summarised(self.computed, [ends for ends, _ in self.kinds])
            units = [host.living(array) for array, (_, with_units) in zip(self.computed, self.kinds) if with_units]
        else:
            stats, bars, units = jax.tree.map(np.asarray, self.computed)
        into["stats"].update(zip(self.keys, stats, strict=True))
        into["histograms"].update(zip(self.keys, bars, strict=True))
        with_units = [key for key, (_, with_units) in zip(self.keys, self.kinds, strict=True) if with_units]
        into["units"].update(zip(with_units, units, strict=True))


def flat_ends(row: Row) -> tuple[float, float] | None:
    """Return the range outside of which the row's operator has almost no derivative, or None."""
    return SATURATES.named(row.op) if row.kind == "output" else None


def has_units(row: Row) -> bool:
    """Return True for a ReLU's output, whose units can be dead."""
    return row.kind == "output" and row.op.startswith("ReLU") and len(row.shape) > 1


def _are_in_host_memory(arrays):
    """Return True if arrays are in the memory of this process."""
    return all(device.platform == "cpu" for array in arrays for device in array.devices())


def _are_all_ready(arrays):
    return all(array.is_ready() for array in jax.tree.leaves(arrays) if not array.is_deleted())


@functools.partial(jax.jit, static_argnums=0)
def _compute_value_statistics(kinds, arrays):
    stats, bars = summary.summarised(arrays, [ends for ends, _ in kinds])
    return stats, bars, [summary.living(array) for array, (_, with_units) in zip(arrays, kinds) if with_units]


@jax.jit
def _compute_step_statistics(gradients, before, after):
    stats, bars = summary.summarised(gradients, [None] * len(gradients)) if gradients else _NONE
    return stats, bars, jnp.stack([summary.change(old, new) for old, new in zip(before, after)]) if after else ()
