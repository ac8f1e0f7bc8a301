"""Transforms of any column: ``c_transforms``, ``py_transforms``, and 2.x's ``transforms`` in one."""

from importlib import import_module
from typing import Any

_LATER = ("c_transforms", "py_transforms", "py_transforms_util", "transforms", "validators")
__all__ = ["c_transforms", "py_transforms"]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f"{__name__}.{name}")  # spares what a program does not use
    if name == "vision":  # the older path of mindspore.dataset.vision
        return import_module("msnb.dataset.vision")  # spares what a program does not use
    if name[0].isupper():
        unified = import_module(f"{__name__}.transforms")  # spares it to programs of r1.1
        if hasattr(unified, name):
            return getattr(unified, name)
    raise AttributeError(f"module 'mindspore.dataset.transforms' has no attribute {name!r}")
