"""The handle of a function that was registered to be called: whoever has it can take the function back."""

import itertools
from collections.abc import Callable, MutableMapping
from typing import Any

_ids = itertools.count(1)


class HookHandle:
    """What registering a hook returns.

    Args:
        hooks (MutableMapping): Where the hook stands, under the handle. Default: None, it stands nowhere.
        changed (Callable): Called once the hook has gone. Default: None.

    Examples:
        >>> net = nn.Dense(3, 2)
        >>> handle = net.register_forward_hook(lambda cell, inputs, output: output * 2)
        >>> handle.remove()
    """

    def __init__(self, hooks: MutableMapping[int, Any] | None = None, changed: Callable[[], Any] | None = None) -> None:
        self.handle_id: int = next(_ids)
        self._hooks = hooks
        self._changed = changed

    def remove(self) -> None:
        """The hook is called no more; a second time nothing happens."""
        if self._hooks is None:
            return
        hooks, self._hooks = self._hooks, None
        hooks.pop(self.handle_id, None)
        if self._changed is not None:
            self._changed()
