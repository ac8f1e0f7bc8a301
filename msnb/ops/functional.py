"""A face: the functional form of every operator that has one, as `mindspore.ops.functional`."""

from functools import partial

from msnb.core.grad import grad, stop_gradient, value_and_grad
from msnb.core.operator import FUNCTIONAL

globals().update(FUNCTIONAL)
__all__ = sorted({*FUNCTIONAL, "grad", "partial", "stop_gradient", "value_and_grad"})
_ = partial, grad, stop_gradient, value_and_grad
