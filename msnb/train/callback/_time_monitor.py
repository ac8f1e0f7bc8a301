"""`TimeMonitor`: a callback that prints durations."""

import time
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common.arguments import answered
from msnb.common.kinds import Bool, check
from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class TimeMonitor(Callback):
    """Prints the duration of each epoch and the average duration of its steps.

    Args:
        data_size (int): Steps per epoch. Default: None, the size of the dataset.
        data_time (bool): Print the average time between two steps as well, in which the data is read. Default: False.

    Raises:
        TypeError: If `data_time` is not a bool.

    Examples:
        >>> model.train(1, dataset, callbacks=TimeMonitor())
        epoch time: ... ms, per step time: ... ms
    """

    @answered
    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        super().__init__()
        self.data_time: bool = check(Bool, data_time, "data_time", "TimeMonitor")
        self._read_seconds, self._step_ended = 0.0, 0.0
        self.data_size: Any = data_size

    def epoch_begin(self, run_context: "RunContext") -> None:
        """Start the clock.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self.epoch_time = self._step_ended = time.perf_counter()
        self._read_seconds = 0.0

    def step_begin(self, run_context: "RunContext") -> None:
        """Add the time since the last step.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._read_seconds += time.perf_counter() - self._step_ended

    def step_end(self, run_context: "RunContext") -> None:
        """Start the clock of the time between steps.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._step_ended = time.perf_counter()

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
        data = f" (data time: {1000 * self._read_seconds / steps:5.3f} ms)" if self.data_time else ""
        print(f"epoch time: {milliseconds:5.3f} ms, per step time: {milliseconds / steps:5.3f} ms{data}", flush=True)
