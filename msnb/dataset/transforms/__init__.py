"""Transforms of any column: ``c_transforms``, ``py_transforms``, and 2.x's ``transforms`` in one."""

_LATER = ("c_transforms", "py_transforms", "py_transforms_util", "transforms", "validators")
__all__ = ["c_transforms", "py_transforms"]


def __getattr__(name):
    from importlib import import_module

    if name in _LATER:
        return import_module(f"{__name__}.{name}")
    if name == "vision":  # mindspore.dataset.transforms.vision is the older path of mindspore.dataset.vision
        return import_module("msnb.dataset.vision")
    if name[0].isupper():
        unified = import_module(f"{__name__}.transforms")
        if hasattr(unified, name):
            return getattr(unified, name)
    raise AttributeError(f"module 'mindspore.dataset.transforms' has no attribute {name!r}")
