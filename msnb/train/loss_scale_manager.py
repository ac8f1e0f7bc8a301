"""Loss scale managers: the factor of the loss in mixed precision, and its updates."""

from typing import TYPE_CHECKING

from msnb._checkparam import Validator
from msnb.common.arguments import answered
from msnb.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell

__all__ = ["LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]

_PATIENCE = 1000  # maximum number of consecutive steps that may overflow


def _check_number(manager, argument, value, at_least=None, above=None):
    """Return `value` if it is a finite number within its bound."""
    Validator.check_finite(value, argument, manager)
    if at_least is not None and value < at_least:
        raise ValueError(f"For '{manager}', '{argument}' should be at least {at_least}, but got {value}.")
    if above is not None and value <= above:
        raise ValueError(f"For '{manager}', '{argument}' should be greater than {above}, but got {value}.")
    return value


class LossScaleManager:
    """Base class of loss scale managers. A subclass defines the loss scale and how an overflow changes it."""

    def get_loss_scale(self) -> float:
        """Return the loss scale."""

    def update_loss_scale(self, overflow: bool) -> None:
        """Update the loss scale after a step.

        Args:
            overflow (bool): Whether the step overflowed.
        """

    def get_update_cell(self) -> "Cell | None":
        """Return a Cell that updates the loss scale inside the training graph, or None."""


class FixedLossScaleManager(LossScaleManager):
    """A constant loss scale.

    Args:
        loss_scale (float): The loss scale, at least 1. When `drop_overflow_update` is False, give the optimizer the
            same `loss_scale`. Default: 128.0.
        drop_overflow_update (bool): Whether a step that overflows is skipped. Default: True.

    Raises:
        ValueError: If `loss_scale` is less than 1.

    Examples:
        >>> manager = FixedLossScaleManager()
        >>> model = Model(net, loss_fn=loss, loss_scale_manager=manager, optimizer=optim)
    """

    @answered
    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        self._loss_scale = _check_number("FixedLossScaleManager", "loss_scale", loss_scale, at_least=1)
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        """Return the loss scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Return whether a step that overflows is skipped."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Do nothing: the loss scale is fixed.

        Args:
            overflow (bool): Whether the step overflowed.
        """

    def get_update_cell(self) -> "Cell | None":
        """Return the Cell for `TrainOneStepWithLossScaleCell`, or None if steps that overflow are not skipped."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that is divided by `scale_factor` on overflow, and multiplied by it after `scale_window` steps
    without overflow.

    Args:
        init_loss_scale (float): Initial loss scale, at least 1. Default: 2**24.
        scale_factor (int): Factor by which the loss scale changes, positive. Default: 2.
        scale_window (int): Number of steps without overflow after which the loss scale grows, positive. Default: 2000.

    Raises:
        ValueError: If an argument is out of range.

    Examples:
        >>> manager = DynamicLossScaleManager()
        >>> model = Model(net, loss_fn=loss, loss_scale_manager=manager, optimizer=optim)
    """

    @answered
    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        name = "DynamicLossScaleManager"
        self.loss_scale: int = _check_number(name, "init_loss_scale", init_loss_scale, at_least=1)
        self.scale_factor: float = _check_number(name, "scale_factor", scale_factor, above=0)
        self.scale_window: int = Validator.check_positive_int(scale_window, "scale_window", name)
        self._good = self._bad = 0  # steps in a row without, and with, overflow

    def get_loss_scale(self) -> float:
        """Return the loss scale."""
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        """Update the loss scale after a step.

        Args:
            overflow (bool): Whether the step overflowed.

        Raises:
            RuntimeError: If more than 1000 steps in a row overflowed.
        """
        self._good, self._bad = (0, self._bad + 1) if overflow else (self._good + 1, 0)
        if overflow:
            self.loss_scale = max(1, self.loss_scale / self.scale_factor)
        elif self._good % self.scale_window == 0:
            self.loss_scale *= self.scale_factor
        if self._bad > _PATIENCE:
            raise RuntimeError(
                f"{self._bad} steps in a row overflowed, whatever the loss scale: the gradients are "
                f"infinite or NaN for another reason."
            )

    def get_drop_overflow_update(self) -> bool:
        """Return True: a step that overflows is always skipped."""
        return True

    def get_update_cell(self) -> "Cell | None":
        """Return the Cell for `TrainOneStepWithLossScaleCell`."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
