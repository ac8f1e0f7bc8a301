"""`CallbackManager`, which calls the callbacks of a training, and the values that callbacks read."""

from contextlib import ExitStack

import numpy as np

from msnb import log
from msnb.common.arguments import uncalled
from msnb.common.callback import MOMENTS, Callback
from msnb.common.callback import RunContext as RunContext
from msnb.core.tensor.tensor import Tensor
from msnb.train._load_into_net import _fill_param_into_net

_cur_net = None


def set_cur_net(net):
    """Set the network into which `checkpoint_cb_for_save_op` copies values."""
    global _cur_net
    _cur_net = net


def checkpoint_cb_for_save_op(parameter_list):
    """Copy values into the network that was given to `set_cur_net`.

    Args:
        parameter_list (list): Dicts {"name": str, "data": Tensor}.

    Returns:
        bool, whether there was a network.
    """
    net = _cur_net
    set_cur_net(None)
    if net is None:
        log.warning("No network is set, so no Parameters are updated.")
    else:
        _fill_param_into_net(net, parameter_list)
    return net is not None


def _handle_loss(outputs):
    """Return the first Tensor of a step's outputs as one number, and other outputs unchanged."""
    first = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    return np.mean(first.asnumpy()) if isinstance(first, Tensor) else outputs


class CallbackManager(Callback):
    """Runs several callbacks in order.

    Args:
        callbacks (Union[Callback, list[Callback]]): The callbacks.

    Raises:
        TypeError: If one of them is not a Callback.
    """

    def __init__(self, callbacks):
        if callbacks is None:
            callbacks = []
        elif isinstance(callbacks, Callback):
            callbacks = [callbacks]
        elif not isinstance(callbacks, (list, tuple)):
            got = uncalled(callbacks) or type(callbacks).__name__
            raise TypeError(f"'callbacks' should be a Callback or a list of them, but got {got}.")
        for callback in callbacks:
            if not isinstance(callback, Callback):
                got = uncalled(callback) or type(callback).__name__
                raise TypeError(f"'callbacks' should be a Callback or a list of them, but the list holds {got}.")
        self._callbacks, self._stack = list(callbacks), None

    def __enter__(self):
        if self._stack is None:
            self._stack = ExitStack()
            self._callbacks = [self._enter_callback(callback) for callback in self._callbacks]
        return self

    def _enter_callback(self, callback):
        """Return the callback to call from now on: the result of `__enter__`, if that is a callback."""
        entered = self._stack.enter_context(callback)
        if isinstance(entered, Callback):
            return entered
        log.warning(
            "__enter__ of %s should return a Callback, but returned %s.",
            type(callback).__name__,
            type(entered).__name__,
        )
        return callback

    def __exit__(self, *err):
        return self._stack.__exit__(*err)

    def _list_step_methods(self, phase, moment):
        """Return the bound methods to call in each step. Callbacks that do not override the method are left out."""
        name = f"on_{phase}_{moment}"
        return [
            getattr(c, name)
            for c in self._callbacks
            if any(getattr(type(c), n) is not getattr(Callback, n) or n in c.__dict__ for n in (name, moment))
        ]

    train_step_begin = property(lambda self: self._list_step_methods("train", "step_begin"))
    train_step_end = property(lambda self: self._list_step_methods("train", "step_end"))
    eval_step_begin = property(lambda self: self._list_step_methods("eval", "step_begin"))
    eval_step_end = property(lambda self: self._list_step_methods("eval", "step_end"))


def _make_call_all_method(name):
    def call(self, run_context):
        for callback in self._callbacks:
            getattr(callback, name)(run_context)

    call.__name__ = name
    call.__doc__ = f"Call `{name}` of every callback."
    return call


for _moment in MOMENTS:
    for _name in (_moment, f"on_train_{_moment}", f"on_eval_{_moment}"):
        setattr(CallbackManager, _name, _make_call_all_method(_name))


class InternalCallbackParam(dict):
    """A dict whose keys are also attributes."""

    def __getattr__(self, key):
        if key in self:
            return self[key]
        raise AttributeError(
            f"The callback parameters have no '{key}' at this moment; there are: {', '.join(sorted(map(str, self)))}."
        )

    def __setattr__(self, key, value):
        self[key] = value
