"""Re-export module: the operators under one of MindSpore's module paths."""

from msnb.ops.operations import *  # noqa: F403
from msnb.ops.operations import __getattr__ as __getattr__
