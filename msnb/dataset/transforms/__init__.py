"""Transforms of any column: ``c_transforms``, ``py_transforms``, and 2.x's ``transforms`` in one."""

from importlib import import_module
from typing import Any

_LATER = {
    **{name: f"{__name__}.{name}" for name in ("c_transforms", "py_transforms", "py_transforms_util", "validators")},
    "transforms": "msnb.dataset.transforms.transforms",  # what 2.x has in one, and what any other name is looked up in
    "vision": "msnb.dataset.vision",  # the older path of mindspore.dataset.vision
}
__all__ = ["c_transforms", "py_transforms"]


def __getattr__(name: str) -> Any:
    if name in _LATER or name[0].isupper():
        found = import_module(_LATER.get(name, _LATER["transforms"]))  # spares what a program does not use
        if name in _LATER:
            return found
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module 'mindspore.dataset.transforms' has no attribute {name!r}")
