"""The handle of a registered hook, which can remove it."""

import itertools
from collections.abc import Callable, MutableMapping
from typing import Any

_ids = itertools.count(1)


class HookHandle:
    """Handle returned by the registration of a hook.

    Args:
        hooks (MutableMapping): Mapping that stores the hook under the id of the handle. Default: None.
        changed (Callable): Called after the hook has been removed. Default: None.

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
        """Remove the hook. Further calls do nothing."""
        if self._hooks is None:
            return
        hooks, self._hooks = self._hooks, None
        hooks.pop(self.handle_id, None)
        if self._changed is not None:
            self._changed()
