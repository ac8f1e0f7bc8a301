"""Functions that raise errors, at the path from which libraries for MindSpore 2 import them."""

from typing import Any, NoReturn


def _raise_value_error(*info: Any) -> NoReturn:
    """Raise a ValueError with the concatenated texts of `info`."""
    raise ValueError("".join(map(str, info)))


def _raise_type_error(*info: Any) -> NoReturn:
    """Raise a TypeError with the concatenated texts of `info`."""
    raise TypeError("".join(map(str, info)))
