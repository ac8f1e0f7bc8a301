"""`schedule`: selection of the steps that are profiled."""

import bisect
from enum import Enum

from msnb.common.kinds import NonNegInt, PositiveInt, checked

__all__ = ["ProfilerAction", "schedule"]


class ProfilerAction(Enum):
    """The action of a profiler in a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """
    Select steps in rounds: each has idle steps, then warm-up steps, then measured steps.

    Args:
        wait (int): Idle steps of a round.
        active (int): Measured steps, the last ones of a round.
        warmup (int): Warm-up steps of a round, between the idle and the measured ones. Default: 0.
        repeat (int): Number of rounds; 0 for no limit. Default: 0.
        skip_first (int): Steps before the first round. Default: 0.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If an argument is negative, or `active` is 0.

    Examples:
        >>> from mindspore.profiler import schedule
        >>> plan = schedule(wait=1, warmup=1, active=2)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARM_UP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """

    @checked
    def __init__(
        self,
        *,
        wait: NonNegInt,
        active: PositiveInt,
        warmup: NonNegInt = 0,
        repeat: NonNegInt = 0,
        skip_first: NonNegInt = 0,
    ) -> None:
        self.wait, self.active, self.warmup, self.repeat, self.skip_first = wait, active, warmup, repeat, skip_first

    @checked
    def __call__(self, step: NonNegInt) -> ProfilerAction:
        length = self.wait + self.warmup + self.active
        number, position = divmod(step - self.skip_first, length)
        if number < 0 or 0 < self.repeat <= number:
            return ProfilerAction.NONE
        # the number of bounds up to `position` is the value of the action
        bounds = self.wait, self.wait + self.warmup, length - 1
        return ProfilerAction(bisect.bisect_right(bounds, position))

    def __repr__(self) -> str:
        return f"schedule({', '.join(f'{name}={value}' for name, value in vars(self).items())})"
