"""Re-export module: operators and functions under one of MindSpore 2's module paths."""

from msnb.ops.auto_generate import *  # noqa: F403
from msnb.ops.auto_generate import __getattr__ as __getattr__
