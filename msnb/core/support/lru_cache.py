"""`Recent`: a dict with an end, for what can be made again."""

from typing import Any


class LruCache(dict):
    """A dict that keeps what was used last: at least `size` entries, at most twice as many.

    A hit is a plain `get`, at a dict's price. What `get` does not find `recall` may: entries that were not used lately
    stand in a second dict, from which a use brings them back and with which they go.

    Args:
        size (int): How many entries make the first dict full. Default: 256.
    """

    __slots__ = ("size", "older")

    def __init__(self, size: int = 256) -> None:
        super().__init__()
        self.size: int = size
        self.older: dict[Any, Any] = {}

    def recall(self, key: Any) -> Any:
        """The entry of a key that is not among the newer ones; None if it is not among the older ones either."""
        value = self.older.pop(key, None)
        return None if value is None else self.keep(key, value)

    def keep(self, key: Any, value: Any) -> Any:
        """Put `value`, which is not None, under `key`; returns it."""
        if len(self) >= self.size:
            self.older = dict(self)
            self.clear()
        self[key] = value
        return value
