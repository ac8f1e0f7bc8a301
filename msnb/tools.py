"""Re-export module of MindSpore 2.7's `mindspore.tools`: `set_dump`."""

from typing import Any

from msnb.common.missing import asked
from msnb.insight.dump.targets import set_dump

__all__ = ["set_dump"]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
