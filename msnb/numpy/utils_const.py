"""Errors under the module path that libraries for MindSpore 2 import them from."""

from typing import Any, NoReturn


def _raise_value_error(*info: Any) -> NoReturn:
    """Raise a ValueError that says all of `info`, one behind the other."""
    raise ValueError("".join(map(str, info)))


def _raise_type_error(*info: Any) -> NoReturn:
    """Raise a TypeError that says all of `info`, one behind the other."""
    raise TypeError("".join(map(str, info)))
