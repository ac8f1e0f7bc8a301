"""Re-export module of `mindspore.dataset.vision.c_transforms` under its path in r1.0."""

from msnb.dataset.vision.c_transforms import *  # noqa: F403
