"""Losses. Labels, targets' weights and masks take no gradient, as in MindSpore, unless a docstring says otherwise.

Class numbers are checked in both modes (see `core.checks`); where no error can be raised, a wrong one makes a loss NaN.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, Int
from msnb.core import checks
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._half import in_float32, widened
from msnb.ops._kinks import magnitude
from msnb.ops.nn._kinds import AboveZero, Reduction


def reduce(values, reduction):
    """`values` as they are, their mean or their sum."""
    if reduction == "none":
        return values
    return jnp.mean(values) if reduction == "mean" else jnp.sum(values)


def classes_of(scores):
    """The number of classes of scores (C,), (N, C) or (N, C, ...), for a check of labels; `scores` is their input."""

    def classes(given):
        shape = np.shape(given[scores])
        return shape[1] if len(shape) > 1 else (shape or (1,))[0]

    return classes


def check_labels(op, labels, classes, ignored=None):
    """Check class numbers where no operator of their own does.

    Args:
        op (str): Who asks, for the message.
        labels (Tensor): The labels, int.
        classes (int): The number of classes.
        ignored (int): A label that does not count. Default: None.

    Raises:
        RuntimeError: If one is no class; in a compiled graph when it has run.
    """
    checks.examine(op, _LABELS, checks.Range(labels._array, classes, 0, ignored))


_LABELS = checks.label("labels", None)


def score_of(scores, labels):
    """The score (..., C) of each label (...), NaN for a label that is no class."""
    labels = jnp.where(labels < 0, scores.shape[-1], labels)
    return jnp.take_along_axis(scores, labels[..., None], axis=-1, mode="fill")[..., 0]


@jax.custom_jvp
def _cross_entropy(logits, labels):
    """-sum(labels * log_softmax(logits)) along the last axis."""
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


@_cross_entropy.defjvp
def _cross_entropy_jvp(primals, tangents):
    # softmax - labels whatever the labels sum to: MindSpore's gradient, which is the true one when they sum to 1.
    logits, labels = primals
    return _cross_entropy(logits, labels), jnp.sum((jax.nn.softmax(logits) - labels) * tangents[0], axis=-1)


@operator
@in_float32
def SoftmaxCrossEntropyWithLogits(logits, labels):
    """Cross entropy of softmax(logits) with a distribution for each example, and its gradient.

    Inputs:
        - **logits** (Tensor) - (N, C), float.
        - **labels** (Tensor) - (N, C), type of `logits`; each row a distribution. Takes no gradient.

    Outputs:
        Tuple of the loss (N,) and its gradient with respect to `logits` (N, C).

    Raises:
        TypeError: If the types differ or are not float.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss, dlogits = ops.SoftmaxCrossEntropyWithLogits()(Tensor([[2.0, 4.0]]), Tensor([[0.0, 1.0]]))
        >>> print(loss)
        [0.12692805]
    """
    op = "SoftmaxCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    labels = lax.stop_gradient(labels)
    return _cross_entropy(logits, labels), jax.nn.softmax(logits) - labels


@operator(checks=[checks.label("labels", classes_of("logits"))])
@in_float32
def SparseSoftmaxCrossEntropyWithLogits(logits, labels, *, is_grad: Bool = False):
    """Mean cross entropy of softmax(logits) with the number of the right class, or its gradient.

    Args:
        is_grad (bool): True returns the gradient instead of the loss. Default: False.

    Inputs:
        - **logits** (Tensor) - (N, C), float.
        - **labels** (Tensor) - (N,), int32 or int64.

    Outputs:
        Tensor, the mean loss, a scalar; with `is_grad` the gradient with respect to `logits`, (N, C).

    Raises:
        TypeError: If a type is wrong.
        ValueError: If the shapes do not fit.
        RuntimeError: If a label is not in [0, C); in a compiled graph at the next look at a value.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "SparseSoftmaxCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.dtype_in(op, "labels", labels, _check.INDEX)
    if logits.ndim != 2 or tuple(labels.shape) != tuple(logits.shape[:1]):
        raise ValueError(
            f"For '{op}', 'logits' should have shape (N, C) and 'labels' (N,), but got {logits.shape} and "
            f"{labels.shape}."
        )
    if is_grad:
        chosen = jax.nn.one_hot(labels, logits.shape[1], dtype=logits.dtype)
        return (jax.nn.softmax(logits) - chosen) / logits.shape[0]
    return -jnp.mean(score_of(jax.nn.log_softmax(logits), labels))


@operator
@in_float32
def SigmoidCrossEntropyWithLogits(logits, label):
    """Cross entropy of sigmoid(logits) with a probability for each element.

    Inputs:
        - **logits** (Tensor) - any shape, float.
        - **label** (Tensor) - shape and type of `logits`. Takes no gradient.

    Outputs:
        Tensor, shape and type of `logits`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "SigmoidCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, label=label)
    _check.same_shape(op, logits=logits, label=label)
    return jnp.logaddexp(logits, jnp.zeros_like(logits)) - logits * lax.stop_gradient(label)


@operator
@in_float32
def BCEWithLogitsLoss(logits, label, weight, pos_weight, *, reduction: Reduction = "mean"):
    """Weighted cross entropy of sigmoid(logits) with a probability for each element.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **logits** (Tensor) - any shape, float.
        - **label** (Tensor) - shape of `logits`.
        - **weight** (Tensor) - broadcasts to `logits`; multiplies each loss.
        - **pos_weight** (Tensor) - broadcasts to `logits`; multiplies the positive part.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "BCEWithLogitsLoss"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_shape(op, logits=logits, label=label)
    zero = jnp.zeros_like(logits)
    positive, negative = jnp.logaddexp(-logits, zero), jnp.logaddexp(logits, zero)
    return reduce(weight * (pos_weight * label * positive + (1 - label) * negative), reduction).astype(logits.dtype)


@operator(functional="binary_cross_entropy")
def BinaryCrossEntropy(logits, labels, weight=None, *, reduction: Reduction = "mean"):
    """-weight * (y log(x) + (1 - y) log(1 - x)) for probabilities x.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **logits** (Tensor) - probabilities in (0, 1), float.
        - **labels** (Tensor) - shape and type of `logits`. Takes no gradient.
        - **weight** (Tensor, optional) - shape and type of `logits`. Takes no gradient.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "BinaryCrossEntropy"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    if weight is not None:
        _check.same_shape(op, logits=logits, weight=weight)
        weight = lax.stop_gradient(weight)
    values = _binary_cross_entropy(widened(logits), lax.stop_gradient(widened(labels)))
    # A weight in float32 beside half precision gives a loss in float32.
    kind = logits.dtype if weight is None else jnp.result_type(logits, weight)
    return reduce(values if weight is None else weight * values, reduction).astype(kind)


_TINY = 1e-12  # keeps log() finite; smaller than float32 resolves near 1


@jax.custom_jvp
def _binary_cross_entropy(x, y):
    return -(y * jnp.log(jnp.maximum(x, _TINY)) + (1 - y) * jnp.log(jnp.maximum(1 - x, _TINY)))


@_binary_cross_entropy.defjvp
def _binary_cross_entropy_jvp(primals, tangents):
    x, y = primals
    return _binary_cross_entropy(x, y), (x - y) / jnp.maximum(x * (1 - x), _TINY) * tangents[0]


@operator(functional="kl_div")
@in_float32
def KLDivLoss(logits, labels, *, reduction: Reduction = "mean"):
    """Kullback-Leibler divergence y * (log y - x), 0 where y is 0, for log-probabilities x.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **logits** (Tensor) - log-probabilities, float.
        - **labels** (Tensor) - probabilities, shape and type of `logits`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "KLDivLoss"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    positive = labels > 0
    y = jnp.where(positive, labels, jnp.ones_like(labels))
    return reduce(jnp.where(positive, y * (jnp.log(y) - logits), jnp.zeros_like(logits)), reduction)


@operator
@in_float32
def SmoothL1Loss(prediction, target, *, beta: AboveZero = 1.0):
    """0.5 d^2 / beta where |d| < beta, |d| - 0.5 beta elsewhere, for d = prediction - target.

    Args:
        beta (float): where the parabola ends. Default: 1.0.

    Inputs:
        - **prediction** (Tensor) - any shape, float.
        - **target** (Tensor) - shape and type of `prediction`.

    Outputs:
        Tensor, shape and type of `prediction`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "SmoothL1Loss"
    _check.dtype_in(op, "prediction", prediction, _check.FLOAT)
    _check.same_dtype(op, prediction=prediction, target=target)
    _check.same_shape(op, prediction=prediction, target=target)
    d = prediction - target
    size = magnitude(d)
    return jnp.where(size < beta, 0.5 * d * d / beta, size - 0.5 * beta)


@operator(checks=[checks.label("labels", classes_of("logits"), "ignore_index", ValueError)])
@in_float32
def NLLLoss(logits, labels, weight, *, reduction: Reduction = "mean", ignore_index: Int = -100):
    """Negative log likelihood -weight[label] * logits[label] of each example.

    Args:
        reduction (str): "none", "mean" (weighted) or "sum". Default: "mean".
        ignore_index (int): examples with this label count nothing. Default: -100.

    Inputs:
        - **logits** (Tensor) - log-probabilities (N, C).
        - **labels** (Tensor) - (N,), int32 or int64.
        - **weight** (Tensor) - (C,).

    Outputs:
        Tuple of the loss (a scalar unless `reduction` is "none") and the sum of the weights that counted.

    Raises:
        ValueError: If a label is neither in [0, C) nor `ignore_index`; in a compiled graph at the next look at a value.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "NLLLoss"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    _check.dtype_in(op, "labels", labels, _check.INDEX)
    _check.rank(op, "logits", logits, 2)
    if tuple(labels.shape) != logits.shape[:1] or tuple(weight.shape) != logits.shape[1:]:
        raise ValueError(
            f"For '{op}', 'logits' (N, C) needs 'labels' (N,) and 'weight' (C,), but got {logits.shape}, "
            f"{labels.shape} and {weight.shape}."
        )
    counted = labels != ignore_index
    safe = jnp.where(counted, labels, 0)
    factor = jnp.where(counted, jnp.take(weight, safe, mode="clip"), jnp.zeros((), weight.dtype))
    values = -factor * score_of(logits, safe)
    total = jnp.sum(factor)
    if reduction == "none":
        return values, total
    loss = jnp.sum(values)
    return (loss / total if reduction == "mean" else loss), total


@operator
@in_float32
def L2Loss(input_x):
    """Half the sum of squares.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, a scalar in the type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("L2Loss", "input_x", input_x, _check.FLOAT)
    return jnp.sum(input_x * input_x) / 2
