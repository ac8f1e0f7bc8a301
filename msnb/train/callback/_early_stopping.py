"""`EarlyStopping`: a callback that stops a training without progress."""

from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.common.kinds import Bool, NonNegInt, Number, Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._metric_callback import Mode, Monitored

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class EarlyStopping(Monitored):
    """
    Stops training when a measure has not improved for some epochs.

    Args:
        monitor (str): "loss" for the loss of training; "eval_loss" or the name of a metric for those of `Model.fit`.
            Default: "eval_loss".
        min_delta (float): The smallest change that counts as an improvement. Default: 0.
        patience (int): Number of epochs without improvement after which training stops. Default: 0.
        verbose (bool): Whether to print a message when training is stopped. Default: False.
        mode (str): "min" or "max", the direction of improvement; "auto" derives it from the name. Default: "auto".
        baseline (float): Value that an epoch must reach to count as an improvement. Default: None.
        restore_best_weights (bool): Whether to restore the Parameters of the best epoch when training is stopped.
            Default: False.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `mode` is unknown, `patience` negative, or the measure is not a number.

    Examples:
        >>> stopping = mindspore.EarlyStopping(monitor="accuracy", patience=3)
    """

    @checked
    def __init__(
        self,
        monitor: Str = "eval_loss",
        min_delta: Number = 0,
        patience: NonNegInt = 0,
        verbose: Bool = False,
        mode: Mode = "auto",
        baseline: Number | None = None,
        restore_best_weights: Bool = False,
    ) -> None:
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights: bool = restore_best_weights
        super().__init__(monitor, mode, min_delta)

    def _reset(self):
        super()._reset()
        self.stopped_epoch = 0
        self.best_weights_param_dict: dict[str, Any] | None = None

    def on_train_begin(self, run_context: "RunContext") -> None:
        """Reset the counters.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._reset()

    def on_train_epoch_end(self, run_context: "RunContext") -> None:
        """Read the measure. Stop training after `patience` epochs without an improvement.

        The best weights are restored then, if `restore_best_weights` is True.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        value, moment = self._read_measure(run_context), run_context.original_args()
        if value is None:
            return
        better = self.is_improvement(value, self.best)
        if self.restore_best_weights and (better or self.best_weights_param_dict is None):
            self.best_weights_param_dict = {
                name: np.array(param.asnumpy()) for name, param in moment.train_network.parameters_dict().items()
            }
        self.wait += 1
        if better:
            self.best = value
            if self.baseline is None or self.is_improvement(value, self.baseline):
                self.wait = 0
        if self.wait < self.patience:
            return
        self.stopped_epoch = moment.cur_epoch_num
        run_context.request_stop()
        if self.best_weights_param_dict is not None:
            for name, param in moment.train_network.parameters_dict().items():
                param.set_data(Tensor(self.best_weights_param_dict[name]))

    def on_train_end(self, run_context: "RunContext") -> None:
        """Print that training was stopped.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        if self.stopped_epoch and self.verbose:
            restored = ", the best Parameters are back" * (self.best_weights_param_dict is not None)
            print(f"Stopped after epoch {self.stopped_epoch}: '{self.monitor}' got no better{restored}.")
