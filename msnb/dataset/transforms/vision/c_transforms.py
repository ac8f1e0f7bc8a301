"""A face: r1.0's path of `mindspore.dataset.vision.c_transforms`."""

from msnb.dataset.vision.c_transforms import *  # noqa: F403
