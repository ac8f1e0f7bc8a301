"""Re-export module: `mindspore.numpy` at one of MindSpore's module paths."""

from msnb.numpy import *  # noqa: F403
