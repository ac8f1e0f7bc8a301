"""What is kept of the gradients of a step and of what it did to its Parameters, computed while the next step runs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.gradients import host, summary

_NONE = np.zeros((0, len(summary.COLUMNS)), np.float32), np.zeros((0, summary.BINS), np.uint16)


def nothing() -> Any:
    """What one run tells a Recording, while nothing is known.

    "stats", "histograms", "units" and "tensors" are by key of a row, "changes" by name of a Parameter; "loss" is a
    number or None; "odd" says that a gradient, a change or the loss is not finite.
    """
    return {"stats": {}, "histograms": {}, "changes": {}, "units": {}, "tensors": {}, "loss": None, "odd": False}


class StepNumbers:
    """Moments, histograms and changes of one step.

    Arrays in the memory of this process are read by numpy, which takes a third of the time that XLA's CPU backend
    does, and nothing to compile; on other devices they are summarised where they are.

    Args:
        gradients (list[jax.Array]): real arrays.
        before (list), after (list): Parameters, each array beside what became of it.
    """

    def __init__(self, gradients: list[jax.Array], before: list[jax.Array], after: list[jax.Array]) -> None:
        arrays = [*gradients[:1], *before[:1]]  # the others lie where these do
        self.here: bool = all(device.platform == "cpu" for array in arrays for device in array.devices())
        self.made: Any = (gradients, before, after) if self.here else _on_device(gradients, before, after)

    def ready(self) -> bool:
        """Whether `read` does not wait."""
        return all(array.is_ready() for array in jax.tree.leaves(self.made) if not array.is_deleted())

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


@jax.jit
def _on_device(gradients, before, after):
    stats, bars = summary.summarised(gradients, [None] * len(gradients)) if gradients else _NONE
    return stats, bars, jnp.stack([summary.change(old, new) for old, new in zip(before, after)]) if after else ()
