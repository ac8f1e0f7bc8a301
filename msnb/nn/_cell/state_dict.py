"""State dictionaries of Cells: Parameters, buffers, and the extra state of user classes."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msnb.common.hook_handle import HookHandle
from msnb.core.errors.messages import describe
from msnb.core.operator.autocast import register_cell_tensor
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor
from msnb.nn._cell.tree import CellTree

_EXTRA = "_extra_state"
_STATE_ARGUMENTS = {
    "destination": ((dict, type(None)), "a dict"),
    "prefix": (str, "a string"),
    "keep_vars": (bool, "a bool"),
}


class IncompatibleKeys(NamedTuple):
    """Missing keys and unexpected keys, as returned by `load_state_dict`."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateDictMixin(CellTree):
    """Base class of `Cell` for buffers and state dictionaries. Keys are attribute paths, not names of Parameters."""

    _buffers: dict[str, bool]  # attribute -> True if it belongs to the state
    _state_hooks: dict[str, dict[int, Callable[..., Any]]]

    # ------------------------------------------------------------------ buffers
    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a Tensor as a buffer: an attribute in the state that is not a Parameter.

        Args:
            name (str): Name of the attribute.
            tensor (Tensor): The Tensor. None reserves the name.
            persistent (bool): If True, `state_dict` contains the buffer. Default: True.

        Raises:
            TypeError: If `name` is no string, or `tensor` is no Tensor.
            KeyError: If the name is empty, holds a ".", or is taken by another attribute.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError(f"Call super().__init__() in {type(self).__name__}.__init__ first.")
        if not isinstance(name, str):
            raise TypeError(f"For 'register_buffer', 'name' should be a string, but got {describe(name)}.")
        if not name or "." in name:
            raise KeyError(f"For 'register_buffer', 'name' should be a name without '.', but got '{name}'.")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"For 'register_buffer', {type(self).__name__} already has an attribute '{name}'.")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"For 'register_buffer', 'tensor' should be a Tensor or None, but got {describe(tensor)}.")
        self._buffers[name] = persistent
        register_cell_tensor(tensor)
        self.__dict__[name] = tensor
        trace_state.epoch.bump()

    def get_buffer(self, target: str) -> Tensor | None:
        """Return the buffer at a path such as "encoder.mask".

        Raises:
            AttributeError: If there is no such buffer.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise AttributeError(f"'{name}' is no buffer of {type(cell).__name__}.")
        return getattr(cell, name)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over pairs (path, buffer).

        Args:
            prefix (str): Prefix of every path. Default: "".
            recurse (bool): If True, include the buffers of sub-Cells. Default: True.
            remove_duplicate (bool): If True, yield a Tensor once, even under two paths. Default: True.
        """
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:
            for name in cell._buffers:
                buffer = getattr(cell, name)
                if buffer is None or id(buffer) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(buffer))
                yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once.

        Args:
            recurse (bool): If True, include the buffers of sub-Cells. Default: True.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_sub_cell(self, target: str) -> "StateDictMixin":
        """Return the Cell at a path such as "encoder.layers.0". The path "" gives this Cell.

        Raises:
            AttributeError: If there is none.
        """
        cell = self
        for name in target.split(".") if target else ():
            child = getattr(cell, name)
            if not isinstance(child, StateDictMixin):
                raise AttributeError(f"'{name}' of {type(cell).__name__} is no Cell.")
            cell = child
        return cell

    # ------------------------------------------------------------------ the dictionary
    def get_extra_state(self) -> Any:
        """Return extra state for `state_dict`. A user class defines it together with `set_extra_state`.

        Raises:
            RuntimeError: If the class does not define it.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state: define get_extra_state and set_extra_state.")

    def set_extra_state(self, state: Any) -> None:
        """Restore extra state that `get_extra_state` returned.

        Args:
            state (Any): The extra state.

        Raises:
            RuntimeError: If the class does not define it.
        """
        raise RuntimeError(
            f"{type(self).__name__} cannot take {describe(state)} as extra state: define set_extra_state."
        )

    def state_dict(
        self,
        *args: Any,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return the Parameters and persistent buffers of this Cell and its sub-Cells by path, without copying.

        Args:
            args (Any): `destination`, `prefix` and `keep_vars` by position.
            destination (dict): The dict to fill. Default: None, a new OrderedDict.
            prefix (str): Prefix of every path. Default: "".
            keep_vars (bool): Passed to hooks. It does not change the result. Default: False.

        Returns:
            dict.

        Raises:
            TypeError: If an argument has the wrong type.
        """
        options = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        destination = options.get("destination", destination)
        prefix = options.get("prefix", prefix)
        keep_vars = options.get("keep_vars", keep_vars)
        options = {"destination": destination, "prefix": prefix, "keep_vars": keep_vars}
        for name, (kind, word) in _STATE_ARGUMENTS.items():
            if not isinstance(options[name], kind):
                raise TypeError(f"For 'state_dict', '{name}' should be {word}, but got {describe(options[name])}.")
        state = _StateDict() if destination is None else destination
        metadata: dict[str, Any] = {}
        if isinstance(state, _StateDict):
            state._metadata[prefix[:-1]] = metadata
        _call_state_hooks(self, "save_before", prefix, keep_vars)
        self._save_to_state_dict(state, prefix, keep_vars)
        children = [(f"{prefix}{name}.", cell) for name, cell in self._cells.items() if cell is not None]
        for path, cell in children:
            cell.state_dict(state, path, keep_vars)
        _call_state_hooks(self, "save_after", state, prefix, metadata)
        return state

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put the state of this Cell, without sub-Cells, into `destination`. User classes may override it."""
        destination.update((prefix + name, value) for name, value in _get_own_state(self).items())
        if _overrides_method(self, "get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Copy values from a dictionary such as `state_dict` returns. Each value is cast to the dtype of its Parameter
        or buffer.

        Args:
            state_dict (Mapping): Maps each path to a Tensor.
            strict (bool): If True, missing and unexpected paths are errors. Default: True.

        Returns:
            IncompatibleKeys, the lists `missing_keys` and `unexpected_keys`.

        Raises:
            TypeError: If `state_dict` is no mapping.
            RuntimeError: If a shape differs, a value is no Tensor, or, with `strict`, paths differ. Values that fit
                are copied before the error is raised.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"For 'load_state_dict', 'state_dict' should be a dict, but got {describe(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None) or {}
        keys, problems = IncompatibleKeys([], []), []

        def load(cell, state, prefix):
            cell._load_from_state_dict(state, prefix, metadata.get(prefix[:-1], {}), True, *keys, problems)
            for name, child in cell._cells.items():
                if child is not None:
                    inner = f"{prefix}{name}."
                    load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner)
            _call_state_hooks(cell, "load_after", keys)

        load(self, OrderedDict(state_dict), "")
        if strict:
            for what, names in (("It lacks", keys.missing_keys), ("It has too many:", keys.unexpected_keys)):
                if names:
                    problems.append(f"{what} {', '.join(map(repr, names))}.")
        if problems:
            raise RuntimeError(f"The state_dict does not fit {type(self).__name__}. {' '.join(problems)}")
        return keys

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this Cell, without sub-Cells. User classes may override it."""
        hook_args = state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        _call_state_hooks(self, "load_before", *hook_args)
        own = _get_own_state(self)
        for name, current in own.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.extend([key] if strict else [])
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f"'{key}' should be a Tensor, but is {describe(value)}.")
            elif tuple(value.shape) != tuple(current.shape):
                error_msgs.append(f"'{key}' should be of shape {tuple(current.shape)}, but is of {tuple(value.shape)}.")
            else:
                current.assign_value(Tensor(value.asnumpy(), current.dtype))
        extra = prefix + _EXTRA
        if _overrides_method(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                name, dot, _ = key[len(prefix) :].partition(".")
                if key.startswith(prefix) and key != extra and name not in (self._cells if dot else own):
                    unexpected_keys.append(key)

    # ------------------------------------------------------------------ hooks
    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, prefix, keep_vars)` before `state_dict`.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return _add_state_hook(self, "register_state_dict_pre_hook", "save_before", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata)` after `state_dict`. The hook may change the dict.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return _add_state_hook(self, "register_state_dict_post_hook", "save_after", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before the state of a Cell is loaded. The hook may change the dict and the lists.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return _add_state_hook(self, "register_load_state_dict_pre_hook", "load_before", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, incompatible_keys)` after `load_state_dict`. The hook may change the lists of keys.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return _add_state_hook(self, "register_load_state_dict_post_hook", "load_after", hook)


class _StateDict(OrderedDict):
    """A state dictionary; `_metadata` maps the path of a Cell to the metadata that hooks receive."""

    def __init__(self):
        super().__init__()
        self._metadata = {}

    def __repr__(self):
        return repr(OrderedDict(self))


def _overrides_method(cell, method):
    """Return True if a user class overrides a method that raises in `StateDictMixin`."""
    return getattr(type(cell), method) is not getattr(StateDictMixin, method)


def _get_own_state(cell):
    """Return {attribute: Parameter or persistent buffer} of this Cell, without sub-Cells."""
    state = {name: param for name, param in cell._params.items() if param is not None}
    for name, persistent in cell._buffers.items():
        if persistent and getattr(cell, name) is not None:
            state[name] = getattr(cell, name)
    return state


def _add_state_hook(cell, method, event, hook):
    if not callable(hook):
        raise TypeError(f"For '{method}', 'hook' should be callable, but got {describe(hook)}.")
    hooks = cell._state_hooks.setdefault(event, {})
    handle = HookHandle(hooks)
    hooks[handle.handle_id] = hook
    return handle


def _call_state_hooks(cell, event, *args):
    for hook in list(cell._state_hooks.get(event, {}).values()):
        if hook(cell, *args) is not None:
            raise RuntimeError(f"A hook around the state_dict of {type(cell).__name__} should return None.")
