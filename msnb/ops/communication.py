"""Re-export module of MindSpore 2.10's `mindspore.ops.communication`: the functions of `mindspore.mint.distributed`."""

from typing import Any

from msnb.common.missing import asked
from msnb.mint.distributed import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
