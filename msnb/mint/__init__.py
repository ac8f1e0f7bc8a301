"""`mindspore.mint`: operators with PyTorch's names, arguments and defaults.

If `mindspore.ops` has a function with the same meaning, mint uses it or a wrapper with other argument names
(`_rows.py`). The other functions are in the modules here.
"""

from typing import Any as _Any

from msnb._util.placeholders import fill as _fill
from msnb.common.missing import asked as _asked
from msnb.core.tensor.tensor import Tensor as _Tensor
from msnb.mint import _arithmetic, _arrangement, _making, _reductions, distributed, linalg, nn, optim, special
from msnb.mint._arithmetic import *  # noqa: F403
from msnb.mint._arrangement import *  # noqa: F403
from msnb.mint._making import *  # noqa: F403
from msnb.mint._reductions import *  # noqa: F403
from msnb.mint._rows import api2_function as _api2_function
from msnb.mint._rows import functions_of_ops as _functions_of_ops
from msnb.mint._rows import with_float_input as _with_float_input
from msnb.mint._rows import with_mint_names as _with_mint_names
from msnb.mint.nn import _activations, _windows
from msnb.mint.nn import functional as _functional

# Functions of `mindspore.ops`, unchanged.
_SHARED = _functions_of_ops(
    """
    abs addbmm addcdiv addcmul addmm addmv arange argmax baddbmm bitwise_and bitwise_or bitwise_xor
    broadcast_to ceil cross cumprod div divide dot dstack eq eye flip floor floor_divide fmod full
    full_like gcd ge greater greater_equal gt histc hstack isclose isfinite isinf isneginf le lerp less
    float_power mul less_equal logaddexp logaddexp2 logsumexp lt masked_select matmul
    maximum minimum mm nan_to_num ne neg negative nonzero not_equal ones_like outer polar pow ravel remainder reshape
    roll round searchsorted sign square swapaxes t take tile trace tril triu trunc unbind unique_consecutive unsqueeze
    zeros_like
    """
)
# Maps a function to its arguments. An argument is written `mint_name:ops_name` if `mindspore.ops` names it differently.
_RENAMED = {
    "all": "input dim:axis keepdim:keep_dims",
    "amax": "input dim:axis keepdim:keepdims",
    "amin": "input dim:axis keepdim:keepdims",
    "any": "input dim:axis keepdim:keep_dims",
    "bmm": "input:input_x mat2",
    "diff": "input:x n dim:axis prepend append",
    "frac": "input:x",
    "imag": "input",
    "inverse": "input",
    "index_select": "input dim:axis index",
    "mv": "input:mat vec",
    "nansum": "input dim:axis keepdim:keepdims * dtype",
    "narrow": "input dim:axis start length",
    "permute": "input dims:axis",
    "real": "input",
    "softmax": "input dim:axis * dtype",
    "split": "tensor split_size_or_sections dim:axis",
    "squeeze": "input dim:axis",
    "stack": "tensors dim:axis",
}
# Functions of one Tensor that convert integers to float32.
_FLOAT_FUNCTIONS = """
    acos acosh arccos arccosh arcsinh arctan arctanh asin asinh atan atanh cos cosh erf erfc erfinv exp exp2
    expm1 log log10 log1p log2 reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh
""".split()

globals().update(_SHARED)
globals().update({name: _with_mint_names(name, arguments) for name, arguments in _RENAMED.items()})
globals().update({name: _with_float_input(name) for name in _FLOAT_FUNCTIONS})
isnan = _with_mint_names("isnan", "tensor:input")
arcsin = _with_mint_names("arcsin", "x:input", _with_float_input("arcsin"))
arctan2 = _arithmetic.atan2
fix = _SHARED["trunc"]
chunk = _with_mint_names("chunk", "input chunks dim", _api2_function("chunk_ext"))
clip = _arithmetic.clamp
concat = _arrangement.cat
conv2d = _functional.conv2d
conv_tbc = _windows.conv_tbc
npu_gelu = _activations.npu_gelu

_MODULES = (_arithmetic, _arrangement, _making, _reductions)
_ALIASES = ("arcsin", "arctan2", "chunk", "clip", "concat", "conv2d", "conv_tbc", "fix", "isnan", "npu_gelu")
__all__ = sorted(
    {*_SHARED, *_RENAMED, *_FLOAT_FUNCTIONS, *_ALIASES, *(name for module in _MODULES for name in module.__all__)}
)
_fill(
    globals(),
    "batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats",
    "it is part of a batch normalisation over several devices: `nn.functional.batch_norm` takes the whole batch",
)
_ = distributed, linalg, nn, optim, special


# Libraries take these by a path that MindSpore has no page for.
_BY_LIBRARIES = {"Tensor": _Tensor, "functional": _functional}


def __getattr__(name: str) -> _Any:
    if name in _BY_LIBRARIES:
        return _BY_LIBRARIES[name]
    return _asked(__name__, name)
