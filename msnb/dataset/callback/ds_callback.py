"""Base classes of user-defined callbacks of ``map``."""

import threading
from typing import Any

from msnb.common.callback import Callback, RunContext
from msnb.common.kinds import checked
from msnb.dataset.core.config import get_callback_timeout
from msnb.dataset.core.kinds import PositiveInt32


class DSCallback:
    """Base of callbacks of ``map``.

    Override the methods that you need. Each gets a context with ``cur_epoch_num``, ``cur_step_num_in_epoch`` and
    ``cur_step_num``. A step is one row that arrives at the map.

    Args:
        step_size (int, optional): Call the step functions every `step_size` steps. Default: 1.

    Raises:
        TypeError: If `step_size` is not an int.
        ValueError: If it is not positive.

    Examples:
        >>> from mindspore.dataset.callback import DSCallback
        >>> class PrintInfo(DSCallback):
        ...     def ds_epoch_end(self, ds_run_context):
        ...         print(ds_run_context.cur_epoch_num)
        >>> dataset = dataset.map(lambda label: label + 1, "label", callbacks=PrintInfo())
        >>> for row in dataset.create_tuple_iterator(num_epochs=1):
        ...     pass
        1
    """

    @checked
    def __init__(self, step_size: PositiveInt32 = 1):
        self.step_size = step_size

    def ds_begin(self, ds_run_context: Any) -> None:
        """Called before the first epoch."""

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Called before each epoch."""

    def ds_epoch_end(self, ds_run_context: Any) -> None:
        """Called after each epoch."""

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Called before a step."""

    def ds_step_end(self, ds_run_context: Any) -> None:
        """Called after a step."""

    def create_runtime_obj(self) -> dict[str, Any]:
        """Return {event name: method} of the callback methods that this class overrides.

        Raises:
            AttributeError: If it overrides none.
        """
        overridden = _list_overridden_names(type(self), DSCallback)
        methods = {name.removeprefix("ds_"): getattr(self, name) for name in overridden if name.startswith("ds_")}
        if not methods:
            raise AttributeError("Provided Callback class did not override any of the 6 callback methods.")
        return methods


class _StepSignal:
    """Signal that the training sends to the ``map``. The ``map`` waits for it before a step and then clears it."""

    def __init__(self):
        self._changed = threading.Condition()
        self._ready = self._is_permanent = False
        self._context = None

    def release(self, context, is_permanent=False):
        """Send the signal: let the ``map`` continue for one step, or for all steps if `is_permanent`."""
        with self._changed:
            self._ready, self._context = True, context
            self._is_permanent |= is_permanent
            self._changed.notify_all()

    def wake(self):
        """Wake the waiting ``map``, so that it checks whether the loop over its rows was exited."""
        with self._changed:
            self._changed.notify_all()

    def wait_for_step(self, run_context, name):
        """Wait for the signal. Return (True if the ``map`` is to continue, context of the training)."""
        timeout = get_callback_timeout()
        with self._changed:
            if not self._changed.wait_for(lambda: self._ready or self._is_permanent or run_context.left(), timeout):
                raise RuntimeError(
                    f"{name} timed out after {timeout} second(s): is the callback also given to Model.train, and the "
                    "step size that of the training?"
                )
            self._ready = False
            return not run_context.left(), self._context


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks of ``map`` that wait for the training.

    A step (or epoch) of the map starts after the previous step (or epoch) of the training has ended. Pass the same
    object to ``map`` and to ``Model.train``.

    Args:
        step_size (int, optional): Steps between two waits, usually the batch size. Default: 1.

    Examples:
        >>> from mindspore.dataset.callback import WaitedDSCallback
        >>> class Synced(WaitedDSCallback):
        ...     def sync_step_begin(self, train_run_context, ds_run_context):
        ...         ...
    """

    def __init__(self, step_size: int = 1) -> None:
        super().__init__(step_size)
        self._steps, self._epochs = _StepSignal(), _StepSignal()

    def sync_step_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Called every `step_size` steps except at the first step, after the previous step of the training."""

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Called before each epoch but the first, after the previous epoch of the training."""

    # Called by the training.
    def step_end(self, run_context: "RunContext") -> None:
        """Let the map continue, after a step of the training."""
        self._steps.release(run_context)

    def epoch_end(self, run_context: "RunContext") -> None:
        """Let the map continue, after an epoch of the training."""
        self._epochs.release(run_context)

    def end(self, run_context: "RunContext") -> None:
        """Let the map continue permanently, after the training."""
        for signal in (self._steps, self._epochs):
            signal.release(run_context, is_permanent=True)

    # Called by the map.
    def wake(self) -> None:
        """Let a waiting map stop, after the loop over the data was exited early."""
        for signal in (self._steps, self._epochs):
            signal.wake()

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Wait for the training's step, then call :meth:`sync_step_begin`."""
        if ds_run_context.cur_step_num > self.step_size:
            continues, context = self._steps.wait_for_step(ds_run_context, "ds_step_begin")
            if continues:
                self.sync_step_begin(context, ds_run_context)

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Wait for the training's epoch, then call :meth:`sync_epoch_begin`."""
        if ds_run_context.cur_epoch_num > 1:
            continues, context = self._epochs.wait_for_step(ds_run_context, "ds_epoch_begin")
            if continues:
                self.sync_epoch_begin(context, ds_run_context)

    def create_runtime_obj(self) -> dict[str, Any]:
        """Return {event name: method} of the callback methods that the ``map`` is to call.

        Raises:
            AttributeError: If the class overrides neither of the two.
        """
        events = {"step_begin": "sync_step_begin", "epoch_begin": "sync_epoch_begin"}
        overridden = [
            event for event, name in events.items() if name in _list_overridden_names(type(self), WaitedDSCallback)
        ]
        if not overridden:
            raise AttributeError("Provided Callback class did not override any of the 2 callback methods.")
        return {event: getattr(self, f"ds_{event}") for event in overridden}


def _list_overridden_names(cls, base):
    """Return the names of attributes of `base` that `cls` overrides."""
    return {name for name in dir(base) if getattr(cls, name) is not getattr(base, name)}
