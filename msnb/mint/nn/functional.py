"""`mindspore.mint.nn.functional`: functions for networks under PyTorch's names."""

from msnb.mint._arrangement import flatten as flatten
from msnb.mint._rows import renamed as _renamed
from msnb.mint._rows import same as _same
from msnb.mint.nn import _activations, _losses, _windows
from msnb.mint.nn._activations import *  # noqa: F403
from msnb.mint.nn._losses import *  # noqa: F403
from msnb.mint.nn._windows import *  # noqa: F403
from msnb.ops import functional as _F

# The functions of `mindspore.ops` themselves.
_SAME = _same(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d conv_transpose2d cross_entropy embedding gelu
    grid_sample group_norm hardshrink hardsigmoid hardswish l1_loss layer_norm mse_loss pixel_shuffle
    sigmoid soft_margin_loss softplus softshrink tanh unfold
    """
)
# name: its arguments, and what `mindspore.ops` calls those that it calls otherwise
_RENAMED = {
    "glu": "input:x dim:axis",
    "logsigmoid": "input:x",
    "mish": "input:x",
    "selu": "input:input_x",
}

globals().update(_SAME)
globals().update({name: _renamed(name, arguments) for name, arguments in _RENAMED.items()})
linear = _F.dense

_ROOMS = (_activations, _losses, _windows)
__all__ = sorted({*_SAME, *_RENAMED, "linear", "flatten", *(name for room in _ROOMS for name in room.__all__)})
