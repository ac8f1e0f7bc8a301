"""Re-export module of operators at MindSpore's path `mindspore.ops.operations._inner_ops`."""

from msnb.ops import operations
from msnb.ops._refused_operators import list_refused
from msnb.ops.operations import *  # noqa: F403
from msnb.ops.operations import __getattr__ as __getattr__

__all__ = [*operations.__all__, *list_refused()]  # libraries import all of them by a star
