"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.nn_func`."""

from msnb.ops._primitive_cache import _get_cache_prim as _get_cache_prim
from msnb.ops.auto_generate import __getattr__ as __getattr__
from msnb.ops.functional import *  # noqa: F403
