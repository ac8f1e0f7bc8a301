"""Loss scale managers: what the loss is multiplied by in mixed precision, and how that moves."""
from msnb._checkparam import Validator
from msnb.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ["LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]


class LossScaleManager:
    """Base class: a subclass says what the loss scale is and what an overflow does to it.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def get_loss_scale(self):
        """The loss scale."""

    def update_loss_scale(self, overflow):
        """Note the outcome of a step.

        Args:
            overflow (bool): Whether it overflowed.
        """

    def get_update_cell(self):
        """The Cell that does the same inside the training graph, None where nothing is to be done."""


class FixedLossScaleManager(LossScaleManager):
    """The same loss scale in all steps.

    Args:
        loss_scale (float): The loss scale, at least 1. When `drop_overflow_update` is False, give the optimizer the
            same `loss_scale`. Default: 128.0.
        drop_overflow_update (bool): Whether a step that overflows is skipped. Default: True.

    Raises:
        ValueError: If `loss_scale` is less than 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> manager = FixedLossScaleManager()
        >>> model = Model(net, loss_fn=loss, loss_scale_manager=manager, optimizer=optim)
    """

    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' should be at least 1, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self):
        """The loss scale."""
        return self._loss_scale

    def get_drop_overflow_update(self):
        """Whether a step that overflows is skipped."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow):
        """Nothing: the loss scale is fixed.

        Args:
            overflow (bool): Whether the step overflowed.
        """

    def get_update_cell(self):
        """The Cell for `TrainOneStepWithLossScaleCell`, None when steps that overflow are not skipped."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that is divided by `scale_factor` on overflow, and multiplied by it after `scale_window` steps
    without.

    Args:
        init_loss_scale (float): First loss scale, at least 1. Default: 2**24.
        scale_factor (int): Factor by which it moves, positive. Default: 2.
        scale_window (int): Steps without overflow after which it grows, positive. Default: 2000.

    Raises:
        ValueError: If an argument is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> manager = DynamicLossScaleManager()
        >>> model = Model(net, loss_fn=loss, loss_scale_manager=manager, optimizer=optim)
    """

    def __init__(self, init_loss_scale=2 ** 24, scale_factor=2, scale_window=2000):
        if init_loss_scale < 1.0:
            raise ValueError(f"For 'DynamicLossScaleManager', 'init_loss_scale' should be at least 1, "
                             f"but got {init_loss_scale}.")
        Validator.check_positive_int(scale_window, "scale_window", "DynamicLossScaleManager")
        if scale_factor <= 0:
            raise ValueError(f"For 'DynamicLossScaleManager', 'scale_factor' should be positive, but got "
                             f"{scale_factor}.")
        self.loss_scale = init_loss_scale
        self.scale_window = scale_window
        self.scale_factor = scale_factor
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = 1000
        self.bad_step = 0

    def get_loss_scale(self):
        """The loss scale."""
        return self.loss_scale

    def update_loss_scale(self, overflow):
        """Move the loss scale after a step.

        Args:
            overflow (bool): Whether the step overflowed.

        Raises:
            RuntimeError: If more than 1000 steps in a row overflowed.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(f"{self.bad_step} steps in a row overflowed, whatever the loss scale: the gradients are "
                               f"infinite or NaN for another reason.")
        self.cur_iter += 1

    def get_drop_overflow_update(self):
        """Whether a step that overflows is skipped: always."""
        return True

    def get_update_cell(self):
        """The Cell for `TrainOneStepWithLossScaleCell`."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
