"""Functions that see the gradient of one Tensor and may replace it: `Tensor.register_hook` of MindSpore 2.

Those of a Tensor that is being computed stand on the way back through it. Those of a Parameter, or of a Tensor that a
gradient is taken by, stand where the way ends, and `ended` calls them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb import context, log
from msnb.common.hook_handle import HookHandle
from msnb.core import script
from msnb.core.compat.jax_private import is_tracer
from msnb.core.eager import tape
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.support.weak_identity import WeakIdentityDict
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.custom_bprop import with_backward_hook

_thread = trace_state.thread
_of = WeakIdentityDict()  # Tensor -> its _Hooks


class _Hooks:
    """The hooks of one Tensor, in the order of their registration.

    Attributes:
        functions (dict): By the number of the handle.
        way (object): What the Tensor was computed by when they came; None where they stand at the end of the way.
    """

    __slots__ = ("functions", "way")

    def __init__(self):
        self.functions: dict[int, Callable[..., Any]] = {}
        self.way: Any = None


def register(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Let `hook` see the gradient of `tensor` from now on; see `Tensor.register_hook`."""
    if not callable(hook):
        raise TypeError(f"For 'register_hook', 'hook' should be a function, but got {describe(hook)}.")
    is_parameter = isinstance(tensor, Parameter)
    way = None if is_parameter else _way(tensor)
    found = _of.get(tensor)
    if found is None or found.way is not way:  # what is computed anew has no hooks of before
        found = _of[tensor] = _Hooks()
        if way is not None:
            _stand_on_the_way(tensor, found)
    if way is None and not is_parameter and context.get_context("mode") == context.GRAPH_MODE:
        log.once(
            "Tensor.register_hook: a graph does not call the hook of a Tensor from outside. Register it in construct, "
            "on a Parameter, or run in PYNATIVE mode."
        )
    handle = HookHandle(found.functions, _changed if is_parameter else None)
    found.functions[handle.handle_id] = hook
    if is_parameter:
        _changed()
    return handle


def of(tensor: Tensor) -> list[Callable[..., Any]]:
    """The hooks of a Tensor."""
    found = _of.get(tensor)
    return [] if found is None else list(found.functions.values())


def ended(tensors: Sequence[Tensor], gradients: Sequence[Any]) -> list[Any]:
    """The gradients by these Tensors, one for each or None, as their hooks leave them."""
    if not len(_of):
        return list(gradients)
    return [_at_end(tensor, gradient) for tensor, gradient in zip(tensors, gradients, strict=True)]


def _at_end(tensor, gradient):
    found = _of.get(tensor)
    if gradient is None or found is None or found.way is not None or not found.functions:
        return gradient
    return _passed(found, tape.dense(gradient))


def _way(tensor):
    """What a Tensor is computed by: its node on the tape, in a graph its array; None where nobody goes back."""
    if _thread.frame is not None:
        return tensor._array if is_tracer(tensor._array) else None
    return tensor._node if _thread.recording else None


def _stand_on_the_way(tensor, hooks):
    (twin,) = with_backward_hook([tensor], lambda cotangents: [_passed(hooks, cotangents[0])])
    if _thread.frame is not None:
        tensor._assign(twin._array)
    tensor._node = twin._node
    hooks.way = _way(tensor)


def _passed(hooks, gradient):
    for hook in list(hooks.functions.values()):
        new = (hook if _thread.frame is None else script.call(hook))(gradient)
        if new is None:
            continue
        if not isinstance(new, Tensor) or new.shape != gradient.shape:
            raise TypeError(
                f"For 'register_hook', the hook should return None or a Tensor of the gradient's shape "
                f"{gradient.shape}, but returned {describe(new)}."
            )
        gradient = new
    return gradient


def _changed():
    trace_state.hook_epoch.bump()
    trace_state.epoch.bump()
