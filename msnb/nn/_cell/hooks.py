"""Hooks of Cells: user functions that run before and after `construct` and its gradient."""

from collections.abc import Callable
from typing import Any

from msnb.common.hook_handle import HookHandle
from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms import custom_bprop

_thread = trace_state.thread
_BEFORE, _AFTER, _BACK_BEFORE, _BACK = "before", "after", "back_before", "back"


class HookMixin:
    """Mixin of `Cell`: hooks. In GRAPH mode they are traced, so they must be pure functions of Tensors."""

    _hooks: dict[str, dict[int, Any]] | None = None

    def register_forward_pre_hook(self, hook_fn: Callable[..., Any], with_kwargs: bool = False) -> HookHandle:
        """Call `hook_fn(cell, args)` before `construct`. A result other than None, a tuple or one value, replaces the
        inputs. In GRAPH mode the hook is traced once, so it must be a pure function.

        Args:
            hook_fn (Callable): The hook.
            with_kwargs (bool): If True, it is called as `hook_fn(cell, args, kwargs)` and returns both. Default:
                False.

        Returns:
            HookHandle, whose `remove()` takes the hook back.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return self._add_hook(_BEFORE, "register_forward_pre_hook", hook_fn, with_kwargs)

    def register_forward_hook(self, hook_fn: Callable[..., Any], with_kwargs: bool = False) -> HookHandle:
        """Call `hook_fn(cell, args, output)` after `construct`. A result other than None replaces the output. In
        GRAPH mode the hook is traced once, so it must be a pure function.

        Args:
            hook_fn (Callable): The hook.
            with_kwargs (bool): If True, it is called as `hook_fn(cell, args, kwargs, output)`. Default: False.

        Returns:
            HookHandle, whose `remove()` takes the hook back.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return self._add_hook(_AFTER, "register_forward_hook", hook_fn, with_kwargs)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` in every backward pass before that of this Cell. `grad_output` is the
        tuple of the gradients of its outputs. A returned gradient, or tuple of gradients, replaces it.

        Args:
            hook_fn (Callable): The hook.

        Returns:
            HookHandle, whose `remove()` takes the hook back.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return self._add_hook(_BACK_BEFORE, "register_backward_pre_hook", hook_fn)

    def register_backward_hook(self, fn: Callable[..., Any]) -> HookHandle:
        """Call `fn(cell_id, grad_input, grad_output)` in every backward pass of this Cell. As in r1.1, `grad_input`
        holds the gradients of the outputs, and `grad_output` those of the inputs. A returned gradient replaces the
        latter. A second hook replaces the first. In GRAPH mode the hook is traced once, so it must be a pure
        function.

        In MindSpore 2 (``--api 2``) it is `fn(cell, grad_input, grad_output)`, with the gradients of the inputs first,
        and hooks follow each other.

        Args:
            fn (Callable): The hook.

        Returns:
            HookHandle, whose `remove()` takes the hook back.

        Raises:
            TypeError: If `fn` is not callable.
        """
        if api_generations.shared == 1:
            return self._add_hook(_BACK, "register_backward_hook", fn, replaces=True)
        return self._add_hook(_BACK, "register_backward_hook", fn, option=True)

    def _add_hook(self, point, method, function, option=False, replaces=False):
        """Add a hook. `option` is stored with it: True if it takes keyword arguments, or the gradients of inputs
        first."""
        if not callable(function):
            name = "fn" if point == _BACK else "hook_fn"
            raise TypeError(f"For '{method}', '{name}' should be callable, but got {describe(function)}.")
        if self._hooks is None:
            self.__dict__["_hooks"] = {_BEFORE: {}, _AFTER: {}, _BACK_BEFORE: {}, _BACK: {}}
        hooks = self._hooks[point]
        if replaces:
            hooks.clear()
        handle = HookHandle(hooks, self._hooks_changed)
        hooks[handle.handle_id] = function, option
        self._hooks_changed()
        return handle

    def _hooks_changed(self):
        if not any(self._hooks.values()):
            self.__dict__["_hooks"] = None
        trace_state.epoch.bump()


def run(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a Cell with its hooks."""
    hooks = cell._hooks
    args, kwargs = _run_pre_hooks(cell, hooks[_BEFORE], args, kwargs)
    has_backward_hooks = hooks[_BACK] or hooks[_BACK_BEFORE]
    if not has_backward_hooks:
        return _run_forward_hooks(cell, hooks[_AFTER], args, kwargs, cell._run_plain(args, kwargs, hooked=True))
    backward_hooks = _BackwardHooks(cell, hooks)
    args = backward_hooks.through(args, backward_hooks.at_inputs) if hooks[_BACK] else args
    out = _run_forward_hooks(cell, hooks[_AFTER], args, kwargs, cell._run_plain(args, kwargs, hooked=True))
    return backward_hooks.through(out, backward_hooks.at_outputs)


def _run_pre_hooks(cell, hooks, args, kwargs):
    for hook, with_kwargs in list(hooks.values()):
        if with_kwargs:
            new = _convert_hook(hook)(cell, args, kwargs)
            if new is None:
                continue
            if not isinstance(new, tuple) or len(new) != 2:
                raise RuntimeError(
                    f"A forward pre-hook of {type(cell).__name__} with keyword arguments should return None or "
                    f"(args, kwargs), but returned {describe(new)}."
                )
            args, kwargs = new
        else:
            new = _convert_hook(hook)(cell, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
    return args, kwargs


def _run_forward_hooks(cell, hooks, args, kwargs, output):
    for hook, with_kwargs in list(hooks.values()):
        new = (
            _convert_hook(hook)(cell, args, kwargs, output) if with_kwargs else _convert_hook(hook)(cell, args, output)
        )
        if new is not None:
            output = new
    return output


def _convert_hook(hook):
    """Return the hook, with its control flow converted if a graph is traced."""
    return script.call(hook) if _thread.frame is not None else hook


class _BackwardHooks:
    """Backward hooks of one call: they get the gradients of the outputs, then those of the inputs."""

    def __init__(self, cell, hooks_of_cell):
        self.cell, self.output_gradients = cell, None
        self.early = [hook for hook, _ in hooks_of_cell[_BACK_BEFORE].values()]
        self.hooks = list(hooks_of_cell[_BACK].values())
        self.tag = f"{type(cell).__name__}({cell._id})"

    def through(self, value, hook):
        """Return `value` with `hook` applied to the cotangents of its Tensors."""
        leaves, rebuild = flatten(value)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if not tensors:
            return value
        hooked = iter(custom_bprop.with_backward_hook(tensors, hook))
        return rebuild([next(hooked) if isinstance(leaf, Tensor) else leaf for leaf in leaves])

    def at_outputs(self, grads):
        """Run the pre-hooks on the gradients of the outputs."""
        gradients = tuple(grads)
        for hook in self.early:
            gradients = self._check_gradients(hook(self.cell, gradients), gradients)
        self.output_gradients = gradients
        return list(gradients)

    def at_inputs(self, grads):
        """Run the hooks on the gradients of the inputs."""
        gradients = tuple(grads)
        for hook, inputs_first in self.hooks:
            new = (
                hook(self.cell, gradients, self.output_gradients)
                if inputs_first
                else hook(self.tag, self.output_gradients, gradients)
            )
            gradients = self._check_gradients(new, gradients)
        return list(gradients)

    def _check_gradients(self, new, grads):
        if new is None:
            return grads
        new = new if isinstance(new, tuple) else (new,)
        if len(new) != len(grads):
            raise TypeError(f"The hook of {self.tag} should return {len(grads)} gradients, but returned {len(new)}.")
        return new
