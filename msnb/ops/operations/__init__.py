"""The classes of all operators, `mindspore.ops.operations`."""

from typing import Any

from msnb.common.missing import asked
from msnb.core.operator.operator_types import REGISTRY

_PUBLIC = {name: op.primitive for name, op in REGISTRY.items() if not name.startswith("_")}
globals().update(_PUBLIC)
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
