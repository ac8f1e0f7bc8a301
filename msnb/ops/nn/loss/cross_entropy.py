"""Cross entropy of classes, from logits or log-probabilities."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Float, Int
from msnb.core.operator import value_checks
from msnb.core.operator.cases import F, I, U, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn.loss._reduction import check_class_numbers, classes_of, score_of
from msnb.ops.nn.loss.nll_loss import class_scores, move_class_last, reduce_weighted


@jax.custom_jvp
def _cross_entropy(logits, labels):
    """Return -sum(labels * log_softmax(logits)) along the last axis."""
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


@_cross_entropy.defjvp
def _cross_entropy_jvp(primals, tangents):
    # The gradient is softmax - labels, as in MindSpore. It is exact only if the labels of an example sum to 1.
    logits, labels = primals
    return _cross_entropy(logits, labels), jnp.sum((jax.nn.softmax(logits) - labels) * tangents[0], axis=-1)


@operator
@in_float32
def SoftmaxCrossEntropyWithLogits(logits, labels):
    """Cross entropy of softmax(logits) and the target distribution of each example, and the gradient of the loss.

    Inputs:
        - **logits** (Tensor) - (N, C), float.
        - **labels** (Tensor) - (N, C), type of `logits`; each row a distribution. Takes no gradient.

    Outputs:
        Tuple of the loss (N,) and its gradient with respect to `logits` (N, C).

    Raises:
        TypeError: If the types differ or are not float.
        ValueError: If the shapes differ.

    Examples:
        >>> loss, dlogits = ops.SoftmaxCrossEntropyWithLogits()(Tensor([[2.0, 4.0]]), Tensor([[0.0, 1.0]]))
        >>> print(loss)
        [0.12692805]
    """
    op = "SoftmaxCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    if labels.dtype in _check.INT and labels.ndim < logits.ndim:
        raise TypeError(
            f"For '{op}', 'labels' should be probabilities, {_check.dtype_name(logits)} of shape {logits.shape}, but "
            f"got {_check.dtype_name(labels)} of shape {labels.shape}; these look like class numbers, which "
            f"nn.SoftmaxCrossEntropyWithLogits(sparse=True) takes."
        )
    _check.same_dtype(op, logits=logits, labels=labels)
    _check.same_shape(op, logits=logits, labels=labels)
    labels = lax.stop_gradient(labels)
    return _cross_entropy(logits, labels), jax.nn.softmax(logits) - labels


@operator(checks=[value_checks.label("labels", lambda inputs: (np.shape(inputs["logits"]) or (1,))[-1])])
@shapes("logits: ... _")
@in_float32
def SparseSoftmaxCrossEntropyWithLogits(logits, labels, *, is_grad: Bool = False):
    """Mean of -log softmax(logits)[label] over all examples, or the gradient of this loss.

    Args:
        is_grad (bool): True returns the gradient instead of the loss. Default: False.

    Inputs:
        - **logits** (Tensor) - (N, ..., C), float.
        - **labels** (Tensor) - (N, ...), int32 or int64.

    Outputs:
        Tensor, the mean loss, a scalar; with `is_grad` the gradient with respect to `logits`, of their shape.

    Raises:
        TypeError: If a type is wrong.
        ValueError: If the shapes do not fit.
        RuntimeError: If a label is not in [0, C). A compiled graph raises it when a value is next read.
    """
    op = "SparseSoftmaxCrossEntropyWithLogits"
    _check.dtype_in(op, "logits", logits, _check.FLOAT)
    check_class_numbers(op, labels, logits.shape[-1])
    if logits.ndim < 2 or tuple(labels.shape) != tuple(logits.shape[:-1]):
        raise ValueError(
            f"For '{op}', 'logits' should have shape (N, ..., C) and 'labels' (N, ...), but got {logits.shape} and "
            f"{labels.shape}."
        )
    if is_grad:
        chosen = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
        return (jax.nn.softmax(logits) - chosen) / labels.size
    return -jnp.mean(score_of(jax.nn.log_softmax(logits), labels))


@operator(
    functional="cross_entropy", checks=[value_checks.label("target", classes_of("input"), "ignore_index")], generation=2
)
@shapes("input: c>0 | n c>0 *s, weight: c")
@in_float32
def _CrossEntropy(
    input,
    target,
    weight=None,
    *,
    ignore_index: Int = -100,
    reduction: Reduction = "mean",
    label_smoothing: ConstantAt(Float, 0.0) = 0.0,
):
    """Cross entropy of softmax(input) and the target: a class index, or a distribution of classes.

    Args:
        ignore_index (int): label of examples to skip. Default: -100.
        reduction (str): "none", "mean" or "sum". Default: "mean".
        label_smoothing (float): fraction of the probability that is spread over all classes. Default: 0.0.

    Inputs:
        - **input** (Tensor) - logits (C,), (N, C) or (N, C, ...).
        - **target** (Tensor) - class indices, shape of `input` without axis C, int32 or int64; or probabilities, shape
          of `input`.
        - **weight** (Tensor, optional) - (C,).

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`. A compiled graph raises it when a value is
            next read.
    """
    op = "cross_entropy"
    _check.dtype_in(op, "input", input, _check.FLOAT)
    scores = jax.nn.log_softmax(move_class_last(input))
    if target.dtype in _check.INDEX:
        weight = None if weight is None else weight.astype(scores.dtype)
        values, factor = class_scores(op, scores, target, weight, ignore_index, label_smoothing)
        return reduce_weighted(values, factor, reduction)
    _check.same_shape(op, input=input, target=target)
    shares = move_class_last(target)
    shares = shares * (1 - label_smoothing) + label_smoothing / scores.shape[-1]
    values = -jnp.sum(shares * scores * (1.0 if weight is None else weight), -1)
    if reduction == "none":
        return values
    return jnp.sum(values) / max(values.size, 1) if reduction == "mean" else jnp.sum(values)


CASES = [
    case(SoftmaxCrossEntropyWithLogits, F(4, 5), U(4, 5))
    .wrt(of=0)
    .without("differences", "it is that of labels that sum to 1"),
    case(SparseSoftmaxCrossEntropyWithLogits, F(4, 5), I(4, low=0, high=5)),
    case(SparseSoftmaxCrossEntropyWithLogits, F(4, 5), I(4, low=0, high=5), is_grad=True).without(
        "gradient", "MindSpore gives one of another shape"
    ),
    case(_CrossEntropy, F(4, 5), I(4, low=0, high=5), reduction="none"),
    case(_CrossEntropy, F(2, 5, 3), I(2, 3, low=0, high=5), U(5), ignore_index=2, label_smoothing=0.1),
    case(_CrossEntropy, F(4, 5), U(4, 5)),
    refused(ValueError, SoftmaxCrossEntropyWithLogits, F(2, 3), F(3)),
]
