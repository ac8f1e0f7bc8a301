"""Preparation of one gradient, dense or a RowTensor, before an update: decay, scale, centralization."""

from msnb.core.tensor.sparse import RowTensor, map_values
from msnb.core.tensor.tensor import Tensor
from msnb.ops import composite as C
from msnb.ops import functional as F


def decayed(gradient, weight, decay):
    """Return gradient + decay * weight, the gradient with an L2 penalty. A RowTensor gets the penalty only in its
    rows."""
    rows = F.gather(weight, gradient.indices, 0) if isinstance(gradient, RowTensor) else weight
    return map_values(lambda g: g + rows * decay, gradient)


def times(gradient, factor):
    """Return a gradient multiplied by a number."""
    return map_values(lambda g: g * factor, gradient)


def centralize(gradient):
    """Subtract from a gradient its mean over all axes but the first (Yong et al., Gradient Centralization, 2020)."""

    def without_mean(g):
        return g - F.reduce_mean(g, tuple(range(1, g.ndim)), True) if g.ndim > 1 else g

    return map_values(without_mean, gradient)


def _get_gradient_dtype(gradient):
    return gradient.values.dtype if isinstance(gradient, RowTensor) else gradient.dtype


# Optimizers that users write map these over their gradients, as MindSpore's own do.
apply_decay = C.MultitypeFuncGraph("apply_decay")
grad_scale = C.MultitypeFuncGraph("grad_scale")


@apply_decay.register("Tensor", "Bool", "Tensor", "RowTensor")
@apply_decay.register("Tensor", "Bool", "Tensor", "Tensor")
def _add_decay_if(decay, applies, weight, gradient):
    like = gradient if isinstance(gradient, RowTensor) else weight
    return decayed(gradient, weight, F.cast(decay, _get_gradient_dtype(like))) if applies else gradient


@grad_scale.register("Number", "Tensor")
@grad_scale.register("Tensor", "Tensor")
@grad_scale.register("Tensor", "RowTensor")
def _scale_gradient(scale, gradient):
    return times(gradient, F.cast(scale, _get_gradient_dtype(gradient)) if isinstance(scale, Tensor) else scale)
