"""A face: `mindspore.numpy` under one of MindSpore's module paths."""

from msnb.numpy import *  # noqa: F403
