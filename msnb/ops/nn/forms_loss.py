"""2.x's functional losses."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Float, Int, PositiveFloat, check, is_constant
from msnb.core.checks import label
from msnb.core.declare import operator
from msnb.core.dtype import promote
from msnb.core.operator import REGISTRY
from msnb.ops import _check
from msnb.ops._half import in_float32
from msnb.ops._host import functional
from msnb.ops._kinks import larger, magnitude, smaller
from msnb.ops.nn import loss
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn.ctc import ctc_nll, lengths, spelled


def _pair(op, x, y):
    _check.tensor_only(op, "input", x)
    return promote(x, y, op)


@operator(functional="mse_loss")
@in_float32
def MSELoss(input, target, *, reduction: Reduction = "mean"):
    """(input - target)^2.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = _pair("mse_loss", input, target)
    return loss.reduce(jnp.square(x - y), reduction)


@operator(functional="l1_loss")
@in_float32
def L1Loss(input, target, *, reduction: Reduction = "mean"):
    """|input - target|.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = _pair("l1_loss", input, target)
    return loss.reduce(magnitude(x - y), reduction)


@functional("smooth_l1_loss")
def smooth_l1_loss(input, target, beta=1.0, reduction="none"):
    """0.5 d^2 / beta where |d| < beta, |d| - 0.5 beta elsewhere, for d = input - target.

    Args:
        input (Tensor): Any shape, float.
        target (Tensor): Shape and type of `input`.
        beta (number): Where the parabola ends. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "none".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    values = _smooth_l1(input, target, check(Float, beta, "beta", "smooth_l1_loss"))
    return _reduced("smooth_l1_loss", values, reduction)


def _reduced(name, values, reduction):
    reduction = Reduction(reduction, "reduction", name)
    return values if reduction == "none" else values.mean() if reduction == "mean" else values.sum()


@operator(functional="huber_loss")
@in_float32
def HuberLoss(input, target, *, reduction: Reduction = "mean", delta: PositiveFloat = 1.0):
    """0.5 d^2 where |d| < delta, delta (|d| - 0.5 delta) elsewhere, for d = input - target.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".
        delta (float): where the parabola ends. Default: 1.0.

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = _pair("huber_loss", input, target)
    d = x - y
    size = magnitude(d)
    return loss.reduce(jnp.where(size < delta, 0.5 * d * d, delta * (size - 0.5 * delta)), reduction)


@functional("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(logits, label, weight=None, pos_weight=None, reduction="mean"):
    """Weighted cross entropy of sigmoid(logits) with a probability for each element.

    Args:
        logits (Tensor): Any shape, float.
        label (Tensor): Shape of `logits`.
        weight (Tensor): Broadcasts to `logits`; multiplies each loss. Default: None, 1.
        pos_weight (Tensor): Broadcasts to `logits`; multiplies the positive part. Default: None, 1.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _bce_logits(
        logits, label, 1.0 if weight is None else weight, 1.0 if pos_weight is None else pos_weight, reduction
    )


def _class_last(x):
    """(N, C, ...) as (N, ..., C)."""
    return jnp.moveaxis(x, 1, -1) if x.ndim > 1 else x


def _nll(op, scores, target, weight, ignore_index, reduction, label_smoothing):
    _check.dtype_in(op, "target", target, _check.INDEX)
    classes = scores.shape[-1]
    if tuple(target.shape) != tuple(scores.shape[:-1]):
        raise ValueError(f"For '{op}', 'target' should have shape {tuple(scores.shape[:-1])}, but got {target.shape}.")
    counted = target != ignore_index
    safe = jnp.where(counted, target, 0)
    weight = jnp.ones(classes, scores.dtype) if weight is None else weight.astype(scores.dtype)
    factor = jnp.where(counted, jnp.take(weight, safe, mode="clip"), jnp.zeros((), scores.dtype))
    values = -factor * loss.score_of(scores, safe)
    if not is_constant(label_smoothing, 0.0):
        smooth = -jnp.where(counted, jnp.sum(scores * weight, -1), 0)
        values = (1 - label_smoothing) * values + label_smoothing / classes * smooth
    if reduction == "none":
        return values
    total = jnp.sum(values)
    return total / jnp.sum(factor) if reduction == "mean" else total


@operator(functional="nll_loss", checks=[label("target", loss.classes_of("inputs"), "ignore_index")])
@in_float32
def NLLLossForm(
    inputs,
    target,
    weight=None,
    *,
    ignore_index: Int = -100,
    reduction: Reduction = "mean",
    label_smoothing: ConstantAt(Float, 0.0) = 0.0,
):
    """Negative log likelihood of the right class.

    Args:
        ignore_index (int): examples with this label count nothing. Default: -100.
        reduction (str): "none", "mean" (weighted) or "sum". Default: "mean".
        label_smoothing (float): share of the probability spread over all classes. Default: 0.0.

    Inputs:
        - **inputs** (Tensor) - log-probabilities (N, C) or (N, C, ...).
        - **target** (Tensor) - (N,) or (N, ...), int32 or int64.
        - **weight** (Tensor, optional) - (C,).

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`; in a compiled graph at the next look at a
            value.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("nll_loss", "inputs", inputs, _check.FLOAT)
    return _nll("nll_loss", _class_last(inputs), target, weight, ignore_index, reduction, label_smoothing)


@operator(functional="cross_entropy", checks=[label("target", loss.classes_of("input"), "ignore_index")])
@in_float32
def CrossEntropy(
    input,
    target,
    weight=None,
    *,
    ignore_index: Int = -100,
    reduction: Reduction = "mean",
    label_smoothing: ConstantAt(Float, 0.0) = 0.0,
):
    """Cross entropy of softmax(input) with the number, or a distribution, of the right class.

    Args:
        ignore_index (int): examples with this label count nothing. Default: -100.
        reduction (str): "none", "mean" or "sum". Default: "mean".
        label_smoothing (float): share of the probability spread over all classes. Default: 0.0.

    Inputs:
        - **input** (Tensor) - logits (C,), (N, C) or (N, C, ...).
        - **target** (Tensor) - numbers of classes without axis C, int32 or int64; or probabilities, shape of `input`.
        - **weight** (Tensor, optional) - (C,).

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`; in a compiled graph at the next look at a
            value.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "cross_entropy"
    _check.dtype_in(op, "input", input, _check.FLOAT)
    scores = jax.nn.log_softmax(_class_last(input))
    if target.dtype in _check.INDEX:
        return _nll(op, scores, target, weight, ignore_index, reduction, label_smoothing)
    _check.same_shape(op, input=input, target=target)
    shares = _class_last(target)
    shares = shares * (1 - label_smoothing) + label_smoothing / scores.shape[-1]
    values = -jnp.sum(shares * scores * (1.0 if weight is None else weight), -1)
    if reduction == "none":
        return values
    return jnp.sum(values) / max(values.size, 1) if reduction == "mean" else jnp.sum(values)


@operator(functional="margin_ranking_loss")
@in_float32
def MarginRankingLoss(input1, input2, target, *, margin: Float = 0.0, reduction: Reduction = "mean"):
    """max(0, -target * (input1 - input2) + margin).

    Args:
        margin (float): by how much the better should lead. Default: 0.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input1**, **input2** (Tensor) - any shape, float.
        - **target** (Tensor) - 1 where the first should be larger, -1 where the second.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return loss.reduce(larger(-target * (input1 - input2) + margin, 0), reduction)


@operator(functional="hinge_embedding_loss")
@in_float32
def HingeEmbeddingLoss(inputs, targets, *, margin: Float = 1.0, reduction: Reduction = "mean"):
    """x where the target is 1, max(0, margin - x) where it is -1.

    Args:
        margin (float): up to where others are pushed away. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **inputs** (Tensor) - distances.
        - **targets** (Tensor) - 1 or -1, shape of `inputs`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    zero = jnp.zeros_like(inputs)
    return loss.reduce(
        jnp.where(targets == 1, inputs, zero) + jnp.where(targets == -1, larger(margin - inputs, 0), zero), reduction
    )


@operator(functional="soft_margin_loss")
@in_float32
def SoftMarginLoss(input, target, *, reduction: Reduction = "mean"):
    """log(1 + exp(-target * input)).

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input** (Tensor) - any shape, float.
        - **target** (Tensor) - 1 or -1, shape of `input`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.same_shape("soft_margin_loss", input=input, target=target)
    return loss.reduce(jnp.logaddexp(-target * input, jnp.zeros_like(input)), reduction)


@operator(functional="cosine_embedding_loss")
@in_float32
def CosineEmbeddingLoss(input1, input2, target, *, margin: Float = 0.0, reduction: Reduction = "mean"):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1.

    Args:
        margin (float): cosine up to which others are left alone, in [-1, 1]. Default: 0.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input1**, **input2** (Tensor) - (N, D) or more dimensions; axis 1 is the vector.
        - **target** (Tensor) - (N,), 1 or -1.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    eps = jnp.finfo(input1.dtype).eps
    square = lambda v: jnp.sum(v * v, 1) + eps
    cos = jnp.sum(input1 * input2, 1) / jnp.sqrt(square(input1) * square(input2))
    zero = jnp.zeros_like(cos)
    return loss.reduce(
        jnp.where(target == 1, 1 - cos, zero) + jnp.where(target == -1, larger(cos - margin, 0), zero), reduction
    )


@operator(functional="triplet_margin_loss")
@in_float32
def TripletMarginLoss(
    anchor,
    positive,
    negative,
    *,
    margin: Float = 1.0,
    p: ConstantAt(Float, 1.0, 2.0) = 2.0,
    eps: Float = 1e-6,
    swap: Bool = False,
    reduction: Reduction = "mean",
):
    """max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last axis.

    Args:
        margin (float): by how much the negative should be farther. Default: 1.0.
        p (int): degree of the norm. Default: 2.
        eps (float): added to differences. Default: 1e-6.
        swap (bool): whether the negative may instead be measured from the positive, if closer. Default: False.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **anchor**, **positive**, **negative** (Tensor) - (N, D).

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    distance = lambda a, b: jnp.sum(magnitude(a - b + eps) ** p, -1) ** (1 / p)
    far = distance(anchor, negative)
    if swap:
        far = smaller(far, distance(positive, negative))
    return loss.reduce(larger(distance(anchor, positive) - far + margin, 0), reduction)


@operator(functional="gaussian_nll_loss")
@in_float32
def GaussianNLLLoss(x, target, var, *, full: Bool = False, eps: Float = 1e-6, reduction: Reduction = "mean"):
    """Negative log likelihood of targets under normal distributions with means x and variances var.

    Args:
        full (bool): whether the constant log(2 pi) / 2 is included. Default: False.
        eps (float): least variance. Default: 1e-6.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **x** (Tensor) - means.
        - **target** (Tensor) - shape of `x`.
        - **var** (Tensor) - variances, broadcast to `x`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    var = jnp.maximum(var, eps)
    values = 0.5 * (jnp.log(var) + jnp.square(x - target) / var)
    return loss.reduce(values + 0.9189385332046727 if full else values, reduction)


@operator(
    functional="ctc_loss",
    checks=[
        spelled("targets", "target_lengths", "log_probs", 2),
        lengths("input_lengths", "log_probs", 0),
        lengths("target_lengths", "targets", 1),
    ],
)
@in_float32
def CTCLossV2Form(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    *,
    blank: Int = 0,
    reduction: Reduction = "mean",
    zero_infinity: Bool = False,
):
    """Connectionist temporal classification loss of log-probabilities (Graves et al., 2006).

    Args:
        blank (int): the blank. Default: 0.
        reduction (str): "none", "mean" (each divided by its length first) or "sum". Default: "mean".
        zero_infinity (bool): whether impossible examples give 0. Default: False.

    Inputs:
        - **log_probs** (Tensor) - (T, N, C).
        - **targets** (Tensor) - (N, S), int.
        - **input_lengths**, **target_lengths** (Tensor) - (N,), int.

    Outputs:
        Tuple of the loss, a scalar unless `reduction` is "none", and the logarithms of the forward variables
        (N, T, 2 S + 1).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("ctc_loss", "log_probs", log_probs, 3)
    _check.rank("ctc_loss", "targets", targets, 2)
    places = jnp.arange(targets.shape[1])
    rows = jnp.where(places < target_lengths[:, None], targets, blank).astype(jnp.int32)
    values, alpha = ctc_nll(log_probs, rows, target_lengths.astype(jnp.int32), input_lengths, blank, history=True)
    impossible = values > 1e29
    values = jnp.where(impossible, jnp.zeros_like(values) if zero_infinity else jnp.inf, values)
    if reduction == "mean":
        values = values / jnp.maximum(target_lengths, 1)
    alpha = lax.stop_gradient(jnp.where(alpha < -1e29, -jnp.inf, alpha))
    return loss.reduce(values, reduction), alpha


_smooth_l1 = REGISTRY["SmoothL1Loss"].functional
_bce_logits = REGISTRY["BCEWithLogitsLoss"].functional
