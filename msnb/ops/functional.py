"""The module `mindspore.ops.functional`: functions of all operators that have one."""

from functools import partial

from msnb.core.operator.operator_types import FUNCTIONAL
from msnb.core.transforms.functional import jacfwd, jacrev, jvp, vjp, vmap
from msnb.core.transforms.grad import get_grad, grad, stop_gradient, value_and_grad

_TRANSFORMS = "get_grad grad jacfwd jacrev jvp stop_gradient value_and_grad vjp vmap".split()
globals().update(FUNCTIONAL)
__all__ = sorted({*FUNCTIONAL, *_TRANSFORMS, "partial"})
_ = partial, get_grad, grad, stop_gradient, value_and_grad, jacfwd, jacrev, jvp, vjp, vmap
