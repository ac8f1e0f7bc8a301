"""The classes of all operators, `mindspore.ops.operations`."""

import pkgutil
import sys
from typing import Any

from msnb.common.missing import asked
from msnb.common.unsupported import RAISES
from msnb.core.operator.operator_types import REGISTRY
from msnb.ops._refused_operators import refused_operator

_PUBLIC = {name: op.primitive for name, op in REGISTRY.items() if not name.startswith("_")}
globals().update(_PUBLIC)
_MODULES = {module.name for module in pkgutil.iter_modules(__path__)}  # MindSpore loads them all
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return sys.modules["msnb.ops"]._load_module(f"{__name__}.{name}")
    operator = None if f"ops.operations.{name}" in RAISES else refused_operator(name)
    return asked(__name__, name) if operator is None else operator
