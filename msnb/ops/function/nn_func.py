"""Re-export module of functions at MindSpore 2's path `mindspore.ops.function.nn_func`."""

from msnb.ops._primitive_cache import _get_cache_prim as _get_cache_prim
from msnb.ops.auto_generate import __getattr__ as __getattr__
from msnb.ops.function._attention import (  # noqa: F401 - libraries import them from here
    _check_attn_mask_shape,
    _check_kpm_shape,
    _check_qkv_shape,
    _in_projection,
    _in_projection_packed,
    _inner_dropout,
    _inner_pad,
    linear,
    multi_head_attention_forward,
)
from msnb.ops.function._interpolated_sizes import (  # noqa: F401
    _interploate_ext_make_tuple,
    _interpolate_ext_scale_factor_convert_size,
)
from msnb.ops.functional import *  # noqa: F403
