"""`TimeMonitor`: a callback that prints durations."""

import time
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common.arguments import answered
from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class TimeMonitor(Callback):
    """Prints the duration of each epoch and the average duration of its steps.

    Args:
        data_size (int): Steps per epoch. Default: None, the size of the dataset.

    Examples:
        >>> model.train(1, dataset, callbacks=TimeMonitor())
        epoch time: ... ms, per step time: ... ms
    """

    @answered
    def __init__(self, data_size: int | None = None) -> None:
        super().__init__()
        self.data_size: Any = data_size

    def epoch_begin(self, run_context: "RunContext") -> None:
        """Start the clock.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self.epoch_time = time.perf_counter()

    def epoch_end(self, run_context: "RunContext") -> None:
        """Print the times.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        outputs = moment.get("net_outputs")
        for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
            if isinstance(output, Tensor):
                output.data_sync()  # the last steps may still be running
        milliseconds = 1000 * (time.perf_counter() - self.epoch_time)
        steps = next((n for n in (moment.get("batch_num"), self.data_size) if isinstance(n, int) and n > 0), None)
        if steps is None:
            log.error("For 'TimeMonitor', 'data_size' should be a positive int, but got %r.", self.data_size)
            return
        print(f"epoch time: {milliseconds:5.3f} ms, per step time: {milliseconds / steps:5.3f} ms", flush=True)
