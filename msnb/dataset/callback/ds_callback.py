"""The classes that users derive callbacks of ``map`` from."""

import threading

from msnb.common.callback import Callback
from msnb.dataset.core.config import get_callback_timeout
from msnb.dataset.core.validator_helpers import check_pos_int32


class DSCallback:
    """Base of callbacks of ``map``. Override what is needed; each gets a context with ``cur_epoch_num``,
    ``cur_step_num_in_epoch`` and
    ``cur_step_num``. A step is one row that arrives at the map.

    Args:
        step_size (int, optional): Call the step functions every `step_size` steps. Default: 1.

    Raises:
        TypeError: If `step_size` is no int.
        ValueError: If it is not positive.

    Examples:
        >>> from mindspore.dataset.callback import DSCallback
        >>> class PrintInfo(DSCallback):
        ...     def ds_epoch_end(self, ds_run_context):
        ...         print(ds_run_context.cur_epoch_num)
        >>> dataset = dataset.map(operations=op, callbacks=PrintInfo())
    """

    def __init__(self, step_size=1):
        check_pos_int32(step_size, "step_size")
        self.step_size = step_size

    def ds_begin(self, ds_run_context):
        """Before the first epoch."""

    def ds_epoch_begin(self, ds_run_context):
        """Before each epoch."""

    def ds_epoch_end(self, ds_run_context):
        """After each epoch."""

    def ds_step_begin(self, ds_run_context):
        """Before a step."""

    def ds_step_end(self, ds_run_context):
        """After a step."""

    def create_runtime_obj(self):
        """The functions that this class overrides, by event.

        Raises:
            AttributeError: If it overrides none.
        """
        events = {
            "begin": "ds_begin",
            "epoch_begin": "ds_epoch_begin",
            "epoch_end": "ds_epoch_end",
            "step_begin": "ds_step_begin",
            "step_end": "ds_step_end",
        }
        found = {
            event: getattr(self, name)
            for event, name in events.items()
            if getattr(type(self), name) is not getattr(DSCallback, name)
        }
        if not found:
            raise AttributeError("Provided Callback class did not override any of the 6 callback methods.")
        return found


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks of ``map`` that wait for the training: before a step (or epoch) of the map, the step (or epoch)
    before it of the training must have ended. It is a callback of both: give the same object to ``map`` and to
    ``Model.train``.

    Args:
        step_size (int, optional): Steps between two waits, the batch size as a rule. Default: 1.

    Examples:
        >>> from mindspore.dataset.callback import WaitedDSCallback
        >>> class Synced(WaitedDSCallback):
        ...     def sync_step_begin(self, train_run_context, ds_run_context):
        ...         ...
    """

    def __init__(self, step_size=1):
        DSCallback.__init__(self, step_size)
        self.step_event = threading.Event()
        self.step_run_context = None
        self.epoch_event = threading.Event()
        self.epoch_run_context = None
        self.training_ended = False

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        """Before each epoch but the first, when the training has ended the one before."""

    def sync_step_begin(self, train_run_context, ds_run_context):
        """Before each step but the first, when the training has ended the one before."""

    # ---- called by the training
    def epoch_end(self, run_context):
        """After an epoch of the training: lets the map go on."""
        self.epoch_run_context = run_context
        self.epoch_event.set()

    def step_end(self, run_context):
        """After a step of the training: lets the map go on."""
        self.step_run_context = run_context
        self.step_event.set()

    def end(self, run_context):
        """After the training: nothing waits any more."""
        self.epoch_end(run_context)
        self.step_end(run_context)
        self.training_ended = True

    # ---- called by the map
    def _wait(self, event, name):
        if self.training_ended:
            return
        arrived = event.wait(timeout=get_callback_timeout())
        event.clear()
        if not arrived:
            raise RuntimeError(f"{name} timed out after {get_callback_timeout()} second(s).")

    def ds_epoch_begin(self, ds_run_context):
        """Wait for the training's epoch, then call :meth:`sync_epoch_begin`."""
        if ds_run_context.cur_epoch_num > 1:
            self._wait(self.epoch_event, "ds_epoch_begin")
            self.sync_epoch_begin(self.epoch_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context):
        """Wait for the training's step, then call :meth:`sync_step_begin`."""
        if ds_run_context.cur_step_num > self.step_size:
            self._wait(self.step_event, "ds_step_begin")
            self.sync_step_begin(self.step_run_context, ds_run_context)

    def create_runtime_obj(self):
        """The functions that the map calls, by event.

        Raises:
            AttributeError: If the class overrides neither of the two.
        """
        found = {}
        if type(self).sync_step_begin is not WaitedDSCallback.sync_step_begin:
            found["step_begin"] = self.ds_step_begin
        if type(self).sync_epoch_begin is not WaitedDSCallback.sync_epoch_begin:
            found["epoch_begin"] = self.ds_epoch_begin
        if not found:
            raise AttributeError("Provided Callback class did not override any of the 2 callback methods.")
        return found
