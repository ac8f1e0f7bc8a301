"""Re-export module of operators at MindSpore's path `mindspore.ops.operations._grad_ops`."""

from msnb.ops import operations
from msnb.ops._refused_operators import list_refused
from msnb.ops.auto_generate import __getattr__ as __getattr__
from msnb.ops.operations import *  # noqa: F403

# libraries import all of them by a star
__all__ = [*operations.__all__, *list_refused(), "LerpScalar"]  # noqa: F405
