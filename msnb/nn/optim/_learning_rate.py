"""Learning rates: accepted values, and their conversion to Parameters or schedules."""

import numbers
from collections.abc import Iterable
from typing import Annotated

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Kind, accept_value
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import NonNegativeNumber
from msnb.nn.cell import Cell
from msnb.nn.layer.container import CellList
from msnb.nn.learning_rate_schedule import LearningRateSchedule
from msnb.ops import functional as F


def _accept_rate(rate):
    """Return a checked learning rate: a float, a float32 Tensor (a scalar, or one value per step) or a
    LearningRateSchedule."""
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, numbers.Real):
        return accept_value(NonNegativeNumber, rate)
    if isinstance(rate, Tensor):
        return _check_rates(Tensor(rate, mstype.float32))
    if isinstance(rate, (str, bytes, dict)) or not isinstance(rate, Iterable) or getattr(rate, "ndim", 1) == 0:
        raise TypeError
    return _check_rates(Tensor(np.array(list(rate), np.float32)))


def _check_rates(rates):
    values = rates.asnumpy()
    if values.ndim > 1 or not values.size:
        raise ValueError(f"its shape is {values.shape}")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"number {wrong[0]} of {values.size} is {values.reshape(-1)[wrong[0]]}")
    return rates


LearningRate = Annotated[
    float | Tensor | Iterable[float] | LearningRateSchedule,
    Kind(
        "a finite number of at least 0, one for each step (a list or a Tensor of one axis), or a LearningRateSchedule",
        _accept_rate,
        whole=True,
    ),
]

WeightDecay = Annotated[
    float | Cell,
    Kind(
        "a finite number of at least 0, or a Cell that computes it from the number of the step",
        lambda given: given if isinstance(given, Cell) else accept_value(NonNegativeNumber, given),
        whole=True,
    ),
]


def counter():
    """Create the Parameter that counts steps."""
    return Parameter(np.zeros(1, np.int32), name="global_step")


class FixedRate(LearningRateSchedule):
    """Schedule with the same rate in every step, for a group if the rate of another group changes."""

    def __init__(self, rate):
        super().__init__()
        self.learning_rate = rate

    def construct(self, global_step):
        return self.learning_rate * 1.0


class ListedRates(LearningRateSchedule):
    """Schedule from a list of one rate per step. The last rate is used for later steps."""

    def __init__(self, rates, name):
        super().__init__()
        self.learning_rate: Parameter = Parameter(rates, name)
        self.last = rates.size - 1

    def construct(self, global_step):
        return F.gather(self.learning_rate, F.minimum(global_step, self.last), 0)


def depends_on_step(rate):
    """Return True if a learning rate depends on the step."""
    return isinstance(rate, LearningRateSchedule) or isinstance(rate, Tensor) and rate.ndim == 1


def as_parameter_or_schedule(rate, name, scheduled):
    """Convert a learning rate to a Parameter called `name`. Convert it to a schedule instead if it depends on the step
    or `scheduled` is True."""
    if isinstance(rate, LearningRateSchedule):
        return rate
    if depends_on_step(rate):
        return ListedRates(rate, name)
    param = Parameter(Tensor(rate, mstype.float32), name)
    return FixedRate(param) if scheduled else param


def in_cell_list(schedules):
    """Return a CellList of schedules whose Parameters keep their names."""
    names = {param: param.name for schedule in schedules for param in schedule.get_parameters()}
    cells = CellList(schedules)
    for param, name in names.items():
        param.name = name
    return cells


def of_this_step(schedule, global_step):
    """Return the rate of a step as a scalar Tensor. `global_step` has the shape (1,)."""
    rate = schedule(global_step)
    return F.reshape(rate, ()) if isinstance(rate, Tensor) and rate.ndim else rate
