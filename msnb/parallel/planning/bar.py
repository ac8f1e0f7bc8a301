"""What `plan` says of itself while it works."""

from collections.abc import Callable
from typing import Any


class Bar:
    """A line that says what is done; none where it is not wanted, or there is no tqdm."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._shown: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if self._wanted:
            from tqdm.auto import tqdm  # takes long to import, and only who plans wants it

            self._shown = tqdm(desc="plan", bar_format="{desc} {elapsed}", leave=False)
        return self.say

    def say(self, text: str) -> None:
        """What is done now."""
        if self._shown is not None:
            self._shown.set_description(text)

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.close()
