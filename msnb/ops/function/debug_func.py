"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.debug_func`."""

from msnb.ops.functional import *  # noqa: F403
