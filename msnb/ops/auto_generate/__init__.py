"""Re-export module of MindSpore 2's `mindspore.ops.auto_generate`. It has all operators and functions of msnb.ops."""

from typing import Any as _Any  # `Any` is an operator here

from msnb.common.missing import asked
from msnb.ops import functional, operations
from msnb.ops.functional import *  # noqa: F403

from msnb.ops.operations import *  # noqa: F403  # isort: skip
from msnb.ops._flat_operators import *  # noqa: F403  # isort: skip - it replaces some of them

__all__ = sorted({*operations.__all__, *functional.__all__})


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        return asked(__name__, name)
    from msnb.mint._generated import generated  # lazy, to spare others the import of mint

    value = generated(name)
    return asked(__name__, name) if value is None else value
