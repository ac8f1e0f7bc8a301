"""A face: where MindSpore 2 keeps the operators and functions that it generates; here they are the others, too."""

from typing import Any

from msnb.common.missing import asked
from msnb.ops import functional, operations
from msnb.ops.functional import *  # noqa: F403
from msnb.ops.operations import *  # noqa: F403

__all__ = sorted({*operations.__all__, *functional.__all__})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        return asked(__name__, name)
    from msnb.mint._generated import generated  # spares mint to all who want nothing of it

    made = generated(name)
    return asked(__name__, name) if made is None else made
