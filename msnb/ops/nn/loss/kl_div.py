"""Kullback-Leibler divergence."""

import jax.numpy as jnp

from msnb.common.kinds import OneOf
from msnb.core.operator.cases import F, U, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.loss._reduction import reduce

_Reduction = OneOf("none", "mean", "sum", "batchmean")


@operator(functional="kl_div", generation=2)
@in_float32
def KLDivLoss(logits, labels, *, reduction: _Reduction = "mean"):
    """Kullback-Leibler divergence y * (log y - x), 0 where y is 0, for log-probabilities x.

    Args:
        reduction (str): "none", "mean", "sum" or "batchmean", the sum divided by the size of axis 0. Default: "mean".

    Inputs:
        - **logits** (Tensor) - log-probabilities, float.
        - **labels** (Tensor) - probabilities, shape and type of `logits`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    op = "KLDivLoss"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    positive = labels > 0
    y = jnp.where(positive, labels, jnp.ones_like(labels))
    terms = jnp.where(positive, y * (jnp.log(y) - logits), jnp.zeros_like(logits))
    return jnp.sum(terms) / terms.shape[0] if reduction == "batchmean" else reduce(terms, reduction)


@operator
@shapes("x y: *s")
def KLDivLossGrad(x, y, doutput, *, reduction: _Reduction = "mean"):
    """Gradients of KLDivLoss with respect to both inputs."""
    return pull(lambda x, y: KLDivLoss.kernel(x, y, reduction=reduction), x, y)(doutput)


CASES = [
    case(KLDivLoss, F(4, 5), U(4, 5), reduction="none").wrt(0),
    case(KLDivLoss, F(4, 5), U(4, 5), reduction="mean").wrt(0),
    case(KLDivLoss, F(4, 5), U(4, 5), reduction="batchmean").wrt(0),
    case(KLDivLossGrad, F(4, 5), U(4, 5), F(4, 5), reduction="none").without(
        "mindspore", "it takes the cotangent first"
    ),
    refused(ValueError, KLDivLoss, reduction="x"),
]
