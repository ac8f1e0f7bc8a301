"""`LossMonitor`: a callback that prints the loss."""

from typing import TYPE_CHECKING

import numpy as np

from msnb.common.arguments import answered
from msnb.core.operator import api_generations
from msnb.train.callback._callback import Callback, _handle_loss

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class LossMonitor(Callback):
    """Prints the loss, and stops training when it is NaN or infinite.

    Args:
        per_print_times (int): Steps between prints, 0 for never. Default: 1.

    Raises:
        ValueError: If `per_print_times` is not an int, or is negative.

    Examples:
        >>> model.train(1, dataset, callbacks=LossMonitor(2))
        epoch: 1 step: 2, loss is ...
    """

    @answered
    def __init__(self, per_print_times: int = 1) -> None:
        super().__init__()
        self._per_print_times = per_print_times
        if type(per_print_times) is not int or per_print_times < 0:
            raise ValueError(
                f"For 'LossMonitor', 'per_print_times' should be an int of at least 0, but got {per_print_times!r}."
            )

    def step_end(self, run_context: "RunContext") -> None:
        """Print the loss.

        Args:
            run_context (RunContext): Values of the current step and epoch.

        Raises:
            ValueError: If the loss is NaN or infinite.
        """
        values = run_context.original_args()
        loss = _handle_loss(values.net_outputs)
        position = f"epoch: {values.cur_epoch_num} step: {(values.cur_step_num - 1) % values.batch_num + 1}"
        if isinstance(loss, (float, np.floating)) and not np.isfinite(loss):
            raise ValueError(
                f"{position}. The loss is {loss}, training stops. Is the learning rate too high, or is there "
                f"a NaN in the data?"
            )
        if self._per_print_times and values.cur_step_num % self._per_print_times == 0:
            value = float(loss) if api_generations.shared == 2 and isinstance(loss, np.floating) else loss
            print(f"{position}, loss is {value!s}", flush=True)

    def epoch_end(self, run_context: "RunContext") -> None:
        """Print the metrics when `Model.fit` has evaluated the network.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        values = run_context.original_args()
        if self._per_print_times and values.get("eval_results"):
            print(f"Eval result: epoch {values.cur_epoch_num}, metrics: {values.metrics}", flush=True)
