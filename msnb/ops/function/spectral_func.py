"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.spectral_func`."""

from msnb.ops.functional import *  # noqa: F403
