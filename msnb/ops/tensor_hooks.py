"""Hooks on the gradient of a Tensor."""

from collections.abc import Callable
from typing import Any

from msnb.common.hook_handle import HookHandle
from msnb.core.operator.declare import keyword_aliases, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms import gradient_hooks


@spelling(method="register_hook")
@keyword_aliases(hook_fn="hook")
def _register_hook_of(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Call `hook(gradient)` in every backward pass that computes the gradient by this Tensor. What it returns, unless
    that is None, is the gradient instead, for all that the Tensor was computed of. Several hooks follow each other.

    In GRAPH mode the hook is traced once, so it has to be a pure function; a Tensor that comes from outside a graph has
    to be a Parameter, or to be hooked in construct.

    Args:
        hook (Callable): The hook.

    Returns:
        HookHandle, whose `remove()` takes the hook back.

    Raises:
        TypeError: If `hook` is not callable, or returns anything but None or a Tensor of the gradient's shape.
    """
    return gradient_hooks.register_hook(self, hook)


@spelling(method="hooks")
def _hooks_of(self: Tensor) -> list[Any]:
    """The hooks that `register_hook` has registered."""
    return gradient_hooks.hooks_of(self)
