"""A face: r1.0's path of `mindspore.dataset.vision`."""

from msnb.dataset.vision import Border, Inter, c_transforms, py_transforms, utils

__all__ = ["Border", "Inter", "c_transforms", "py_transforms", "utils"]
