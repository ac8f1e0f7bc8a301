"""Re-export module of the THOR converter, which msnb does not have: its names raise an error that says so."""

from typing import Any

from msnb.common.missing import asked


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
