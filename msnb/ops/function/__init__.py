"""Re-export module of `mindspore.ops.functional` at MindSpore 2's path `mindspore.ops.function`."""

from msnb.ops import functional
from msnb.ops.functional import *  # noqa: F403

from msnb.ops.function import (  # isort: skip
    array_func as array_func,
    clip_func as clip_func,
    debug_func as debug_func,
    grad_func as grad_func,
    linalg_func as linalg_func,
    math_func as math_func,
    nn_func as nn_func,
    other_func as other_func,
    parameter_func as parameter_func,
    random_func as random_func,
    sparse_func as sparse_func,
    spectral_func as spectral_func,
)

__all__ = list(functional.__all__)
