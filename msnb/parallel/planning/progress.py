"""The progress line of `plan`."""

from collections.abc import Callable
from typing import Any


class ProgressLine:
    """A line that shows the current action. Nothing is shown if `is_enabled` is False."""

    def __init__(self, is_enabled: bool) -> None:
        self._is_enabled = is_enabled
        self._line: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if self._is_enabled:
            from tqdm.auto import tqdm  # imported here because it is slow and only plans need it

            self._line = tqdm(desc="plan", bar_format="{desc} {elapsed}", leave=False)
        return self.update

    def update(self, text: str) -> None:
        """Show the current action."""
        if self._line is not None:
            self._line.set_description(text)

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()
