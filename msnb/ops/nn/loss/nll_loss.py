"""Negative log likelihood of the true class."""

import jax.numpy as jnp

from msnb.common.kinds import ConstantAt, Float, Int, is_constant
from msnb.core.operator import value_checks
from msnb.core.operator.cases import F, I, U, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn.loss._reduction import classes_of, score_of


def class_scores(op, scores, target, weight, ignore_index, label_smoothing=0.0):
    """Return the losses -weight[label] * scores[label] and the weights of examples, from log-probabilities (..., C)."""
    _check.dtype_in(op, "target", target, _check.INDEX)
    classes = scores.shape[-1]
    if tuple(target.shape) != tuple(scores.shape[:-1]):
        raise ValueError(f"For '{op}', 'target' should have shape {tuple(scores.shape[:-1])}, but got {target.shape}.")
    counted = target != ignore_index
    safe = jnp.where(counted, target, 0)
    weight = jnp.ones(classes, scores.dtype) if weight is None else weight
    factor = jnp.where(counted, jnp.take(weight, safe, mode="clip"), jnp.zeros((), weight.dtype))
    values = -factor * score_of(scores, safe)
    if not is_constant(label_smoothing, 0.0):
        smooth = -jnp.where(counted, jnp.sum(scores * weight, -1), 0)
        values = (1 - label_smoothing) * values + label_smoothing / classes * smooth
    return values, factor


def reduce_weighted(values, factor, reduction):
    """Return `values` unchanged, their sum, or their sum divided by the sum of the weights."""
    if reduction == "none":
        return values
    total = jnp.sum(values)
    return total / jnp.sum(factor) if reduction == "mean" else total


@operator(checks=[value_checks.label("labels", classes_of("logits"), "ignore_index", ValueError)])
@in_float32
def NLLLoss(logits, labels, weight, *, reduction: Reduction = "mean", ignore_index: Int = -100):
    """Negative log likelihood -weight[label] * logits[label] of each example.

    Args:
        reduction (str): "none", "mean" (weighted) or "sum". Default: "mean".
        ignore_index (int): label of examples to skip. Default: -100.

    Inputs:
        - **logits** (Tensor) - log-probabilities (N, C).
        - **labels** (Tensor) - (N,), int32 or int64.
        - **weight** (Tensor) - (C,).

    Outputs:
        Tuple of the loss (a scalar unless `reduction` is "none") and the sum of the weights of the labels that are not
        ignored.

    Raises:
        ValueError: If a label is neither in [0, C) nor `ignore_index`. A compiled graph raises it when a value is next
            read.
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
    values, factor = class_scores(op, logits, labels, weight, ignore_index)
    return reduce_weighted(values, factor, reduction), jnp.sum(factor)


@operator(
    functional="nll_loss", checks=[value_checks.label("target", classes_of("inputs"), "ignore_index")], generation=2
)
@shapes("inputs: c>0 | n c>0 *s, weight: c")
@in_float32
def _NLLLossND(
    inputs,
    target,
    weight=None,
    *,
    ignore_index: Int = -100,
    reduction: Reduction = "mean",
    label_smoothing: ConstantAt(Float, 0.0) = 0.0,
):
    """Negative log likelihood of the true class.

    Args:
        ignore_index (int): label of examples to skip. Default: -100.
        reduction (str): "none", "mean" (weighted) or "sum". Default: "mean".
        label_smoothing (float): fraction of the probability that is spread over all classes. Default: 0.0.

    Inputs:
        - **inputs** (Tensor) - log-probabilities (N, C) or (N, C, ...).
        - **target** (Tensor) - (N,) or (N, ...), int32 or int64.
        - **weight** (Tensor, optional) - (C,).

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`. A compiled graph raises it when a value is
            next read.
    """
    _check.dtype_in("nll_loss", "inputs", inputs, _check.INT | _check.FLOAT)
    inputs = floating(inputs)
    scores, weight = move_class_last(inputs), None if weight is None else weight.astype(inputs.dtype)
    values, factor = class_scores("nll_loss", scores, target, weight, ignore_index, label_smoothing)
    return reduce_weighted(values, factor, reduction)


def move_class_last(x):
    """Return (N, C, ...) as (N, ..., C)."""
    return jnp.moveaxis(x, 1, -1) if x.ndim > 1 else x


CASES = [
    case(NLLLoss, F(4, 5), I(4, low=0, high=5), U(5), reduction="none").wrt(0),
    case(NLLLoss, F(4, 5), I(4, low=0, high=5), U(5), reduction="mean").wrt(0),
    case(_NLLLossND, F(4, 5), I(4, low=0, high=5), U(5), reduction="none"),
    case(_NLLLossND, F(4, 5), I(4, low=0, high=5), U(5), reduction="mean"),
]
