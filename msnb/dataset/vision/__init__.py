"""Vision transforms: ``c_transforms`` (OpenCV, fast), ``py_transforms`` (PIL images), and 2.x's ``transforms`` in
one.
"""

from importlib import import_module
from typing import Any

from msnb.dataset.vision.utils import Border, ImageBatchFormat, Inter

_LATER = ("c_transforms", "py_transforms", "py_transforms_util", "transforms", "utils", "validators")
__all__ = ["Border", "ImageBatchFormat", "Inter", "c_transforms", "py_transforms"]


def __getattr__(name: str) -> Any:
    if name in _LATER or name[0].isupper() or name.startswith(("get_image", "read_", "write_", "encode_")):
        part = name if name in _LATER else "transforms"  # which has those of 2.x
        found = import_module(f"{__name__}.{part}")  # spares what a program does not use
        if name in _LATER:
            return found
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module 'mindspore.dataset.vision' has no attribute {name!r}")
