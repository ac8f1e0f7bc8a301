"""The classes that users derive callbacks of ``map`` from."""

import threading
from typing import Any

from msnb.common.callback import Callback, RunContext
from msnb.common.kinds import checked
from msnb.dataset.core.config import get_callback_timeout
from msnb.dataset.core.kinds import PositiveInt32


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
        >>> dataset = dataset.map(lambda label: label + 1, "label", callbacks=PrintInfo())
        >>> for row in dataset.create_tuple_iterator(num_epochs=1):
        ...     pass
        1
    """

    @checked
    def __init__(self, step_size: PositiveInt32 = 1):
        self.step_size = step_size

    def ds_begin(self, ds_run_context: Any) -> None:
        """Before the first epoch."""

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Before each epoch."""

    def ds_epoch_end(self, ds_run_context: Any) -> None:
        """After each epoch."""

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Before a step."""

    def ds_step_end(self, ds_run_context: Any) -> None:
        """After a step."""

    def create_runtime_obj(self) -> dict[str, Any]:
        """The functions that this class overrides, by event.

        Raises:
            AttributeError: If it overrides none.
        """
        mine = _overridden(type(self), DSCallback)
        found = {name.removeprefix("ds_"): getattr(self, name) for name in mine if name.startswith("ds_")}
        if not found:
            raise AttributeError("Provided Callback class did not override any of the 6 callback methods.")
        return found


class _Baton:
    """What the training hands to the map: the map waits for it, and has it for one step."""

    def __init__(self):
        self._changed = threading.Condition()
        self._ready = self._for_good = False
        self._context = None

    def give(self, context, for_good=False):
        """Let the map go on, once or from here on always."""
        with self._changed:
            self._ready, self._context = True, context
            self._for_good |= for_good
            self._changed.notify_all()

    def wake(self):
        """Let who waits look again whether anybody wants its rows."""
        with self._changed:
            self._changed.notify_all()

    def take(self, run_context, name):
        """(whether to go on, the training's context)."""
        patience = get_callback_timeout()
        with self._changed:
            if not self._changed.wait_for(lambda: self._ready or self._for_good or run_context.left(), patience):
                raise RuntimeError(
                    f"{name} timed out after {patience} second(s): is the callback also given to Model.train, and the "
                    "step size that of the training?"
                )
            self._ready = False
            return not run_context.left(), self._context


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

    def __init__(self, step_size: int = 1) -> None:
        super().__init__(step_size)
        self._steps, self._epochs = _Baton(), _Baton()

    def sync_step_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Before each step but the first, when the training has ended the one before."""

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Before each epoch but the first, when the training has ended the one before."""

    # ---- called by the training
    def step_end(self, run_context: "RunContext") -> None:
        """After a step of the training: lets the map go on."""
        self._steps.give(run_context)

    def epoch_end(self, run_context: "RunContext") -> None:
        """After an epoch of the training: lets the map go on."""
        self._epochs.give(run_context)

    def end(self, run_context: "RunContext") -> None:
        """After the training: nothing waits any more."""
        for baton in (self._steps, self._epochs):
            baton.give(run_context, for_good=True)

    # ---- called by the map
    def wake(self) -> None:
        """The loop over the data was left: nobody wants the rows any more."""
        for baton in (self._steps, self._epochs):
            baton.wake()

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Wait for the training's step, then call :meth:`sync_step_begin`."""
        if ds_run_context.cur_step_num > self.step_size:
            going, context = self._steps.take(ds_run_context, "ds_step_begin")
            if going:
                self.sync_step_begin(context, ds_run_context)

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Wait for the training's epoch, then call :meth:`sync_epoch_begin`."""
        if ds_run_context.cur_epoch_num > 1:
            going, context = self._epochs.take(ds_run_context, "ds_epoch_begin")
            if going:
                self.sync_epoch_begin(context, ds_run_context)

    def create_runtime_obj(self) -> dict[str, Any]:
        """The functions that the map calls, by event.

        Raises:
            AttributeError: If the class overrides neither of the two.
        """
        events = {"step_begin": "sync_step_begin", "epoch_begin": "sync_epoch_begin"}
        mine = [event for event, name in events.items() if name in _overridden(type(self), WaitedDSCallback)]
        if not mine:
            raise AttributeError("Provided Callback class did not override any of the 2 callback methods.")
        return {event: getattr(self, f"ds_{event}") for event in mine}


def _overridden(cls, base):
    """Names of what `cls` has of its own in the place of what `base` has."""
    return {name for name in dir(base) if getattr(cls, name) is not getattr(base, name)}
