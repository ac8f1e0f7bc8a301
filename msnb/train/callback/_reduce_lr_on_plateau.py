"""`ReduceLROnPlateau`: a callback that reduces the learning rate of a training without progress."""

from typing import TYPE_CHECKING, Annotated

from msnb.common import dtype as mstype
from msnb.common.kinds import Between, Bool, Float, NonNegInt, Number, Str, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._metric_callback import Mode, Monitored

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class ReduceLROnPlateau(Monitored):
    """
    Multiplies the learning rate by a factor when a measure has not improved for some epochs.

    Args:
        monitor (str): "loss" for the loss of training; "eval_loss" or the name of a metric for those of `Model.fit`.
            Default: "eval_loss".
        factor (float): The factor, in (0, 1). Default: 0.1.
        patience (int): Number of epochs without improvement after which the rate changes. Default: 10.
        verbose (bool): Whether to print a message when the rate changes. Default: False.
        mode (str): "min" or "max", the direction of improvement; "auto" derives it from the name. Default: "auto".
        min_delta (float): The smallest change that counts as an improvement. Default: 1e-4.
        cooldown (int): Number of epochs after a change in which missing improvement is not counted. Default: 0.
        min_lr (float): The smallest learning rate. Default: 0.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If an argument is out of range, the measure is not a number, or the optimizer has no single learning
            rate.

    Examples:
        >>> reduction = mindspore.ReduceLROnPlateau(monitor="eval_loss", factor=0.5, patience=3)
    """

    @checked
    def __init__(
        self,
        monitor: Str = "eval_loss",
        factor: Annotated[float, Between(Float, 0, 1, low_in=False, high_in=False)] = 0.1,
        patience: NonNegInt = 10,
        verbose: Bool = False,
        mode: Mode = "auto",
        min_delta: Number = 1e-4,
        cooldown: NonNegInt = 0,
        min_lr: Number = 0,
    ) -> None:
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        super().__init__(monitor, mode, min_delta)

    def _reset(self):
        super()._reset()
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: "RunContext") -> None:
        """Reset the counters.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._reset()

    def on_train_epoch_end(self, run_context: "RunContext") -> None:
        """Check the measure, and reduce the rate if it has not improved.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        rate = moment.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError(
                f"ReduceLROnPlateau changes the learning rate of an optimizer that was given one number, but this one "
                f"has a {type(rate).__name__}."
            )
        value = self._read_measure(run_context)
        if value is None:
            return
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(value, self.best):
            self.best, self.wait = value, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce_rate(rate, moment)
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _reduce_rate(self, rate, moment):
        before = float(rate.asnumpy())
        if before <= self.min_lr:
            return
        after = max(before * self.factor, self.min_lr)
        rate.set_data(Tensor(after, mstype.float32))
        if self.verbose:
            print(f"After epoch {moment.cur_epoch_num} the learning rate is {after:g}.")
