"""Hooks of Cells: user functions that run before and after `construct` and its gradient."""

from collections.abc import Callable
from typing import Any, NamedTuple

from msnb.common.hook_handle import HookHandle
from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms import custom_bprop

_thread = trace_state.thread
BEFORE, AFTER, BACK_BEFORE, BACK = "before", "after", "back_before", "back"


class Hook(NamedTuple):
    """A hook of a Cell. `add_hook` has the meaning of the fields."""

    function: Callable[..., Any]
    option: bool
    is_always_called: bool


def add_hook(
    cell: Any,
    point: str,
    method: str,
    function: Callable[..., Any],
    option: bool = False,
    *,
    replaces: bool = False,
    is_first: bool = False,
    is_always_called: bool = False,
) -> HookHandle:
    """Add a hook to a Cell. In GRAPH mode hooks are traced, so they must be pure functions of Tensors.

    Args:
        cell (Cell): The Cell.
        point (str): The time at which the hook is called: BEFORE, AFTER, BACK_BEFORE or BACK.
        method (str): The method that the user has called, for errors.
        function (Callable): The hook.
        option (bool): Stored with the hook. For a forward hook it says whether the hook takes keyword arguments, for a
            backward hook whether it takes the gradients of the inputs before those of the outputs.
        replaces (bool): True if earlier hooks with the same `point` are removed.
        is_first (bool): True if the hook is called before those that are there.
        is_always_called (bool): True if a forward hook is called when `construct` raises an error, too.
    """
    if not callable(function):
        name = "fn" if point == BACK else "hook_fn"
        raise TypeError(f"For '{method}', '{name}' should be callable, but got {describe(function)}.")
    if cell._hooks is None:
        cell.__dict__["_hooks"] = {BEFORE: {}, AFTER: {}, BACK_BEFORE: {}, BACK: {}}
    hooks = cell._hooks[point]
    if replaces:
        hooks.clear()
    handle = HookHandle(hooks, cell._hooks_changed)
    later = {**hooks} if is_first else {}
    for key in later:
        del hooks[key]
    hooks[handle.handle_id] = Hook(function, option, is_always_called)
    hooks.update(later)
    cell._hooks_changed()
    return handle


def run(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a Cell with its hooks."""
    hooks = cell._hooks
    args, kwargs = _run_pre_hooks(cell, hooks[BEFORE], args, kwargs)
    has_backward_hooks = hooks[BACK] or hooks[BACK_BEFORE]
    if not has_backward_hooks:
        return _construct_with_forward_hooks(cell, hooks[AFTER], args, kwargs)
    backward_hooks = _BackwardHooks(cell, hooks)
    args = backward_hooks.through(args, backward_hooks.at_inputs) if hooks[BACK] else args
    out = _construct_with_forward_hooks(cell, hooks[AFTER], args, kwargs)
    return backward_hooks.through(out, backward_hooks.at_outputs)


def _construct_with_forward_hooks(cell, hooks, args, kwargs):
    """Run `construct` and the forward hooks. If `construct` raises, those that are always called get None."""
    try:
        output = cell._run_hooks_and_construct(args, kwargs, hooked=True)
    except Exception:
        always = {key: hook for key, hook in hooks.items() if hook.is_always_called}
        _run_forward_hooks(cell, always, args, kwargs, None)
        raise
    return _run_forward_hooks(cell, hooks, args, kwargs, output)


def _run_pre_hooks(cell, hooks, args, kwargs):
    for hook, with_kwargs, _ in list(hooks.values()):
        if with_kwargs:
            new = _convert_hook_control_flow(hook)(cell, args, kwargs)
            if new is None:
                continue
            if not isinstance(new, tuple) or len(new) != 2:
                raise RuntimeError(
                    f"A forward pre-hook of {type(cell).__name__} with keyword arguments should return None or "
                    f"(args, kwargs), but returned {describe(new)}."
                )
            args, kwargs = new
        else:
            new = _convert_hook_control_flow(hook)(cell, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
    return args, kwargs


def _run_forward_hooks(cell, hooks, args, kwargs, output):
    for hook, with_kwargs, _ in list(hooks.values()):
        new = (
            _convert_hook_control_flow(hook)(cell, args, kwargs, output)
            if with_kwargs
            else _convert_hook_control_flow(hook)(cell, args, output)
        )
        if new is not None:
            output = new
    return output


def _convert_hook_control_flow(hook):
    """Return the hook, with its control flow converted if a graph is traced."""
    return script.call(hook) if _thread.frame is not None else hook


class _BackwardHooks:
    """Backward hooks of one call: they get the gradients of the outputs, then those of the inputs."""

    def __init__(self, cell, hooks_of_cell):
        self.cell, self.output_gradients = cell, None
        self.early = [hook.function for hook in hooks_of_cell[BACK_BEFORE].values()]
        self.hooks = list(hooks_of_cell[BACK].values())
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
        for hook, inputs_first, _ in self.hooks:
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
