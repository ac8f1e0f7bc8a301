"""Learning rates as lists: one number per step, which every optimizer takes as `learning_rate`."""

import math

from msnb._checkparam import Validator

__all__ = [
    "piecewise_constant_lr",
    "exponential_decay_lr",
    "natural_exp_decay_lr",
    "inverse_decay_lr",
    "cosine_decay_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


def _check_positive_ints(**values):
    for name, value in values.items():
        Validator.check_positive_int(value, name)


def _check_positive_floats(**values):
    for name, value in values.items():
        Validator.check_is_float(value, name)
        Validator.check_positive_float(value, name)


def _check_not_negative_floats(**values):
    for name, value in values.items():
        Validator.check_is_float(value, name)
        Validator.check_non_negative_float(value, name)


def piecewise_constant_lr(milestone, learning_rates):
    r"""
    A learning rate for each stretch of steps: learning_rates[i] up to, not including, step milestone[i].

    Args:
        milestone (Union[list[int], tuple[int]]): The ends of the stretches, not decreasing.
        learning_rates (Union[list[float], tuple[float]]): As many learning rates.

    Returns:
        list[float], of milestone[-1] numbers.

    Raises:
        TypeError: If an argument is neither a tuple nor a list, or holds something of the wrong type.
        ValueError: If the lengths differ, or `milestone` decreases.

    Examples:
        >>> nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])
        [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]
    """
    Validator.check_value_type("milestone", milestone, (tuple, list))
    Validator.check_value_type("learning_rates", learning_rates, (tuple, list))
    if len(milestone) != len(learning_rates):
        raise ValueError(
            "The size of `milestone` must be same with the size of `learning_rates`, "
            f"but got {len(milestone)} and {len(learning_rates)}."
        )
    lr = []
    for i, (end, rate) in enumerate(zip(milestone, learning_rates, strict=True)):
        Validator.check_positive_int(end, f"milestone[{i}]")
        Validator.check_is_float(rate, f"learning_rates[{i}]")
        if end < len(lr):
            raise ValueError(f"milestone[{i}] must not be less than milestone[{i - 1}], but got {milestone}.")
        lr += [rate] * (end - len(lr))
    return lr


def _decay(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, factor):
    _check_positive_ints(total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    _check_positive_floats(learning_rate=learning_rate, decay_rate=decay_rate)
    Validator.check_value_type("is_stair", is_stair, [bool])
    return [learning_rate * factor(step // step_per_epoch) for step in range(total_step)]


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    r"""
    :math:`lr_i = learning\_rate \cdot decay\_rate^{p}`, where :math:`p = epoch / decay\_epoch` (rounded down for
    `is_stair`) and :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        learning_rate (float): The first learning rate.
        decay_rate (float): The factor per `decay_epoch` epochs.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs that the factor belongs to.
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

    def factor(epoch):
        return decay_rate ** (epoch // decay_epoch if is_stair else epoch / decay_epoch)

    return _decay(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, factor)


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
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

    def factor(epoch):
        return math.e ** (-decay_rate * (epoch // decay_epoch * decay_epoch if is_stair else epoch))

    return _decay(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, factor)


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    r"""
    :math:`lr_i = learning\_rate / (1 + decay\_rate \cdot p)`, where :math:`p = epoch / decay\_epoch` (rounded down for
    `is_stair`) and :math:`epoch = \lfloor i / step\_per\_epoch \rfloor`.

    Args:
        learning_rate (float): The first learning rate.
        decay_rate (float): The rate of decay.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs that the rate belongs to.
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
    _check_positive_ints(total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    _check_positive_floats(learning_rate=learning_rate, decay_rate=decay_rate)
    Validator.check_value_type("is_stair", is_stair, [bool])
    lr = []
    for step in range(total_step):
        epoch = step // step_per_epoch
        power = decay_rate * (epoch // decay_epoch) if is_stair else decay_rate * epoch / decay_epoch
        lr.append(learning_rate / (1 + power))
    return lr


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
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
        ValueError: If a number is not positive (`min_lr`: negative), or `min_lr` not less than `max_lr`.

    Examples:
        >>> nn.cosine_decay_lr(0.01, 0.1, total_step=6, step_per_epoch=2, decay_epoch=2)
        [0.1, 0.1, 0.05500000000000001, 0.05500000000000001, 0.01, 0.01]
    """
    _check_not_negative_floats(min_lr=min_lr)
    _check_positive_floats(max_lr=max_lr)
    _check_positive_ints(total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    if min_lr >= max_lr:
        raise ValueError(f"`max_lr` should be greater than `min_lr`, but got {max_lr} and {min_lr}.")
    delta = 0.5 * (max_lr - min_lr)
    epochs = (min(step // step_per_epoch, decay_epoch) for step in range(total_step))
    return [min_lr + delta * (1 + math.cos(math.pi * epoch / decay_epoch)) for epoch in epochs]


def polynomial_decay_lr(
    learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch=False
):
    r"""
    :math:`lr_i = (learning\_rate - end\_learning\_rate)(1 - e / d)^{power} + end\_learning\_rate`, where `e` is the
    epoch, at most `decay_epoch`, and `d` is `decay_epoch`; or, for `update_decay_epoch`, `e` is the epoch and `d` the
    least multiple of `decay_epoch` that is not less (and at least one).

    Args:
        learning_rate (float): The first learning rate.
        end_learning_rate (float): The last learning rate.
        total_step (int): The number of steps.
        step_per_epoch (int): The number of steps in an epoch.
        decay_epoch (int): The number of epochs until `end_learning_rate` is reached.
        power (float): The exponent.
        update_decay_epoch (bool): Whether to start over after `decay_epoch` epochs. Default: False.

    Returns:
        list[float], of `total_step` numbers.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a number is not positive (`end_learning_rate`: negative).

    Examples:
        >>> nn.polynomial_decay_lr(0.1, 0.01, total_step=6, step_per_epoch=2, decay_epoch=2, power=0.5)
        [0.1, 0.1, 0.07363961030678928, 0.07363961030678928, 0.01, 0.01]
    """
    _check_positive_floats(learning_rate=learning_rate, power=power)
    _check_not_negative_floats(end_learning_rate=end_learning_rate)
    _check_positive_ints(total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    Validator.check_value_type("update_decay_epoch", update_decay_epoch, [bool])
    delta = learning_rate - end_learning_rate
    lr = []
    for step in range(total_step):
        epoch, end = step // step_per_epoch, decay_epoch
        if update_decay_epoch:
            end *= max(math.ceil(epoch / decay_epoch), 1)
        lr.append(delta * (1 - min(epoch, end) / end) ** power + end_learning_rate)
    return lr


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
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
        ValueError: If a number is not positive (`learning_rate`: negative).

    Examples:
        >>> nn.warmup_lr(0.1, total_step=6, step_per_epoch=2, warmup_epoch=2)
        [0.0, 0.0, 0.05, 0.05, 0.1, 0.1]
    """
    _check_not_negative_floats(learning_rate=learning_rate)
    _check_positive_ints(total_step=total_step, step_per_epoch=step_per_epoch, warmup_epoch=warmup_epoch)
    epochs = (min(step // step_per_epoch, warmup_epoch) for step in range(total_step))
    return [learning_rate * epoch / warmup_epoch for epoch in epochs]
