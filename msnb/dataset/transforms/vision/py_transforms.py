"""Re-export module of `mindspore.dataset.vision.py_transforms` under its path in r1.0."""

from msnb.dataset.vision.py_transforms import *  # noqa: F403
