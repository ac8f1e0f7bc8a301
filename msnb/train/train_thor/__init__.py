"""A face: where programs look for what turns a network into one for the optimizer THOR; it says that it is not here."""

from typing import Any

from msnb.common.missing import asked


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
