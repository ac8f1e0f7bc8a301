"""What changes the learning rates of an optimizer of `experimental.optim`, called once in each epoch or step.

Most compute the next rate from the present one, so that several can act on one optimizer. Rates are float32, as the
Parameters that hold them; what is computed of them is plain Python.
"""

import bisect
import math
from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from msnb.common import dtype as mstype
from msnb.core.errors import describe
from msnb.core.tensor import Tensor
from msnb.experimental.optim.optimizer import Optimizer

__all__ = [
    "StepLR",
    "LinearLR",
    "LRScheduler",
    "ExponentialLR",
    "PolynomialLR",
    "MultiplicativeLR",
    "ConstantLR",
    "MultiStepLR",
    "LambdaLR",
    "SequentialLR",
    "ReduceLROnPlateau",
    "CyclicLR",
    "CosineAnnealingWarmRestarts",
    "CosineAnnealingLR",
]


def _number(value):
    return float(value.asnumpy()) if isinstance(value, Tensor) else float(value)


def _each(given, optimizer, name, kinds=(list, tuple)):
    """One of `given` for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(given, kinds):
        return [given] * groups
    if len(given) != groups:
        raise ValueError(f"'{name}' should hold one for each of the {groups} groups, but it holds {len(given)}.")
    return list(given)


def _check(owner, kind, **given):
    for name, value in given.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            what = "an int" if kind is int else "a number"
            raise TypeError(f"For '{owner}', '{name}' should be {what}, but got {describe(value)}.")


class _OfOptimizer:
    """What holds the rates of an optimizer."""

    def __init__(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"For '{type(self).__name__}', 'optimizer' should be one of mindspore.experimental.optim, but got "
                f"{describe(optimizer)}."
            )
        self.optimizer = optimizer
        self.groups_num = len(optimizer.param_groups)
        self._last_lr = list(optimizer.lrs)

    @property
    def _rates(self):
        """The present rates, as floats."""
        return [_number(rate) for rate in self._last_lr]

    def _set(self, rates):
        for rate, group, value in zip(self._last_lr, self.optimizer.param_groups, rates, strict=True):
            rate.set_data(Tensor(_number(value), mstype.float32))
            group["lr"] = rate

    def get_last_lr(self) -> list[Tensor]:
        """
        The present learning rates.

        Returns:
            list[Tensor], one for each group.
        """
        return [rate.value() for rate in self._last_lr]


class LRScheduler(_OfOptimizer):
    """
    Base of those that count epochs: a subclass writes `get_lr`, which returns a list of rates, one for each group.

    Args:
        optimizer (Optimizer): Whose rates change; its groups get "initial_lr".
        last_epoch (int): Epochs that have been before; other than -1 the groups have to hold "initial_lr". Default: -1.

    Raises:
        TypeError: If `optimizer` is none of `experimental.optim`, or `last_epoch` no int.
        ValueError: If `last_epoch` is below -1.
        KeyError: If a group has no "initial_lr" with another `last_epoch` than -1.

    Examples:
        >>> from mindspore.experimental import optim
        >>> class Halving(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5 ** self.last_epoch for lr in self.base_lrs]
        >>> halving = Halving(optim.SGD(nn.Dense(2, 2).trainable_params(), lr=0.1))
        >>> halving.step()
        >>> halving.get_last_lr()
        [Tensor(shape=[], dtype=Float32, value= 0.05)]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        super().__init__(optimizer)
        _check(type(self).__name__, int, last_epoch=last_epoch)
        if last_epoch < -1:
            raise ValueError(f"'last_epoch' should be at least -1, but got {last_epoch}.")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"Group {number} has no 'initial_lr', from which 'last_epoch' would go on.")
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch: int = last_epoch
        self.step()

    def get_lr(self) -> list[Any]:
        """
        The rates of epoch `last_epoch`.

        Raises:
            NotImplementedError: In this base class.
        """
        raise NotImplementedError(f"'{type(self).__name__}' should define get_lr().")

    def step(self, epoch: int | None = None) -> None:
        """
        Go on to the next epoch, or to another.

        Args:
            epoch (int): Which. Default: None, the next.
        """
        at_once = getattr(self, "_get_closed_form_lr", self.get_lr)
        self.last_epoch = self.last_epoch + 1 if epoch is None else int(_number(epoch))
        self._set(self.get_lr() if epoch is None else at_once())


class StepLR(LRScheduler):
    """
    The rate times `gamma` every `step_size` epochs.

    Args:
        optimizer (Optimizer): Whose rates change.
        step_size (int): Epochs between two changes.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `step_size` is no int, or `gamma` no number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        _check("StepLR", int, step_size=step_size)
        _check("StepLR", Real, gamma=gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        now = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if now else rate for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """
    The rate times a factor that goes from one number to another along a line.

    Args:
        optimizer (Optimizer): Whose rates change.
        start_factor (float): The factor at first, in (0, 1]. Default: 1/3.
        end_factor (float): The factor in the end, in [0, 1]. Default: 1.0.
        total_iters (int): Epochs to the end. Default: 5.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is no int.
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
        _check("LinearLR", int, total_iters=total_iters)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        part = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        before = self._factor(self.last_epoch - 1) if self.last_epoch else 1.0
        return [rate * (self._factor(self.last_epoch) / before) for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self._factor(self.last_epoch) for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """
    The rate times `gamma` in each epoch.

    Args:
        optimizer (Optimizer): Whose rates change.
        gamma (float): The factor.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `gamma` is no number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        _check("ExponentialLR", Real, gamma=gamma)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        return [rate * self.gamma if self.last_epoch else rate for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """
    The rate times a power of the share of epochs that are left.

    Args:
        optimizer (Optimizer): Whose rates change.
        total_iters (int): Epochs until it is zero. Default: 5.
        power (float): The power, at least 0. Default: 1.0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is no int, or `power` no number.
        ValueError: If `power` is negative.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=10, power=2.0)
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        _check("PolynomialLR", int, total_iters=total_iters)
        _check("PolynomialLR", Real, power=power)
        if power < 0:
            raise ValueError(f"For 'PolynomialLR', 'power' should be at least 0, but got {power}.")
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return (1.0 - min(epoch, self.total_iters) / self.total_iters) ** self.power

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        before = self._factor(self.last_epoch - 1) if self.last_epoch else 1.0
        return [rate * (self._factor(self.last_epoch) / before) if before else rate for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * self._factor(self.last_epoch) for rate in self.base_lrs]


class LambdaLR(LRScheduler):
    """
    The first rate times what a function says of the epoch.

    Args:
        optimizer (Optimizer): Whose rates change.
        lr_lambda (Union[Callable, list[Callable]]): The function, or one for each group.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If there is not one for each group.

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
        self.lr_lambdas = _each(lr_lambda, optimizer, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * _number(factor(self.last_epoch)) for rate, factor in pairs]


class MultiplicativeLR(LRScheduler):
    """
    The present rate times what a function says of the epoch.

    Args:
        optimizer (Optimizer): Whose rates change.
        lr_lambda (Union[Callable, list[Callable]]): The function, or one for each group.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If there is not one for each group.

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
        self.lr_lambdas = _each(lr_lambda, optimizer, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        if not self.last_epoch:
            return self._rates
        pairs = zip(self._rates, self.lr_lambdas, strict=True)
        return [rate * _number(factor(self.last_epoch)) for rate, factor in pairs]


class MultiStepLR(LRScheduler):
    """
    The rate times `gamma` at given epochs.

    Args:
        optimizer (Optimizer): Whose rates change.
        milestones (list[int]): The epochs; one that stands twice counts twice.
        gamma (float): The factor. Default: 0.1.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `milestones` is no list of int, or `gamma` no number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 80])
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(milestones, (list, tuple)):
            raise TypeError(f"For 'MultiStepLR', 'milestones' should be a list, but got {describe(milestones)}.")
        for milestone in milestones:
            _check("MultiStepLR", int, milestones=milestone)
        _check("MultiStepLR", Real, gamma=gamma)
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates]

    def _get_closed_form_lr(self):
        passed = sum(times for milestone, times in self.milestones.items() if milestone <= self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """
    The rate times a factor, until an epoch.

    Args:
        optimizer (Optimizer): Whose rates change.
        factor (float): The factor, in [0, 1]. Default: 1/3.
        total_iters (int): The epoch. Default: 5.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `total_iters` is no int.
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
        _check("ConstantLR", int, total_iters=total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        if self.last_epoch not in (0, self.total_iters):
            return self._rates
        factor = self.factor if self.last_epoch == 0 else 1.0 / self.factor
        return [rate * factor for rate in self._rates]

    def _get_closed_form_lr(self):
        return [rate * (1.0 if self.last_epoch >= self.total_iters else self.factor) for rate in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    r"""
    The rate along a cosine (Loshchilov and Hutter, SGDR, 2016):

    .. math::
        \eta_t = \eta_{min} + \frac{\eta_0 - \eta_{min}}{2} \left(1 + \cos \frac{\pi t}{T_{max}}\right)

    Args:
        optimizer (Optimizer): Whose rates change.
        T_max (int): Epochs to the least rate.
        eta_min (float): The least rate. Default: 0.0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `T_max` is no int, or `eta_min` no number.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.05)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50)
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        _check("CosineAnnealingLR", int, T_max=T_max)
        _check("CosineAnnealingLR", Real, eta_min=eta_min)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`."""
        if self.last_epoch == 0:
            return self._rates
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up again from the least rate, a factor of none
            return [
                rate + (base - self.eta_min) * self._height(self.T_max - 1)
                for base, rate in zip(self.base_lrs, self._rates, strict=True)
            ]
        factor = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [factor * (rate - self.eta_min) + self.eta_min for rate in self._rates]

    def _get_closed_form_lr(self):
        return [self.eta_min + (rate - self.eta_min) * self._height(self.last_epoch) for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """
    The rate along a cosine that begins anew (Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm
    Restarts, 2016).

    Args:
        optimizer (Optimizer): Whose rates change.
        T_0 (int): Epochs to the first restart, positive.
        T_mult (int): How many times as long each period is as the one before. Default: 1.
        eta_min (float): The least rate. Default: 0.
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        TypeError: If `eta_min` is no number.
        ValueError: If `T_0` or `T_mult` is no positive int.

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
        _check("CosineAnnealingWarmRestarts", Real, eta_min=eta_min)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of epoch `last_epoch`, which may be between two."""
        begun, period = 0.0, float(self.T_0)
        while self.last_epoch - begun >= period:
            begun, period = begun + period, period * self.T_mult
        height = (1 + math.cos(math.pi * (self.last_epoch - begun) / period)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """
        Go on to the next epoch, or to another.

        Args:
            epoch (float): Which; 2.5 is half way from epoch 2 to epoch 3. Default: None, the next.

        Raises:
            ValueError: If `epoch` is negative.
        """
        if epoch is not None and _number(epoch) < 0:
            raise ValueError(f"'epoch' should be at least 0, but got {epoch}.")
        self.last_epoch = self.last_epoch + 1 if epoch is None else _number(epoch)
        self._set(self.get_lr())
        self.last_epoch = int(self.last_epoch)


class CyclicLR(LRScheduler):
    """
    The rate up and down between two (Smith, Cyclical Learning Rates for Training Neural Networks, 2015).

    Args:
        optimizer (Optimizer): Whose rates change.
        base_lr (Union[float, list[float]]): The lower one, or one for each group.
        max_lr (Union[float, list[float]]): The upper one, or one for each group.
        step_size_up (int): Steps up. Default: 2000.
        step_size_down (int): Steps down. Default: None, as many.
        mode (str): "triangular" (always as high), "triangular2" (each cycle half as high) or "exp_range" (times a power
            of `gamma`). Default: "triangular".
        gamma (float): See `mode`. Default: 1.0.
        scale_fn (Callable): How high, instead of `mode`. Default: None.
        scale_mode (str): Of what `scale_fn` is: "cycle" (the number of the cycle) or "iterations". Default: "cycle".
        last_epoch (int): See :class:`LRScheduler`. Default: -1.

    Raises:
        ValueError: If `mode` is unknown and there is no `scale_fn`, or there is not one rate for each group.

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
        lowest = _each(base_lr, optimizer, "base_lr")
        self.max_lrs = _each(max_lr, optimizer, "max_lr")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_step_size = float(step_size_up + down)
        self.step_up_ratio = step_size_up / self.total_step_size
        self.gamma = gamma
        self.scale_fn, self.scale_mode = (scale_fn, scale_mode) if scale_fn is not None else heights[mode]
        self.base_lrs = lowest
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest
        self._set(self.get_lr())

    def get_lr(self) -> list[Any]:
        """The rates of step `last_epoch`."""
        cycle, part = divmod(self.last_epoch / self.total_step_size, 1)
        rising = part <= self.step_up_ratio
        share = part / self.step_up_ratio if rising else (part - 1) / (self.step_up_ratio - 1)
        height = _number(self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch))
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * share * height for low, high in pairs]


class SequentialLR(_OfOptimizer):
    """
    Several schedulers, one after another.

    Args:
        optimizer (Optimizer): Whose rates change.
        schedulers (list[LRScheduler]): The schedulers, of this optimizer.
        milestones (list[int]): The epochs at which the next one begins: one fewer.
        last_epoch (int): Epochs that have been before. Default: -1.

    Raises:
        ValueError: If a scheduler is of another optimizer, or there are more or fewer milestones.

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
        self._set([group["initial_lr"] for group in optimizer.param_groups])
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0].step()

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        number = bisect.bisect_right(self.milestones, self.last_epoch)
        begins = number > 0 and self.milestones[number - 1] == self.last_epoch
        self._schedulers[number].step(*([0] if begins else []))


class ReduceLROnPlateau(_OfOptimizer):
    """
    The rate times `factor` when a measure has not got better for some epochs.

    Args:
        optimizer (Optimizer): Whose rates change.
        mode (str): "min" or "max", what is better. Default: "min".
        factor (float): The factor, below 1. Default: 0.1.
        patience (int): Epochs without anything better that are borne. Default: 10.
        threshold (float): By how much better it has to be. Default: 1e-4.
        threshold_mode (str): "rel" (as a share of the best) or "abs". Default: "rel".
        cooldown (int): Epochs after a change in which none are counted. Default: 0.
        min_lr (Union[float, list[float]]): The least rate, or one for each group. Default: 0.
        eps (float): Smaller changes are not made. Default: 1e-8.

    Raises:
        ValueError: If `factor`, `mode` or `threshold_mode` is out of range.
        TypeError: If `optimizer` is none of `experimental.optim`.

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
        self.min_lrs = _each(min_lr, optimizer, "min_lr")
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = self.wait = self.last_epoch = 0

    def step(self, metrics: Any) -> None:
        """
        Take the measure of an epoch.

        Args:
            metrics (Union[int, float, Tensor]): The measure.
        """
        current = _number(metrics)
        self.last_epoch += 1
        better = self._better(current)
        self.best, self.wait = (current, 0) if better else (self.best, self.wait + 1)
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.wait > self.patience:
            self._reduce()
            self.cooldown_counter, self.wait = self.cooldown, 0

    def in_cooldown(self) -> bool:
        """
        Whether epochs are not counted.

        Returns:
            bool.
        """
        return self.cooldown_counter > 0

    def _better(self, current):
        sign = -1 if self.mode == "min" else 1
        step = self.threshold * (self.best if self.threshold_mode == "rel" else 1.0)
        if math.isinf(self.best):
            return sign * current > sign * self.best
        return sign * current > sign * (self.best + sign * step)

    def _reduce(self):
        rates = self._rates
        reduced = [max(rate * self.factor, least) for rate, least in zip(rates, self.min_lrs, strict=True)]
        self._set([new if old > new + self.eps else old for old, new in zip(rates, reduced, strict=True)])
