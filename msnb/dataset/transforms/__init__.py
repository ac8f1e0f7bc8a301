"""Transforms of any column: ``c_transforms``, ``py_transforms``, and MindSpore 2's ``transforms`` with both."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked

_LAZY_MODULES = {
    **{name: f"{__name__}.{name}" for name in ("c_transforms", "py_transforms", "py_transforms_util", "validators")},
    "transforms": "msnb.dataset.transforms.transforms",  # MindSpore 2's module; all other names are looked up in it
    "vision": "msnb.dataset.vision",  # r1.0's path of mindspore.dataset.vision
}
__all__ = ["c_transforms", "py_transforms"]


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES or name[0].isupper():
        path = _LAZY_MODULES.get(name, _LAZY_MODULES["transforms"])
        module = import_module(path)  # imported on first use: programs use few of them
        if name in _LAZY_MODULES:
            return module
        if hasattr(module, name):
            return getattr(module, name)
    return asked(__name__, name)
