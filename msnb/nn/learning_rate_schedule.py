"""Learning rate schedules: Cells that an optimizer calls with its `global_step`."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, PositiveFloat
from msnb.nn.cell import Cell
from msnb.ops import functional as F

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
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, global_step: Tensor) -> Tensor:
        """Return the learning rate of step `global_step`."""
        raise NotImplementedError(
            f"'{self.cls_name}' should define construct(global_step), the learning rate of a step."
        )


def _compute_elapsed_fraction(step, steps, *, at_most_all=False):
    """Return ``step / steps`` in float32."""
    return F.cast(F.minimum(step, steps) if at_most_all else step, mstype.float32) / steps


class _Decay(LearningRateSchedule):
    """Base class of learning rates that decay by a factor, continuously or in stairs."""

    @checked
    def __init__(
        self, learning_rate: PositiveFloat, decay_rate: PositiveFloat, decay_steps: PositiveInt, is_stair: Bool = False
    ) -> None:
        super().__init__()
        self.learning_rate: PositiveFloat = learning_rate
        self.decay_rate: PositiveFloat = decay_rate
        self.decay_steps: PositiveInt = decay_steps
        self.is_stair: Bool = is_stair

    def _count_decay_periods(self, step):
        """Return step / `decay_steps`, rounded down if `is_stair`."""
        periods = _compute_elapsed_fraction(step, self.decay_steps)
        return F.floor(periods) if self.is_stair else periods


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
        TypeError: If a rate is no float, `decay_steps` is no int or `is_stair` is no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Examples:
        >>> schedule = nn.ExponentialDecayLR(0.1, 0.9, 4)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.09486833
    """

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate * F.pow(self.decay_rate, self._count_decay_periods(global_step))


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
        TypeError: If a rate is no float, `decay_steps` is no int or `is_stair` is no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Examples:
        >>> schedule = nn.NaturalExpDecayLR(0.1, 0.9, 4, True)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    def construct(self, global_step: Tensor) -> Tensor:
        steps = (
            self._count_decay_periods(global_step) * self.decay_steps
            if self.is_stair
            else F.cast(global_step, mstype.float32)
        )
        return self.learning_rate * F.exp(-self.decay_rate * steps)


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
        TypeError: If a rate is no float, `decay_steps` is no int or `is_stair` is no bool.
        ValueError: If a rate or `decay_steps` is not positive.

    Examples:
        >>> schedule = nn.InverseDecayLR(0.1, 0.9, 4, True)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate / (1.0 + self.decay_rate * self._count_decay_periods(global_step))


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
        TypeError: If a rate is no float or `decay_steps` is no int.
        ValueError: If a rate is out of range, or `min_lr` is not less than `max_lr`.

    Examples:
        >>> schedule = nn.CosineDecayLR(0.01, 0.1, 4)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.055
    """

    @checked
    def __init__(self, min_lr: NonNegativeFloat, max_lr: PositiveFloat, decay_steps: PositiveInt) -> None:
        super().__init__()
        if not min_lr < max_lr:
            raise ValueError(
                f"For '{self.cls_name}', 'max_lr' should be greater than 'min_lr', but got {max_lr} and {min_lr}."
            )
        self.decay_steps: int = decay_steps
        self.min_lr: NonNegativeFloat = min_lr
        self.max_lr: PositiveFloat = max_lr

    def construct(self, global_step: Tensor) -> Tensor:
        angle = math.pi * _compute_elapsed_fraction(global_step, self.decay_steps, at_most_all=True)
        return self.min_lr + (self.max_lr - self.min_lr) / 2 * (1.0 + F.cos(angle))


class PolynomialDecayLR(LearningRateSchedule):
    r"""Polynomial decay: ``(learning_rate - end_learning_rate) * (1 - s / d) ** power + end_learning_rate``.

    s is `global_step`, limited to `decay_steps`, and d is `decay_steps`. With `update_decay_steps`, s is not limited,
    and d is the smallest positive multiple of `decay_steps` that is at least s.

    Args:
        learning_rate (float): Rate at step 0, positive.
        end_learning_rate (float): Rate at the end, at least 0.
        decay_steps (int): Number of steps from `learning_rate` to `end_learning_rate`, positive.
        power (float): Degree of the polynomial, positive.
        update_decay_steps (bool): Whether d grows by `decay_steps` whenever s exceeds it. Default: False.

    Inputs:
        - **global_step** (Tensor) - Number of the step.

    Outputs:
        Tensor, the learning rate.

    Raises:
        TypeError: If a rate or `power` is no float, `decay_steps` is no int or `update_decay_steps` is no bool.
        ValueError: If a number is out of range.

    Examples:
        >>> schedule = nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.07363961
    """

    @checked
    def __init__(
        self,
        learning_rate: PositiveFloat,
        end_learning_rate: NonNegativeFloat,
        decay_steps: PositiveInt,
        power: PositiveFloat,
        update_decay_steps: Bool = False,
    ) -> None:
        super().__init__()
        self.start_learning_rate: PositiveFloat = learning_rate
        self.end_learning_rate: NonNegativeFloat = end_learning_rate
        self.decay_steps: PositiveInt = decay_steps
        self.update_decay_steps: Bool = update_decay_steps
        self.power: float = power

    def construct(self, global_step: Tensor) -> Tensor:
        share = _compute_elapsed_fraction(global_step, self.decay_steps, at_most_all=not self.update_decay_steps)
        if self.update_decay_steps:  # the share of the time until the next multiple of decay_steps
            share = share / F.maximum(F.ceil(share), 1.0)
        end = self.end_learning_rate
        return end + (self.start_learning_rate - end) * F.pow(1.0 - share, self.power)


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
        TypeError: If `learning_rate` is no float or `warmup_steps` is no int.
        ValueError: If a number is out of range.

    Examples:
        >>> schedule = nn.WarmUpLR(0.1, 2)
        >>> print(schedule(Tensor(2, mindspore.int32)))
        0.1
    """

    @checked
    def __init__(self, learning_rate: NonNegativeFloat, warmup_steps: PositiveInt) -> None:
        super().__init__()
        self.learning_rate: NonNegativeFloat = learning_rate
        self.warmup_steps: PositiveInt = warmup_steps

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate * _compute_elapsed_fraction(global_step, self.warmup_steps, at_most_all=True)
