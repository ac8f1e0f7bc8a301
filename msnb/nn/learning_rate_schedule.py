"""Learning rates computed from the number of the step: Cells that an optimizer calls with its `global_step`."""

import math

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = [
    "ExponentialDecayLR",
    "NaturalExpDecayLR",
    "InverseDecayLR",
    "CosineDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
]


class LearningRateSchedule(Cell):
    """Base class of learning rates that change by step.

    A subclass defines `construct(global_step)`, which returns the rate of step `global_step` (from 0) as a Tensor.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        NotImplementedError: If the subclass defines no `construct`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()

    def construct(self, global_step):
        """Learning rate of step `global_step`."""
        raise NotImplementedError(
            f"'{self.cls_name}' should define construct(global_step), the learning rate of a step."
        )


def _check_decay(learning_rate, decay_rate, decay_steps, is_stair, name):
    _check_positive("learning_rate", learning_rate, name)
    _check_positive("decay_rate", decay_rate, name)
    Validator.check_positive_int(decay_steps, "decay_steps", name)
    Validator.check_value_type("is_stair", is_stair, [bool], name)


def _check_positive(argument, value, name):
    Validator.check_is_float(value, argument, name)
    Validator.check_positive_float(value, argument, name)


def _check_not_negative(argument, value, name):
    Validator.check_value_type(argument, value, [float], name)
    Validator.check_non_negative_float(value, argument, name)


class _Decay(LearningRateSchedule):
    """What the three decays share: their arguments and the fraction `global_step / decay_steps`."""

    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        _check_decay(learning_rate, decay_rate, decay_steps, is_stair, self.cls_name)
        self.learning_rate = learning_rate
        self.decay_rate = decay_rate
        self.decay_steps = decay_steps
        self.is_stair = is_stair
        self.pow = P.Pow()
        self.cast = P.Cast()
        self.floor = P.Floor()

    def _progress(self, global_step):
        p = self.cast(global_step, mstype.float32) / self.decay_steps
        return self.floor(p) if self.is_stair else p


class ExponentialDecayLR(_Decay):
    r"""Exponential decay: ``learning_rate * decay_rate ** p`` with ``p = global_step / decay_steps``.

    Args:
        learning_rate (float): Rate at step 0, positive.
        decay_rate (float): Factor per `decay_steps`, positive.
        decay_steps (int): Steps over which the rate is multiplied by `decay_rate` once, positive.
        is_stair (bool): Whether p is rounded down, so that the rate falls in stairs. Default: False.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate is no float, `decay_steps` no int or `is_stair` no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.ExponentialDecayLR(0.1, 0.9, 4)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.09486833
    """

    def construct(self, global_step):
        return self.pow(self.decay_rate, self._progress(global_step)) * self.learning_rate


class NaturalExpDecayLR(_Decay):
    r"""Natural exponential decay: ``learning_rate * exp(-decay_rate * s)`` with ``s = global_step``.

    Args:
        learning_rate (float): Rate at step 0, positive.
        decay_rate (float): Speed of the decay per step, positive.
        decay_steps (int): Length of a stair, positive; without stairs it has no influence.
        is_stair (bool): Whether s is rounded down to a multiple of `decay_steps`. Default: False.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate is no float, `decay_steps` no int or `is_stair` no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.NaturalExpDecayLR(0.1, 0.9, 4, True)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    def construct(self, global_step):
        s = self.cast(global_step, mstype.float32)
        if self.is_stair:
            s = self.floor(s / self.decay_steps) * self.decay_steps
        return self.pow(math.e, s * -self.decay_rate) * self.learning_rate


class InverseDecayLR(_Decay):
    r"""Inverse time decay: ``learning_rate / (1 + decay_rate * p)`` with ``p = global_step / decay_steps``.

    Args:
        learning_rate (float): Rate at step 0, positive.
        decay_rate (float): Speed of the decay, positive.
        decay_steps (int): Steps in which p grows by 1, positive.
        is_stair (bool): Whether p is rounded down. Default: False.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate is no float, `decay_steps` no int or `is_stair` no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.InverseDecayLR(0.1, 0.9, 4, True)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    def construct(self, global_step):
        return self.learning_rate / (self._progress(global_step) * self.decay_rate + 1.0)


class CosineDecayLR(LearningRateSchedule):
    r"""Cosine decay: ``min_lr + (max_lr - min_lr) / 2 * (1 + cos(pi * p))``.

    p is ``global_step / decay_steps``, at most 1.

    Args:
        min_lr (float): Rate from step `decay_steps` on, at least 0.
        max_lr (float): Rate at step 0, greater than `min_lr`.
        decay_steps (int): Steps from `max_lr` to `min_lr`, positive.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate is no float or `decay_steps` no int.
        ValueError: If a rate is out of range, or `min_lr` is not less than `max_lr`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.CosineDecayLR(0.01, 0.1, 4)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.055
    """

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        _check_not_negative("min_lr", min_lr, self.cls_name)
        _check_positive("max_lr", max_lr, self.cls_name)
        Validator.check_positive_int(decay_steps, "decay_steps", self.cls_name)
        if min_lr >= max_lr:
            raise ValueError(
                f"For '{self.cls_name}', 'max_lr' should be greater than 'min_lr', but got {max_lr} and {min_lr}."
            )
        self.min_lr = min_lr
        self.max_lr = max_lr
        self.decay_steps = decay_steps
        self.delta = 0.5 * (max_lr - min_lr)
        self.cos = P.Cos()
        self.min = P.Minimum()
        self.cast = P.Cast()

    def construct(self, global_step):
        p = self.cast(self.min(global_step, self.decay_steps), mstype.float32)
        return (self.cos(p * math.pi / self.decay_steps) + 1.0) * self.delta + self.min_lr


class PolynomialDecayLR(LearningRateSchedule):
    r"""Polynomial decay: ``(learning_rate - end_learning_rate) * (1 - s / d) ** power + end_learning_rate``.

    s is `global_step`, at most `decay_steps`, and d is `decay_steps`. With `update_decay_steps`, d is instead the next
    multiple of `decay_steps`, so that the decay starts over at each of them.

    Args:
        learning_rate (float): Rate at step 0, positive.
        end_learning_rate (float): Rate at the end, at least 0.
        decay_steps (int): Steps from one to the other, positive.
        power (float): Degree of the polynomial, positive.
        update_decay_steps (bool): Whether the decay is repeated. Default: False.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate or `power` is no float, `decay_steps` no int or `update_decay_steps` no bool.
        ValueError: If one of them is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.07363961
    """

    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        _check_positive("learning_rate", learning_rate, self.cls_name)
        _check_not_negative("end_learning_rate", end_learning_rate, self.cls_name)
        Validator.check_positive_int(decay_steps, "decay_steps", self.cls_name)
        Validator.check_value_type("update_decay_steps", update_decay_steps, [bool], self.cls_name)
        _check_positive("power", power, self.cls_name)
        self.decay_steps = decay_steps
        self.start_learning_rate = learning_rate
        self.end_learning_rate = end_learning_rate
        self.diff_learning_rate = learning_rate - end_learning_rate
        self.power = power
        self.update_decay_steps = update_decay_steps
        self.pow = P.Pow()
        self.ceil = P.Ceil()
        self.min = P.Minimum()
        self.max = P.Maximum()
        self.cast = P.Cast()

    def construct(self, global_step):
        step = self.cast(global_step, mstype.float32)
        steps = float(self.decay_steps)
        if self.update_decay_steps:
            steps = self.max(self.ceil(step / steps), 1.0) * steps
        else:
            step = self.min(step, steps)
        return self.pow(1.0 - step / steps, self.power) * self.diff_learning_rate + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    r"""Linear warm-up: ``learning_rate * min(global_step, warmup_steps) / warmup_steps``.

    Args:
        learning_rate (float): Rate from step `warmup_steps` on, at least 0.
        warmup_steps (int): Steps from 0 to `learning_rate`, positive.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If `learning_rate` is no float or `warmup_steps` no int.
        ValueError: If one of them is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> schedule = nn.WarmUpLR(0.1, 2)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        _check_not_negative("learning_rate", learning_rate, self.cls_name)
        Validator.check_positive_int(warmup_steps, "warmup_steps", self.cls_name)
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.min = P.Minimum()
        self.cast = P.Cast()

    def construct(self, global_step):
        percent = self.cast(self.min(global_step, self.warmup_steps), mstype.float32) / self.warmup_steps
        return percent * self.learning_rate
