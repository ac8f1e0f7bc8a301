"""Learning rates as lists: one number per step, which every optimizer takes as `learning_rate`."""

import math
from typing import Annotated

from msnb.common.kinds import Bool, Each, PositiveInt, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat, NonNegativeFloat, PositiveFloat

__all__ = [
    "piecewise_constant_lr",
    "exponential_decay_lr",
    "natural_exp_decay_lr",
    "inverse_decay_lr",
    "cosine_decay_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


def _list_epochs_of_steps(total_step, step_per_epoch):
    """Return the epoch of each step."""
    return [step // step_per_epoch for step in range(total_step)]


def _compute_elapsed_fraction(epoch, epochs, is_stair):
    return epoch // epochs if is_stair else epoch / epochs


@checked
def piecewise_constant_lr(
    milestone: Annotated[list[int] | tuple[int, ...], Each(PositiveInt)],
    learning_rates: Annotated[list[float] | tuple[float, ...], Each(FiniteFloat)],
) -> list[float]:
    r"""
    Piecewise constant learning rate: learning_rates[i] is used from step milestone[i - 1] to step milestone[i] - 1.

    Args:
        milestone (Union[list[int], tuple[int]]): First step after each piece, not decreasing.
        learning_rates (Union[list[float], tuple[float]]): Learning rate of each piece, as many as `milestone` has.

    Returns:
        list[float], of milestone[-1] numbers.

    Raises:
        TypeError: If an argument is neither a tuple nor a list, or holds something of the wrong type.
        ValueError: If the lengths differ, or `milestone` decreases.

    Examples:
        >>> nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])
        [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]
    """
    if len(milestone) != len(learning_rates) or list(milestone) != sorted(milestone):
        raise ValueError(
            f"For 'piecewise_constant_lr', 'milestone' should be as long as 'learning_rates' and not decrease, "
            f"but got {milestone} and {learning_rates}."
        )
    rates = []
    for end, rate in zip(milestone, learning_rates, strict=True):
        rates.extend([rate] * (end - len(rates)))
    return rates


@checked
def exponential_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: PositiveInt,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: Bool = False,
) -> list[float]:
    r"""
    :math:`lr_i = learning\_rate \cdot decay\_rate^{p}`, where :math:`p = epoch / decay\_epoch` (rounded down for
    `is_stair`) and :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        learning_rate (float): The first learning rate.
        decay_rate (float): The factor per `decay_epoch` epochs.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs in which the rate is multiplied by `decay_rate` once.
        is_stair (bool): Whether the exponent is rounded down. Default: False.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a number is not positive.

    Examples:
        >>> nn.exponential_decay_lr(0.1, 0.9, total_step=6, step_per_epoch=2, decay_epoch=1)
        [0.1, 0.1, 0.09000000000000001, 0.09000000000000001, 0.08100000000000002, 0.08100000000000002]
    """
    epochs = _list_epochs_of_steps(total_step, step_per_epoch)
    return [learning_rate * decay_rate ** _compute_elapsed_fraction(epoch, decay_epoch, is_stair) for epoch in epochs]


@checked
def natural_exp_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: PositiveInt,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: Bool = False,
) -> list[float]:
    r"""
    :math:`lr_i = learning\_rate \cdot e^{-decay\_rate \cdot epoch}`, where
    :math:`epoch = \lfloor i / step\_per\_epoch \rfloor` (rounded down to a multiple of `decay_epoch` for `is_stair`).

    Args:
        learning_rate (float): The first learning rate.
        decay_rate (float): The rate of decay.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The width of a stair in epochs.
        is_stair (bool): Whether the learning rate falls in stairs. Default: False.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a number is not positive.

    Examples:
        >>> nn.natural_exp_decay_lr(0.1, 0.9, total_step=6, step_per_epoch=2, decay_epoch=2, is_stair=True)
        [0.1, 0.1, 0.1, 0.1, 0.016529888822158657, 0.016529888822158657]
    """
    width = decay_epoch if is_stair else 1
    epochs = _list_epochs_of_steps(total_step, step_per_epoch)
    return [learning_rate * math.e ** (-decay_rate * (epoch - epoch % width)) for epoch in epochs]


@checked
def inverse_decay_lr(
    learning_rate: PositiveFloat,
    decay_rate: PositiveFloat,
    total_step: PositiveInt,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    is_stair: Bool = False,
) -> list[float]:
    r"""
    :math:`lr_i = learning\_rate / (1 + decay\_rate \cdot p)`, where :math:`p = epoch / decay\_epoch` (rounded down for
    `is_stair`) and :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        learning_rate (float): The first learning rate.
        decay_rate (float): The rate of decay.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs in which p grows by 1.
        is_stair (bool): Whether p is rounded down. Default: False.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a number is not positive.

    Examples:
        >>> nn.inverse_decay_lr(0.1, 0.5, total_step=6, step_per_epoch=1, decay_epoch=1, is_stair=True)
        [0.1, 0.06666666666666667, 0.05, 0.04, 0.03333333333333333, 0.028571428571428574]
    """
    epochs = _list_epochs_of_steps(total_step, step_per_epoch)
    return [
        learning_rate / (1 + decay_rate * _compute_elapsed_fraction(epoch, decay_epoch, is_stair)) for epoch in epochs
    ]


@checked
def cosine_decay_lr(
    min_lr: NonNegativeFloat,
    max_lr: PositiveFloat,
    total_step: PositiveInt,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
) -> list[float]:
    r"""
    :math:`lr_i = min\_lr + (max\_lr - min\_lr)(1 + \cos(\pi \cdot epoch / decay\_epoch)) / 2` up to `decay_epoch`,
    `min_lr` afterwards, where :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        min_lr (float): The last learning rate.
        max_lr (float): The first learning rate.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs until `min_lr` is reached.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If `min_lr` is negative or not less than `max_lr`, or another number is not positive.

    Examples:
        >>> nn.cosine_decay_lr(0.01, 0.1, total_step=6, step_per_epoch=2, decay_epoch=2)
        [0.1, 0.1, 0.05500000000000001, 0.05500000000000001, 0.01, 0.01]
    """
    if not min_lr < max_lr:
        raise ValueError(
            f"For 'cosine_decay_lr', 'max_lr' should be greater than 'min_lr', but got {max_lr} and {min_lr}."
        )
    epochs = _list_epochs_of_steps(total_step, step_per_epoch)
    angles = [math.pi * min(epoch / decay_epoch, 1) for epoch in epochs]
    return [min_lr + (max_lr - min_lr) / 2 * (1 + math.cos(angle)) for angle in angles]


@checked
def polynomial_decay_lr(
    learning_rate: PositiveFloat,
    end_learning_rate: NonNegativeFloat,
    total_step: PositiveInt,
    step_per_epoch: PositiveInt,
    decay_epoch: PositiveInt,
    power: PositiveFloat,
    update_decay_epoch: Bool = False,
) -> list[float]:
    r"""
    :math:`lr_i = (learning\_rate - end\_learning\_rate)(1 - e / d)^{power} + end\_learning\_rate`. Here `d` is
    `decay_epoch`, and `e` is the epoch, limited to `d`. With `update_decay_epoch`, `d` is the smallest positive
    multiple of `decay_epoch` that is at least the epoch.

    Args:
        learning_rate (float): The first learning rate.
        end_learning_rate (float): The last learning rate.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs until `end_learning_rate` is reached.
        power (float): The exponent.
        update_decay_epoch (bool): Whether the decay time grows by `decay_epoch` whenever it has passed. Default: False.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If `end_learning_rate` is negative, or another number is not positive.

    Examples:
        >>> nn.polynomial_decay_lr(0.1, 0.01, total_step=6, step_per_epoch=2, decay_epoch=2, power=0.5)
        [0.1, 0.1, 0.07363961030678928, 0.07363961030678928, 0.01, 0.01]
    """

    def left(epoch):
        """Return the fraction of the decay time that remains."""
        times = max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else 1
        return 1 - min(epoch / (decay_epoch * times), 1)

    span = learning_rate - end_learning_rate
    return [
        end_learning_rate + span * left(epoch) ** power for epoch in _list_epochs_of_steps(total_step, step_per_epoch)
    ]


@checked
def warmup_lr(
    learning_rate: NonNegativeFloat, total_step: PositiveInt, step_per_epoch: PositiveInt, warmup_epoch: PositiveInt
) -> list[float]:
    r"""
    :math:`lr_i = learning\_rate \cdot epoch / warmup\_epoch` up to `warmup_epoch`, `learning_rate` afterwards, where
    :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        learning_rate (float): The last learning rate.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        warmup_epoch (int): The number of epochs until `learning_rate` is reached.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If `learning_rate` is negative, or another number is not positive.

    Examples:
        >>> nn.warmup_lr(0.1, total_step=6, step_per_epoch=2, warmup_epoch=2)
        [0.0, 0.0, 0.05, 0.05, 0.1, 0.1]
    """
    return [learning_rate * min(epoch / warmup_epoch, 1) for epoch in _list_epochs_of_steps(total_step, step_per_epoch)]
