"""A face: where MindSpore 2 keeps its functions, the same as in `mindspore.ops.functional`."""

from msnb.ops import functional
from msnb.ops.functional import *  # noqa: F403

__all__ = list(functional.__all__)
