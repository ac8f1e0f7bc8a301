"""Vision transforms.

``c_transforms`` uses OpenCV and is fast, ``py_transforms`` takes PIL images. MindSpore 2's ``transforms`` has both.
"""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked
from msnb.dataset.vision.utils import Border, ImageBatchFormat, Inter

_LAZY_MODULES = ("c_transforms", "py_transforms", "py_transforms_util", "transforms", "utils", "validators")
__all__ = ["Border", "ImageBatchFormat", "Inter", "c_transforms", "py_transforms"]


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES or name[0].isupper() or name.startswith(("get_image", "read_", "write_", "encode_")):
        module_name = name if name in _LAZY_MODULES else "transforms"  # which has the classes of MindSpore 2
        module = import_module(f"{__name__}.{module_name}")  # imported on first use: programs use few of them
        if name in _LAZY_MODULES:
            return module
        if hasattr(module, name):
            return getattr(module, name)
    return asked(__name__, name)
