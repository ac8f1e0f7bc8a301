"""Re-export module of MindSpore 2.10's `mindspore.ops.communication`: the functions of `mindspore.mint.distributed`."""

from msnb.mint.distributed import *  # noqa: F403
