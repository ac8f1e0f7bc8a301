"""Hooks on the gradient of a Tensor."""

from collections.abc import Callable
from typing import Any

from msnb.common.hook_handle import HookHandle
from msnb.core.operator.declare import keyword_aliases, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms import gradient_hooks


@spelling(method="register_hook")
@keyword_aliases(hook_fn="hook")
def _tensor_register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Call `hook(gradient)` in every backward pass that computes the gradient with respect to this Tensor. A result
    other than None replaces the gradient, and backpropagation continues with it. Several hooks run in order.

    In GRAPH mode the hook is traced once, so it must be a pure function. If the Tensor is created outside the graph, it
    must be a Parameter, or the hook must be registered in `construct`.

    Args:
        hook (Callable): The hook.

    Returns:
        HookHandle, whose `remove()` unregisters the hook.

    Raises:
        TypeError: If `hook` is not callable, or returns anything but None or a Tensor of the gradient's shape.
    """
    return gradient_hooks.register_hook(self, hook)


@spelling(method="hooks")
def _tensor_hooks(self: Tensor) -> list[Any]:
    """Return the hooks registered with `register_hook`."""
    return gradient_hooks.hooks_of(self)
