"""Hooks that see the gradient of one Tensor and may replace it: `Tensor.register_hook` of MindSpore 2.

The hooks of a computed Tensor are part of the backward pass. Those of a Parameter, or of a variable of the gradient,
run at the end, in `call_final_hooks`.
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
_hooks_by_tensor = WeakIdentityDict()  # Tensor -> its _Hooks


class _Hooks:
    """The hooks of one Tensor, in the order of their registration.

    Attributes:
        functions (dict): Number of the hook's handle -> hook.
        origin (object): The node or array of the Tensor at registration; None for hooks that run at the end.
    """

    __slots__ = ("functions", "origin")

    def __init__(self):
        self.functions: dict[int, Callable[..., Any]] = {}
        self.origin: Any = None


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Register `hook` for the gradient of `tensor`; see `Tensor.register_hook`."""
    if not callable(hook):
        raise TypeError(f"For 'register_hook', 'hook' should be a function, but got {describe(hook)}.")
    is_parameter = isinstance(tensor, Parameter)
    origin = None if is_parameter else _find_node_or_array(tensor)
    hooks = _hooks_by_tensor.get(tensor)
    if hooks is None or hooks.origin is not origin:  # a Tensor that is computed anew has none of the earlier hooks
        hooks = _hooks_by_tensor[tensor] = _Hooks()
        if origin is not None:
            _insert_hooks_in_backward(tensor, hooks)
    if origin is None and not is_parameter and context.get_context("mode") == context.GRAPH_MODE:
        log.once(
            "Tensor.register_hook: a graph does not call the hook of a Tensor from outside. Register it in construct, "
            "on a Parameter, or run in PYNATIVE mode."
        )
    handle = HookHandle(hooks.functions, _invalidate_programs if is_parameter else None)
    hooks.functions[handle.handle_id] = hook
    if is_parameter:
        _invalidate_programs()
    return handle


def hooks_of(tensor: Tensor) -> list[Callable[..., Any]]:
    """Return the hooks of a Tensor."""
    hooks = _hooks_by_tensor.get(tensor)
    return [] if hooks is None else list(hooks.functions.values())


def call_final_hooks(tensors: Sequence[Tensor], gradients: Sequence[Any]) -> list[Any]:
    """Pass gradients, one per Tensor or None, through the final hooks of the Tensors."""
    if not len(_hooks_by_tensor):
        return list(gradients)
    return [_apply_final_hooks(tensor, gradient) for tensor, gradient in zip(tensors, gradients, strict=True)]


def _apply_final_hooks(tensor, gradient):
    hooks = _hooks_by_tensor.get(tensor)
    if gradient is None or hooks is None or hooks.origin is not None or not hooks.functions:
        return gradient
    return _apply_hooks(hooks, tape.dense(gradient))


def _find_node_or_array(tensor):
    """Return the tape node of a Tensor, or its array in a graph; None if no gradient flows through it."""
    if _thread.frame is not None:
        return tensor._array if is_tracer(tensor._array) else None
    return tensor._node if _thread.recording else None


def _insert_hooks_in_backward(tensor, hooks):
    (copied,) = with_backward_hook([tensor], lambda cotangents: [_apply_hooks(hooks, cotangents[0])])
    if _thread.frame is not None:
        tensor._rebind_array(copied._array)
    tensor._node = copied._node
    hooks.origin = _find_node_or_array(tensor)


def _apply_hooks(hooks, gradient):
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


def _invalidate_programs():
    trace_state.hook_epoch.bump()
    trace_state.epoch.bump()
