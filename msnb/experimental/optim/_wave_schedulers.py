"""Cyclic learning rates: cosine annealing, warm restarts and triangular cycles."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from msnb.experimental.optim._scheduler import LRScheduler, as_number, check_kind, repeat_for_groups
from msnb.experimental.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR"]


class CosineAnnealingLR(LRScheduler):
    r"""Cosine annealing (Loshchilov and Hutter, SGDR, 2016):

    .. math::
        \eta_t = \eta_{min} + \frac{\eta_0 - \eta_{min}}{2} \left(1 + \cos \frac{\pi t}{T_{max}}\right)

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        T_max (int): Number of epochs until the lowest rate.
        eta_min (float): The lowest rate. Default: 0.0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `T_max` is not an int, or `eta_min` is not a number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50)
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        check_kind("CosineAnnealingLR", int, T_max=T_max)
        check_kind("CosineAnnealingLR", Real, eta_min=eta_min)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _compute_cosine_factor(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        if self.last_epoch == 0:
            return self._rates
        # the previous epoch had the lowest rate, so the quotient below would divide by 0
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [
                rate + (base - self.eta_min) * self._compute_cosine_factor(self.T_max - 1)
                for base, rate in zip(self.base_lrs, self._rates, strict=True)
            ]
        factor = self._compute_cosine_factor(self.last_epoch) / self._compute_cosine_factor(self.last_epoch - 1)
        return [factor * (rate - self.eta_min) + self.eta_min for rate in self._rates]

    def _get_closed_form_lr(self):
        return [
            self.eta_min + (rate - self.eta_min) * self._compute_cosine_factor(self.last_epoch)
            for rate in self.base_lrs
        ]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing with warm restarts (Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm
    Restarts, 2016).

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        T_0 (int): Epochs to the first restart, positive.
        T_mult (int): Ratio of the lengths of consecutive periods. Default: 1.
        eta_min (float): The lowest rate. Default: 0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `eta_min` is not a number.
        ValueError: If `T_0` or `T_mult` is not a positive int.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10, T_mult=2)
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"For 'CosineAnnealingWarmRestarts', '{name}' should be a positive int: {value}.")
        check_kind("CosineAnnealingWarmRestarts", Real, eta_min=eta_min)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`, which may be fractional."""
        period_start, period = 0.0, float(self.T_0)
        while self.last_epoch - period_start >= period:
            period_start, period = period_start + period, period * self.T_mult
        height = (1 + math.cos(math.pi * (self.last_epoch - period_start) / period)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to the given epoch, and set the rates.

        Args:
            epoch (float): The epoch; 2.5 is half way from epoch 2 to epoch 3. Default: None, the next.

        Raises:
            ValueError: If `epoch` is negative.
        """
        if epoch is not None and as_number(epoch) < 0:
            raise ValueError(f"'epoch' should be at least 0, but got {epoch}.")
        self.last_epoch = self.last_epoch + 1 if epoch is None else as_number(epoch)
        self._set_rates(self.get_lr())
        self.last_epoch = int(self.last_epoch)


class CyclicLR(LRScheduler):
    """Cycles the rate between two bounds (Smith, Cyclical Learning Rates for Training Neural Networks, 2015).

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        base_lr (Union[float, list[float]]): The lower bound, or one for each group.
        max_lr (Union[float, list[float]]): The upper bound, or one for each group.
        step_size_up (int): Number of steps with rising rate. Default: 2000.
        step_size_down (int): Number of steps with falling rate. Default: None, `step_size_up`.
        mode (str): Amplitude of the cycles: "triangular" (constant), "triangular2" (halved per cycle) or "exp_range" (a
            power of `gamma`). Default: "triangular".
        gamma (float): See `mode`. Default: 1.0.
        scale_fn (Callable): Function that returns the amplitude. It replaces `mode`. Default: None.
        scale_mode (str): The argument of `scale_fn`: "cycle" (the number of the cycle) or "iterations" (the number of
            the step). Default: "cycle".
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If `mode` is unknown and there is no `scale_fn`, or a list does not have one bound for each group.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.SGD(Net().trainable_params(), lr=0.1, momentum=0.9)
        >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.01, max_lr=0.1)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        heights = {
            "triangular": (lambda cycle: 1.0, "cycle"),
            "triangular2": (lambda cycle: 0.5 ** (cycle - 1), "cycle"),
            "exp_range": (lambda step: self.gamma**step, "iterations"),
        }
        if scale_fn is None and mode not in heights:
            raise ValueError(f"For 'CyclicLR', 'mode' should be one of {', '.join(heights)}, but got {mode!r}.")
        lowest = repeat_for_groups(base_lr, optimizer, "base_lr")
        self.max_lrs = repeat_for_groups(max_lr, optimizer, "max_lr")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_step_size = float(step_size_up + down)
        self.step_up_ratio = step_size_up / self.total_step_size
        self.gamma: float = gamma
        self.scale_fn, self.scale_mode = (scale_fn, scale_mode) if scale_fn is not None else heights[mode]
        self.base_lrs = lowest
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest
        self._set_rates(self.get_lr())

    def get_lr(self) -> list[Any]:
        """Return the rates of step `last_epoch`."""
        cycle, phase = divmod(self.last_epoch / self.total_step_size, 1)
        is_rising = phase <= self.step_up_ratio
        share = phase / self.step_up_ratio if is_rising else (phase - 1) / (self.step_up_ratio - 1)
        height = as_number(self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch))
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * share * height for low, high in pairs]
