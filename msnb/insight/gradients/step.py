"""What is kept of the gradients of a step and of what it did to its Parameters, computed while the next step runs."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.gradients import host, summary
from msnb.insight.gradients.rows import SATURATES, Row

_NONE = np.zeros((0, len(summary.COLUMNS)), np.float32), np.zeros((0, summary.BINS), np.uint16)


def nothing() -> Any:
    """What one run tells a Recording, while nothing is known.

    "stats", "histograms", "units", "tensors" and "latest" are by key of a row, "changes" by name of a Parameter;
    "latest" holds whatever the run has left of whole tensors, as JAX's arrays. "loss" is a number or None; "odd" says
    that a gradient, a change or the loss is not finite.
    """
    kinds = ("stats", "histograms", "changes", "units", "tensors", "latest")
    return {**{kind: {} for kind in kinds}, "loss": None, "odd": False}


class StepNumbers:
    """Moments, histograms and changes of one step.

    Arrays in the memory of this process are read by numpy, which takes a third of the time that XLA's CPU backend
    does, and nothing to compile; on other devices they are summarised where they are.

    Args:
        gradients (list[jax.Array]): real arrays.
        before (list), after (list): Parameters, each array beside what became of it.
    """

    def __init__(self, gradients: list[jax.Array], before: list[jax.Array], after: list[jax.Array]) -> None:
        self.here: bool = _lie_here([*gradients[:1], *before[:1]])  # the others lie where these do
        self.made: Any = (gradients, before, after) if self.here else _on_device(gradients, before, after)

    def ready(self) -> bool:
        """Whether `read` does not wait."""
        return _ready(self.made)

    def read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(moments, histograms, changes) as numpy arrays with a row for each array.

        The changes are None if another program has written over a Parameter since.
        """
        if not self.here:
            return tuple(map(np.asarray, self.made))
        gradients, before, after = self.made
        known = not any(array.is_deleted() for array in (*before, *after))
        stats, bars = host.summarised(gradients) if gradients else _NONE
        return stats, bars, (host.changes(before, after) if before else ()) if known else None


class Values:
    """Moments, histograms and living units of what operators gave in one step; where they are made, see `StepNumbers`.

    Args:
        rows (list[Row]): what each array is.
        arrays (list[jax.Array]): real, not empty.
    """

    def __init__(self, rows: list[Row], arrays: list[jax.Array]) -> None:
        self.keys: list[tuple[str, str]] = [row.key for row in rows]
        self.kinds: tuple[Any, ...] = tuple((flat_ends(row), has_units(row)) for row in rows)
        self.here: bool = _lie_here(arrays[:1])
        self.made: Any = arrays if self.here else _values_on_device(self.kinds, arrays)

    def ready(self) -> bool:
        """Whether `read` does not wait."""
        return _ready(self.made)

    def read(self, into: dict[str, Any]) -> None:
        """Add the numbers to a dict as `nothing` gives it."""
        if not self.keys:
            return
        if self.here:
            stats, bars = host.summarised(self.made, [ends for ends, _ in self.kinds])
            units = [host.living(array) for array, (_, wanted) in zip(self.made, self.kinds) if wanted]
        else:
            stats, bars, units = jax.tree.map(np.asarray, self.made)
        into["stats"].update(zip(self.keys, stats, strict=True))
        into["histograms"].update(zip(self.keys, bars, strict=True))
        with_units = [key for key, (_, wanted) in zip(self.keys, self.kinds, strict=True) if wanted]
        into["units"].update(zip(with_units, units, strict=True))


def flat_ends(row: Row) -> tuple[float, float] | None:
    """The range outside of which the operator that gives a row is flat; None where there is none."""
    return SATURATES.named(row.op) if row.kind == "output" else None


def has_units(row: Row) -> bool:
    """Whether a row is a ReLU's output, whose units can be dead."""
    return row.kind == "output" and row.op.startswith("ReLU") and len(row.shape) > 1


def _lie_here(arrays):
    """Whether arrays lie in the memory of this process."""
    return all(device.platform == "cpu" for array in arrays for device in array.devices())


def _ready(arrays):
    return all(array.is_ready() for array in jax.tree.leaves(arrays) if not array.is_deleted())


@functools.partial(jax.jit, static_argnums=0)
def _values_on_device(kinds, arrays):
    stats, bars = summary.summarised(arrays, [ends for ends, _ in kinds])
    return stats, bars, [summary.living(array) for array, (_, wanted) in zip(arrays, kinds) if wanted]


@jax.jit
def _on_device(gradients, before, after):
    stats, bars = summary.summarised(gradients, [None] * len(gradients)) if gradients else _NONE
    return stats, bars, jnp.stack([summary.change(old, new) for old, new in zip(before, after)]) if after else ()
