"""`LambdaCallback`: a callback built from functions."""

from collections.abc import Callable
from typing import Any

from msnb.common.arguments import answered
from msnb.train.callback._callback import Callback

_Function = Callable[[Any], Any] | None


class LambdaCallback(Callback):
    """
    A callback built from functions, each of which receives the :class:`RunContext`.

    Args:
        on_train_epoch_begin (Callable): Called before each epoch of training. Default: None.
        on_train_epoch_end (Callable): Called after each epoch of training. Default: None.
        on_train_step_begin (Callable): Called before each step of training. Default: None.
        on_train_step_end (Callable): Called after each step of training. Default: None.
        on_train_begin (Callable): Called before training. Default: None.
        on_train_end (Callable): Called after training. Default: None.
        on_eval_epoch_begin (Callable): Called before each epoch of evaluation. Default: None.
        on_eval_epoch_end (Callable): Called after each epoch of evaluation. Default: None.
        on_eval_step_begin (Callable): Called before each step of evaluation. Default: None.
        on_eval_step_end (Callable): Called after each step of evaluation. Default: None.
        on_eval_begin (Callable): Called before evaluation. Default: None.
        on_eval_end (Callable): Called after evaluation. Default: None.
        epoch_begin, epoch_end, step_begin, step_end, begin, end (Callable): MindSpore 1.7's names: called at these
            moments of training, and of evaluation where no function is given for them. Default: None.

    Raises:
        TypeError: If one of them is not callable.

    Examples:
        >>> tell = mindspore.LambdaCallback(on_train_epoch_end=lambda context: print("an epoch ends"))
        >>> model.train(1, dataset, callbacks=tell)
        an epoch ends
    """

    @answered
    def __init__(
        self,
        on_train_epoch_begin: _Function = None,
        on_train_epoch_end: _Function = None,
        on_train_step_begin: _Function = None,
        on_train_step_end: _Function = None,
        on_train_begin: _Function = None,
        on_train_end: _Function = None,
        on_eval_epoch_begin: _Function = None,
        on_eval_epoch_end: _Function = None,
        on_eval_step_begin: _Function = None,
        on_eval_step_end: _Function = None,
        on_eval_begin: _Function = None,
        on_eval_end: _Function = None,
        *,
        epoch_begin: _Function = None,
        epoch_end: _Function = None,
        step_begin: _Function = None,
        step_end: _Function = None,
        begin: _Function = None,
        end: _Function = None,
    ) -> None:
        super().__init__()
        functions = {
            "on_train_epoch_begin": on_train_epoch_begin,
            "on_train_epoch_end": on_train_epoch_end,
            "on_train_step_begin": on_train_step_begin,
            "on_train_step_end": on_train_step_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_eval_epoch_begin": on_eval_epoch_begin,
            "on_eval_epoch_end": on_eval_epoch_end,
            "on_eval_step_begin": on_eval_step_begin,
            "on_eval_step_end": on_eval_step_end,
            "on_eval_begin": on_eval_begin,
            "on_eval_end": on_eval_end,
            "epoch_begin": epoch_begin,
            "epoch_end": epoch_end,
            "step_begin": step_begin,
            "step_end": step_end,
            "begin": begin,
            "end": end,
        }
        for name, function in functions.items():
            if function is not None and not callable(function):
                raise TypeError(f"For 'LambdaCallback', '{name}' should be a function, but got {function!r}.")
        # Only the functions that were passed are set on the instance, so other events take no time.
        self.__dict__.update({name: function for name, function in functions.items() if function is not None})
