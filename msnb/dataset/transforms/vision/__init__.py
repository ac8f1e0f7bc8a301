"""Re-export module of `mindspore.dataset.vision` under its path in r1.0."""

from msnb.dataset.vision import Border, Inter, c_transforms, py_transforms, utils

__all__ = ["Border", "Inter", "c_transforms", "py_transforms", "utils"]
