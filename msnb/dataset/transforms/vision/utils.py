"""A face: r1.0's path of `mindspore.dataset.vision.utils`."""

from msnb.dataset.vision.utils import *  # noqa: F403
