"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.fft_func`."""

from msnb.ops.auto_generate import __getattr__ as __getattr__
from msnb.ops.functional import *  # noqa: F403
