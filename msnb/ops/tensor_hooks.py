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
    other than None replaces the gradient, also for the inputs of the Tensor. Several hooks run in order.

    In GRAPH mode the hook is traced once, so it must be a pure function. A Tensor from outside a graph must be a
    Parameter, or get its hook in construct.

    Args:
        hook (Callable): The hook.

    Returns:
        HookHandle, whose `remove()` takes the hook back.

    Raises:
        TypeError: If `hook` is not callable, or returns anything but None or a Tensor of the gradient's shape.
    """
    return gradient_hooks.register_hook(self, hook)


@spelling(method="hooks")
def _tensor_hooks(self: Tensor) -> list[Any]:
    """Return the hooks registered with `register_hook`."""
    return gradient_hooks.hooks_of(self)
