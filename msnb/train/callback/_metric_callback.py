"""Base class of callbacks that monitor one measure from epoch to epoch."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from msnb import log
from msnb.common.kinds import OneOf
from msnb.train.callback._callback import Callback, _handle_loss

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext

Mode = Annotated[str, OneOf("auto", "min", "max")]
_SMALLER_IS_BETTER = frozenset(
    "hausdorff_distance mae mse loss perplexity mean_surface_distance root_mean_square_distance eval_loss".split()
)


class Monitored(Callback):
    """Base of callbacks that act when a measure stops improving.

    Args:
        monitor (str): "loss" for the loss of training, otherwise a metric of `Model.fit`.
        mode (str): "min", "max", or "auto", which derives it from the name.
        min_delta (float): The smallest change that counts as an improvement.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self._down = mode == "min" or mode == "auto" and monitor in _SMALLER_IS_BETTER
        self._reset()

    def _reset(self):
        self.wait = 0
        self.best: float = math.inf if self._down else -math.inf

    def is_improvement(self, value: float, best: float) -> bool:
        """
        Return whether a value is better than another by more than `min_delta`.

        Args:
            value (float): The new value.
            best (float): The best value so far.

        Returns:
            bool.
        """
        return value < best - self.min_delta if self._down else value > best + self.min_delta

    def _read_measure(self, run_context: "RunContext") -> float | None:
        """Return the measure of this epoch; None, with a warning, if there is none."""
        moment = run_context.original_args()
        measured = moment.get("eval_results") or {}
        value: Any = _handle_loss(moment.get("net_outputs")) if self.monitor == "loss" else measured.get(self.monitor)
        if value is None:
            log.warning(
                "%s watches '%s', which is not there; there are: %s. Model.fit with a valid_dataset measures more.",
                type(self).__name__,
                self.monitor,
                ", ".join(["loss", *measured]),
            )
            return None
        if np.ndim(value):
            raise ValueError(f"For '{type(self).__name__}', '{self.monitor}' should be a number, but got {value!r}.")
        return float(value)
