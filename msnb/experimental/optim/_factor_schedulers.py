"""Learning rate schedulers that multiply the rate by a factor that depends on the epoch."""

from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from msnb.core.errors.messages import describe
from msnb.experimental.optim._scheduler import LRScheduler, as_number, check_kind, repeat_for_groups
from msnb.experimental.optim.optimizer import Optimizer

__all__ = [
    "StepLR",
    "LinearLR",
    "ExponentialLR",
    "PolynomialLR",
    "LambdaLR",
    "MultiplicativeLR",
    "MultiStepLR",
    "ConstantLR",
]


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        step_size (int): Epochs between two changes.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `step_size` is not an int, or `gamma` is not a number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        check_kind("StepLR", int, step_size=step_size)
        check_kind("StepLR", Real, gamma=gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        is_due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if is_due else rate for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """Multiplies the initial rate by a factor that changes linearly from `start_factor` to `end_factor`.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        start_factor (float): The initial factor, in (0, 1]. Default: 1/3.
        end_factor (float): The final factor, in [0, 1]. Default: 1.0.
        total_iters (int): Epochs until the final factor. Default: 5.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is not an int.
        ValueError: If a factor is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(f"For 'LinearLR', 'start_factor' should be in (0, 1], but got {start_factor}.")
        if not 0 <= end_factor <= 1.0:
            raise ValueError(f"For 'LinearLR', 'end_factor' should be in [0, 1], but got {end_factor}.")
        check_kind("LinearLR", int, total_iters=total_iters)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _compute_factor(self, epoch):
        progress = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * progress

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        previous_factor = self._compute_factor(self.last_epoch - 1) if self.last_epoch else 1.0
        return [rate * (self._compute_factor(self.last_epoch) / previous_factor) for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self._compute_factor(self.last_epoch) for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` in each epoch.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        gamma (float): The factor.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `gamma` is not a number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        check_kind("ExponentialLR", Real, gamma=gamma)
        self.gamma: float = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        return [rate * self.gamma if self.last_epoch else rate for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Multiplies the initial rate by ``(1 - epoch / total_iters) ** power``. It is 0 after `total_iters` epochs.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        total_iters (int): Number of epochs until the rate is zero. Default: 5.
        power (float): The power, at least 0. Default: 1.0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is not an int, or `power` is not a number.
        ValueError: If `power` is negative.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=10, power=2.0)
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        check_kind("PolynomialLR", int, total_iters=total_iters)
        check_kind("PolynomialLR", Real, power=power)
        if power < 0:
            raise ValueError(f"For 'PolynomialLR', 'power' should be at least 0, but got {power}.")
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _compute_factor(self, epoch):
        return (1.0 - min(epoch, self.total_iters) / self.total_iters) ** self.power

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        previous_factor = self._compute_factor(self.last_epoch - 1) if self.last_epoch else 1.0
        return [
            rate * (self._compute_factor(self.last_epoch) / previous_factor) if previous_factor else rate
            for rate in self._rates
        ]

    def _get_closed_form_lr(self):
        return [rate * self._compute_factor(self.last_epoch) for rate in self.base_lrs]


class LambdaLR(LRScheduler):
    """Multiplies the initial rate by a function of the epoch.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        lr_lambda (Union[Callable, list[Callable]]): The function, or a list with one function for each group.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If the list does not have one function for each group.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9 ** epoch)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = repeat_for_groups(lr_lambda, optimizer, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * as_number(factor(self.last_epoch)) for rate, factor in pairs]


class MultiplicativeLR(LRScheduler):
    """Multiplies the current rate by a function of the epoch.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        lr_lambda (Union[Callable, list[Callable]]): The function, or a list with one function for each group.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If the list does not have one function for each group.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.95)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = repeat_for_groups(lr_lambda, optimizer, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        if not self.last_epoch:
            return self._rates
        pairs = zip(self._rates, self.lr_lambdas, strict=True)
        return [rate * as_number(factor(self.last_epoch)) for rate, factor in pairs]


class MultiStepLR(LRScheduler):
    """Multiplies the rate by `gamma` at given epochs.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        milestones (list[int]): The epochs. A repeated epoch applies the factor repeatedly.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `milestones` is not a list of int, or `gamma` is not a number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 80])
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(milestones, (list, tuple)):
            raise TypeError(f"For 'MultiStepLR', 'milestones' should be a list, but got {describe(milestones)}.")
        for milestone in milestones:
            check_kind("MultiStepLR", int, milestones=milestone)
        check_kind("MultiStepLR", Real, gamma=gamma)
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates]

    def _get_closed_form_lr(self):
        passed = sum(times for milestone, times in self.milestones.items() if milestone <= self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiplies the initial rate by a constant factor in the first `total_iters` epochs.

    Args:
        optimizer (Optimizer): The optimizer whose rates change.
        factor (float): The factor, in [0, 1]. Default: 1/3.
        total_iters (int): Number of epochs with the factor. Default: 5.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is not an int.
        ValueError: If `factor` is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=4)
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError(f"For 'ConstantLR', 'factor' should be in [0, 1], but got {factor}.")
        check_kind("ConstantLR", int, total_iters=total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`."""
        if self.last_epoch not in (0, self.total_iters):
            return self._rates
        factor = self.factor if self.last_epoch == 0 else 1.0 / self.factor
        return [rate * factor for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * (1.0 if self.last_epoch >= self.total_iters else self.factor) for rate in self.base_lrs]
