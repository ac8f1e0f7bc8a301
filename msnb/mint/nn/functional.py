"""`mindspore.mint.nn.functional`: functions for networks under PyTorch's names."""

from msnb.mint._arrangement import flatten as flatten
from msnb.mint._rows import functions_of_ops as _functions_of_ops
from msnb.mint._rows import with_mint_names as _with_mint_names
from msnb.mint.nn import _activations, _losses, _windows
from msnb.mint.nn._activations import *  # noqa: F403
from msnb.mint.nn._losses import *  # noqa: F403
from msnb.mint.nn._windows import *  # noqa: F403
from msnb.ops import functional as _F

# Functions of `mindspore.ops`, unchanged.
_SHARED = _functions_of_ops(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d conv_transpose2d cross_entropy embedding gelu
    grid_sample group_norm hardshrink hardsigmoid hardswish l1_loss layer_norm mse_loss pixel_shuffle
    sigmoid soft_margin_loss softplus softshrink tanh unfold
    """
)
# Maps a function to its arguments. An argument is written `mint_name:ops_name` if `mindspore.ops` names it differently.
_RENAMED = {
    "glu": "input:x dim:axis",
    "logsigmoid": "input:x",
    "mish": "input:x",
    "selu": "input:input_x",
}

globals().update(_SHARED)
globals().update({name: _with_mint_names(name, arguments) for name, arguments in _RENAMED.items()})
linear = _F.dense

_MODULES = (_activations, _losses, _windows)
__all__ = sorted({*_SHARED, *_RENAMED, "linear", "flatten", *(name for module in _MODULES for name in module.__all__)})
