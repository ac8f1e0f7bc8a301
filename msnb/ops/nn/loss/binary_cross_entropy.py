"""Binary cross entropy of each element, from logits or probabilities."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from msnb.core.operator.cases import F, U, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32, widened
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.activation.softplus import log_one_plus_exp
from msnb.ops.nn.loss._reduction import reduce


@operator
@in_float32
def SigmoidCrossEntropyWithLogits(logits, label):
    """Binary cross entropy of sigmoid(logits) and the target probability of each element.

    Inputs:
        - **logits** (Tensor) - any shape, float.
        - **label** (Tensor) - shape and type of `logits`. Takes no gradient.

    Outputs:
        Tensor, shape and type of `logits`.
    """
    op = "SigmoidCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, label=label)
    _check.same_shape(op, logits=logits, label=label)
    return log_one_plus_exp(logits) - logits * lax.stop_gradient(label)


@operator
@shapes("x y dout: *s")
def SigmoidCrossEntropyWithLogitsGrad(x, y, dout):
    """Gradient of SigmoidCrossEntropyWithLogits with respect to the logits."""
    return (lax.logistic(x) - y) * dout


@operator(functional="binary_cross_entropy_with_logits", called=("input", "target"), generation=2)
@shapes("logits label: *s, weight pos_weight: <s")
@in_float32
def BCEWithLogitsLoss(logits, label, weight=None, pos_weight=None, *, reduction: Reduction = "mean"):
    """Weighted binary cross entropy of sigmoid(logits) and the target probability of each element.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **logits** (Tensor) - any shape, float.
        - **label** (Tensor) - shape of `logits`.
        - **weight** (Tensor, optional) - broadcasts to `logits`; multiplies each loss.
        - **pos_weight** (Tensor, optional) - broadcasts to `logits`; multiplies the positive part.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    op = "BCEWithLogitsLoss"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_shape(op, logits=logits, label=label)
    x, y = widened(logits), widened(label)  # `in_float32` casts nothing if a weight is float32
    positive = y * log_one_plus_exp(-x)
    values = (positive if pos_weight is None else pos_weight * positive) + (1 - y) * log_one_plus_exp(x)
    return reduce(values if weight is None else weight * values, reduction).astype(logits.dtype)


@operator(functional="binary_cross_entropy", generation=2)
def BinaryCrossEntropy(logits, labels, weight=None, *, reduction: Reduction = "mean"):
    """-weight * (y log(x) + (1 - y) log(1 - x)) for probabilities x.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **logits** (Tensor) - probabilities in (0, 1), float.
        - **labels** (Tensor) - shape and type of `logits`.
        - **weight** (Tensor, optional) - shape and type of `logits`. Takes no gradient.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    op = "BinaryCrossEntropy"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    if weight is not None:
        _check.same_shape(op, logits=logits, weight=weight)
        weight = lax.stop_gradient(weight)
    values = _binary_cross_entropy(widened(logits), widened(labels))
    # Half-precision logits with a float32 weight give a float32 loss.
    kind = logits.dtype if weight is None else jnp.result_type(logits, weight)
    return reduce(values if weight is None else weight * values, reduction).astype(kind)


_TINY = 1e-12  # keeps log() finite; it is below the resolution of float32 near 1


@jax.custom_jvp
def _binary_cross_entropy(x, y):
    return -(y * jnp.log(jnp.maximum(x, _TINY)) + (1 - y) * jnp.log(jnp.maximum(1 - x, _TINY)))


@functools.partial(_binary_cross_entropy.defjvp, symbolic_zeros=True)
def _binary_cross_entropy_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    change = jnp.zeros_like(x)
    if not isinstance(dx, SymbolicZero):
        change = (x - y) / jnp.maximum(x * (1 - x), _TINY) * dx
    if not isinstance(dy, SymbolicZero):
        change += (jnp.log(jnp.maximum(1 - x, _TINY)) - jnp.log(jnp.maximum(x, _TINY))) * dy
    return _binary_cross_entropy(x, y), change


@operator
def BinaryCrossEntropyGrad(x, y, doutput, weight=None, *, reduction: Reduction = "mean"):
    """Gradient of BinaryCrossEntropy with respect to the probabilities."""
    return pull(lambda x: BinaryCrossEntropy.kernel(x, y, weight, reduction=reduction), x)(doutput)[0]


CASES = [
    case(SigmoidCrossEntropyWithLogits, F(4, 5, low=-8, high=8), U(4, 5)).wrt(0),
    case(SigmoidCrossEntropyWithLogitsGrad, F(4, 5), U(4, 5), F(4, 5)),
    case(BCEWithLogitsLoss, F(4, 5), U(4, 5), U(4, 5), U(4, 5), reduction="none").wrt(0, 1),
    case(BCEWithLogitsLoss, F(4, 5), U(4, 5), U(4, 5), U(4, 5), reduction="mean").wrt(0, 1),
    case(BinaryCrossEntropy, U(4, 5, low=0.05, high=0.95), U(4, 5), U(4, 5), reduction="none").wrt(0, 1),
    case(BinaryCrossEntropy, U(4, 5, low=0.05, high=0.95), U(4, 5), U(4, 5), reduction="mean").wrt(0, 1),
    case(BinaryCrossEntropyGrad, U(4, 5, low=0.05, high=0.95), U(4, 5), F(4, 5), U(4, 5), reduction="none").wrt(0, 2),
]
