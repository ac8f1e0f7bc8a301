"""What a path of MindSpore's is in msnb."""

import functools
import importlib
import sys
import types
from typing import Any

from msnb.check.uses import ROOT

ABSENT = object()  # what a path is that leads nowhere
_OURS = __name__.partition(".")[0]


@functools.cache
def resolve(name: str) -> Any:
    """What a path of MindSpore's is in msnb, `ABSENT` where it is nothing."""
    found: Any = sys.modules[_OURS]
    path = ROOT
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        inner = _member(found, part)
        if inner is ABSENT:
            inner = _module(found, part)
        if inner is ABSENT:
            return ABSENT
        found = inner
    return found


def _member(owner, name):
    if isinstance(owner, type) and hasattr(owner, "_later"):
        return owner  # what is within a thing that only refuses is refused as it is
    try:
        return getattr(owner, name)
    except AttributeError:
        return ABSENT if isinstance(owner, (types.ModuleType, type)) else None  # of an object: who knows


def _module(owner, name):
    if not isinstance(owner, types.ModuleType):
        return ABSENT
    try:
        path = f"{owner.__name__}.{name}"
        return importlib.import_module(path)  # spares the rooms that the program does not name
    except ModuleNotFoundError:
        return ABSENT
