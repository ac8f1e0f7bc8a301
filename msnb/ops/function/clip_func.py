"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.clip_func`."""

from msnb.ops.functional import *  # noqa: F403
