"""`LossMonitor`."""
import numpy as np

from msnb.core.tensor import Tensor
from msnb.train.callback._callback import Callback


class LossMonitor(Callback):
    """Prints the loss, and stops training when it is NaN or infinite.

    Args:
        per_print_times (int): Steps from one print to the next, 0 for never. Default: 1.

    Raises:
        ValueError: If `per_print_times` is no int or negative.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> model.train(1, dataset, callbacks=LossMonitor(100))
        epoch: 1 step: 100, loss is 0.4231
    """

    def __init__(self, per_print_times=1):
        super().__init__()
        if not isinstance(per_print_times, int) or isinstance(per_print_times, bool) or per_print_times < 0:
            raise ValueError(f"For 'LossMonitor', 'per_print_times' should be an int of at least 0, "
                             f"but got {per_print_times!r}.")
        self._per_print_times = per_print_times

    def step_end(self, run_context):
        """Print the loss.

        Args:
            run_context (RunContext): Values of the moment.

        Raises:
            ValueError: If the loss is NaN or infinite.
        """
        cb_params = run_context.original_args()
        loss = cb_params.net_outputs
        if isinstance(loss, (tuple, list)) and loss and isinstance(loss[0], Tensor):
            loss = loss[0]
        if isinstance(loss, Tensor):
            loss = np.mean(loss.asnumpy())
        epoch = cb_params.cur_epoch_num
        step = (cb_params.cur_step_num - 1) % cb_params.batch_num + 1
        if isinstance(loss, (float, np.floating)) and not np.isfinite(loss):
            raise ValueError(f"epoch: {epoch} step: {step}. The loss is {loss}, training stops. Is the learning rate "
                             f"too high, or is there a NaN in the data?")
        if self._per_print_times and cb_params.cur_step_num % self._per_print_times == 0:
            print(f"epoch: {epoch} step: {step}, loss is {loss!s}", flush=True)

    def epoch_end(self, run_context):
        """Print the metrics when `Model.fit` has evaluated the network.

        Args:
            run_context (RunContext): Values of the moment.
        """
        cb_params = run_context.original_args()
        if cb_params.get("eval_results") and self._per_print_times:
            print(f"Eval result: epoch {cb_params.cur_epoch_num}, metrics: {cb_params.eval_results}", flush=True)
