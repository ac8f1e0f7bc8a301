"""`Callback`, the base of training callbacks, and its `RunContext`. Both `dataset` and `train` need them."""

from typing import Any, Self

from msnb._checkparam import Validator


class RunContext:
    """State of a training or evaluation that callbacks read. With it they can also request that training stops.

    Args:
        original_args (dict): The values by name.

    Raises:
        TypeError: If `original_args` is not a dict.
    """

    _stop_requested = False

    def __init__(self, original_args: Any) -> None:
        self._original_args = Validator.check_value_type("original_args", original_args, dict, "RunContext")

    def request_stop(self) -> None:
        """Request that training stops after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Return whether a stop was requested.

        Returns:
            bool.
        """
        return self._stop_requested

    def original_args(self) -> Any:
        """Return the dict of values. In the callbacks of a Model its keys are also attributes.

        Returns:
            dict.
        """
        return self._original_args


class Callback:
    """Base class of callbacks. A subclass overrides the methods for the events that it handles.

    The method of each event gets a :class:`RunContext`; `run_context.original_args()` has these values as attributes:

    - in training: train_network, epoch_num, batch_num, mode ("train"), loss_fn, optimizer, parallel_mode,
      device_number, train_dataset, list_callback, network, train_dataset_element, cur_step_num, cur_epoch_num,
      net_outputs;
    - in evaluation: eval_network, valid_dataset, batch_num, mode ("eval"), list_callback, network, cur_step_num,
      net_outputs, metrics.

    Each event also has a method for training and one for evaluation: `on_train_step_end` and `on_eval_step_end` call
    `step_end` by default.

    Examples:
        >>> class StopAtLoss(Callback):
        ...     def step_end(self, run_context):
        ...         if run_context.original_args().net_outputs.asnumpy() < 0.1:
        ...             run_context.request_stop()
        >>> model.train(10, dataset, callbacks=StopAtLoss())
    """

    def __enter__(self) -> Self:
        """Called when training or evaluation starts; returns the Callback to use."""
        return self

    def __exit__(self, *err: Any) -> None:
        """Called when training or evaluation ends, also after an error, to release resources."""

    def begin(self, run_context: RunContext) -> None:
        """Called once before the first epoch.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """

    def epoch_begin(self, run_context: RunContext) -> None:
        """Called before each epoch.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """

    def epoch_end(self, run_context: RunContext) -> None:
        """Called after each epoch.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """

    def step_begin(self, run_context: RunContext) -> None:
        """Called before each step.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """

    def step_end(self, run_context: RunContext) -> None:
        """Called after each step.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """

    def end(self, run_context: RunContext) -> None:
        """Called once after the last epoch.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """


MOMENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


def _make_event_method(phase, moment):
    def call(self, run_context):
        getattr(self, moment)(run_context)

    call.__name__ = f"on_{phase}_{moment}"
    call.__qualname__ = f"Callback.{call.__name__}"
    call.__doc__ = f"Called in {'training' if phase == 'train' else 'evaluation'}; calls `{moment}`."
    return call


for _phase in ("train", "eval"):
    for _moment in MOMENTS:
        setattr(Callback, f"on_{_phase}_{_moment}", _make_event_method(_phase, _moment))
