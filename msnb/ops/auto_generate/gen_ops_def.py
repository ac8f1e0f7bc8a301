"""Re-export module of operators and functions at MindSpore 2's path `mindspore.ops.auto_generate.gen_ops_def`."""

from msnb.ops.auto_generate import *  # noqa: F403
from msnb.ops.auto_generate import __getattr__ as __getattr__
