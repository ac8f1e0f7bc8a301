"""A sequence of schedulers, and a scheduler that reduces the rate on a plateau."""

import bisect
import math
from typing import Any

from msnb.experimental.optim._scheduler import LRScheduler, RateSetter, as_number, repeat_for_groups
from msnb.experimental.optim.optimizer import Optimizer

__all__ = ["SequentialLR", "ReduceLROnPlateau"]


class SequentialLR(RateSetter):
    """Runs several schedulers one after another.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        schedulers (list[LRScheduler]): The schedulers. Each must have been created with `optimizer`.
        milestones (list[int]): The epochs at which the second and later schedulers begin.
        last_epoch (int): Index of the last finished epoch, or -1 at the start. Default: -1.

    Raises:
        ValueError: If a scheduler has another optimizer, or the number of milestones is not the number of schedulers
            minus 1.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> first = optim.lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=2)
        >>> then = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        >>> scheduler = optim.lr_scheduler.SequentialLR(optimizer, schedulers=[first, then], milestones=[4])
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer)
        for scheduler in schedulers:
            if scheduler.optimizer is not optimizer:
                raise ValueError("For 'SequentialLR', all 'schedulers' should be of its own optimizer.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"For 'SequentialLR', {len(schedulers)} schedulers need {len(schedulers) - 1} milestones, but got "
                f"{len(milestones)}."
            )
        self._schedulers, self.milestones = schedulers, milestones
        self.last_epoch: int = last_epoch + 1
        self._set_rates([group["initial_lr"] for group in optimizer.param_groups])
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0].step()

    def step(self) -> None:
        """Go to the next epoch."""
        self.last_epoch += 1
        number = bisect.bisect_right(self.milestones, self.last_epoch)
        is_first_epoch = number > 0 and self.milestones[number - 1] == self.last_epoch
        self._schedulers[number].step(*([0] if is_first_epoch else []))


class ReduceLROnPlateau(RateSetter):
    """Multiplies the rate by `factor` when a metric has not improved for some epochs.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        mode (str): "min" or "max", the direction of improvement. Default: "min".
        factor (float): The factor, below 1. Default: 0.1.
        patience (int): Epochs without improvement that are tolerated. Default: 10.
        threshold (float): Minimum improvement. Default: 1e-4.
        threshold_mode (str): "rel" (relative to the best) or "abs". Default: "rel".
        cooldown (int): Number of epochs after a reduction that are ignored if they have no improvement.
            Default: 0.
        min_lr (Union[float, list[float]]): The lowest rate, or one for each group. Default: 0.
        eps (float): Minimum change of a rate. Smaller changes are not applied. Default: 1e-8.

    Raises:
        ValueError: If `factor`, `mode` or `threshold_mode` is out of range.
        TypeError: If `optimizer` is not an optimizer of `experimental.optim`.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.1)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        >>> for loss in (1.0, 0.9, 0.95):
        ...     scheduler.step(loss)
        >>> print(scheduler.get_last_lr()[0])
        0.01
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(optimizer)
        if factor >= 1.0:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' should be below 1, but got {factor}.")
        for name, value, choices in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in choices:
                raise ValueError(f"For 'ReduceLROnPlateau', '{name}' should be one of {choices}, but got {value!r}.")
        self.mode, self.factor, self.patience, self.eps = mode, factor, patience, eps
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lrs = repeat_for_groups(min_lr, optimizer, "min_lr")
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = self.wait = self.last_epoch = 0

    def step(self, metrics: Any) -> None:
        """Process the metric of an epoch.

        Args:
            metrics (Union[int, float, Tensor]): The metric.
        """
        current = as_number(metrics)
        self.last_epoch += 1
        is_better = self._is_better(current)
        self.best, self.wait = (current, 0) if is_better else (self.best, self.wait + 1)
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.wait > self.patience:
            self._reduce_rates()
            self.cooldown_counter, self.wait = self.cooldown, 0

    def in_cooldown(self) -> bool:
        """Return True during the cooldown after a change.

        Returns:
            bool.
        """
        return self.cooldown_counter > 0

    def _is_better(self, current):
        sign = -1 if self.mode == "min" else 1
        step = self.threshold * (self.best if self.threshold_mode == "rel" else 1.0)
        if math.isinf(self.best):
            return sign * current > sign * self.best
        return sign * current > sign * (self.best + sign * step)

    def _reduce_rates(self):
        rates = self._rates
        reduced = [max(rate * self.factor, min_rate) for rate, min_rate in zip(rates, self.min_lrs, strict=True)]
        self._set_rates([new if old > new + self.eps else old for old, new in zip(rates, reduced, strict=True)])
