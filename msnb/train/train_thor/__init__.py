"""Placeholders for the converter of the optimizer THOR, which msnb does not have: using a name raises an error."""

from typing import Any

from msnb.common.missing import asked


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
