"""`LruCache`: a dict of bounded size, for values that can be computed again."""

from typing import Any


class LruCache(dict):
    """A dict of the entries used last: at least `size`, at most twice as many.

    A hit is a plain `dict.get`. Entries that were not used lately are in a second dict. `recall` looks there after a
    miss and moves a hit back to the first dict. When the first dict is full it becomes the second one, and the old
    second one is dropped.

    Args:
        size (int): Number of entries at which the first dict is full. Default: 256.
    """

    __slots__ = ("size", "older")

    def __init__(self, size: int = 256) -> None:
        super().__init__()
        self.size: int = size
        self.older: dict[Any, Any] = {}

    def recall(self, key: Any) -> Any:
        """Return the entry of a key that has moved to the older entries, or None."""
        value = self.older.pop(key, None)
        return None if value is None else self.keep(key, value)

    def keep(self, key: Any, value: Any) -> Any:
        """Store `value`, which must not be None, and return it."""
        if len(self) >= self.size:
            self.older = dict(self)
            self.clear()
        self[key] = value
        return value
