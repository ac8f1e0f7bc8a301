"""A face: r1.0's path of `mindspore.dataset.vision.py_transforms`."""

from msnb.dataset.vision.py_transforms import *  # noqa: F403
