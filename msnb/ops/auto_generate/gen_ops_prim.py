"""Re-export module of operators and functions at MindSpore 2's path `mindspore.ops.auto_generate.gen_ops_prim`."""

from msnb.ops.auto_generate import *  # noqa: F403
from msnb.ops.auto_generate import __dir__ as __dir__
from msnb.ops.auto_generate import __getattr__ as __getattr__
