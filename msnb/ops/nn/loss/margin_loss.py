"""Losses with a margin: 0 for examples that are far enough apart."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, ConstantAt, Float, OneOf, check
from msnb.core.operator import value_checks
from msnb.core.operator.cases import F, I, U, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import larger, magnitude, smaller
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn.activation.softplus import log_one_plus_exp
from msnb.ops.nn.loss._reduction import classes_of, reduce


@operator(functional="margin_ranking_loss", generation=2)
@shapes("input1 input2 target: ~s")
@in_float32
def _MarginRankingLoss(input1, input2, target, *, margin: Float = 0.0, reduction: Reduction = "mean"):
    """max(0, -target * (input1 - input2) + margin).

    Args:
        margin (float): the loss is 0 if target * (input1 - input2) is at least this. Default: 0.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input1**, **input2** (Tensor) - any shape, float.
        - **target** (Tensor) - 1 where the first should be larger, -1 where the second.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    lead = floating(target) * (floating(input1) - floating(input2))
    return reduce(larger(-lead + margin, 0), reduction)


@operator(functional="hinge_embedding_loss", generation=2)
@shapes("inputs targets: ~s")
@in_float32
def _HingeEmbeddingLoss(inputs, targets, *, margin: Float = 1.0, reduction: Reduction = "mean"):
    """x where the target is 1, max(0, margin - x) where it is -1.

    Args:
        margin (float): the loss of an example with target -1 is 0 if x is at least this. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **inputs** (Tensor) - distances.
        - **targets** (Tensor) - 1 or -1, shape of `inputs`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    zero = jnp.zeros_like(inputs)
    return reduce(
        jnp.where(targets == 1, inputs, zero) + jnp.where(targets == -1, larger(margin - inputs, 0), zero), reduction
    )


@operator(functional="soft_margin_loss", generation=2)
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
    """
    _check.same_shape("SoftMarginLoss", input=input, target=target)
    return reduce(log_one_plus_exp(-target * input), reduction)


@operator(functional="cosine_embedding_loss", generation=2)
@shapes("input1 input2: n d *r, target: n *r")
@in_float32
def _CosineEmbeddingLoss(input1, input2, target, *, margin: Float = 0.0, reduction: Reduction = "mean"):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1.

    Args:
        margin (float): in [-1, 1]; the loss of a pair with target -1 is 0 if its cosine is at most this. Default: 0.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input1**, **input2** (Tensor) - (N, D) or more dimensions; axis 1 is the vector.
        - **target** (Tensor) - (N,), 1 or -1.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    input1, input2 = floating(input1), floating(input2)
    square = lambda v: jnp.sum(v * v, 1)
    cos = jnp.sum(input1 * input2, 1) / jnp.sqrt(square(input1) * square(input2))
    zero = jnp.zeros_like(cos)
    return reduce(
        jnp.where(target == 1, 1 - cos, zero) + jnp.where(target == -1, larger(cos - margin, 0), zero), reduction
    )


@operator
@shapes("x positive negative: ~s")
@in_float32
def TripletMarginLoss(
    x,
    positive,
    negative,
    margin,
    *,
    p: ConstantAt(Float, 1.0, 2.0) = 2.0,
    swap: Bool = False,
    eps: Float = 1e-6,
    reduction: Reduction = "mean",
):
    """max(0, |x - positive| - |x - negative| + margin) with p-norms over the last axis.

    Args:
        p (int): degree of the norm. Default: 2.
        swap (bool): whether to use |positive - negative| if it is less than |x - negative|. Default: False.
        eps (float): added to differences. Default: 1e-6.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **x**, **positive**, **negative** (Tensor) - (N, D).
        - **margin** (Union[Tensor, float]) - the loss is 0 if |x - negative| exceeds |x - positive| by at least this.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    distance = lambda a, b: jnp.sum(magnitude(a - b + eps) ** p, -1) ** (1 / p)
    far = distance(x, negative)
    if swap:
        far = smaller(far, distance(positive, negative))
    return reduce(larger(distance(x, positive) - far + margin, 0), reduction)


@spelling(TripletMarginLoss)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last axis.

    Args:
        anchor (Tensor): (N, D).
        positive (Tensor): (N, D).
        negative (Tensor): (N, D).
        margin (float): The loss is 0 if |anchor - negative| exceeds |anchor - positive| by at least this. Default: 1.0.
        p (int): Degree of the norm. Default: 2.
        eps (float): Added to differences. Default: 1e-6.
        swap (bool): Whether to use |positive - negative| if it is less than |anchor - negative|. Default: False.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".
    """
    if type(margin) is not float and not isinstance(margin, Tensor):
        margin = check(Float, margin, "margin", "triplet_margin_loss")
    return TripletMarginLoss.functional(anchor, positive, negative, margin, p, swap, eps, reduction)


def _positive(x):
    """Return max(x, 0) with gradient 0 at 0."""
    return jnp.where(x <= 0, 0, x)


@operator(checks=[value_checks.label("target", classes_of("x"))])
@shapes("x: n c, target: n, weight: c")
@in_float32
def MultiMarginLoss(
    x,
    target,
    weight=None,
    *,
    p: OneOf(1, 2) = 1,
    margin: Float = 1.0,
    reduction: Reduction = "mean",
):
    """Sum over i != target of weight[target] * max(0, margin - x[target] + x[i]) ** p / C, for each row x of C classes.

    Args:
        p (int): 1 or 2. Default: 1.
        margin (float): the loss is 0 if the target's score is larger than the others by at least this. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **x** (Tensor) - (N, C), float.
        - **target** (Tensor) - (N,), int64: class indices.
        - **weight** (Tensor) - (C,): weights of the targets' classes. Default: None.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If the shapes do not fit.
    """
    _check.dtype_in("MultiMarginLoss", "x", x, _check.FLOAT)
    _check.dtype_in("MultiMarginLoss", "target", target, _check.INDEX)
    target_scores = jnp.take_along_axis(x, target[:, None], 1)
    violations = _positive(margin - target_scores + x)
    violations = violations * violations if p == 2 else violations
    violations = jnp.where(jnp.arange(x.shape[1]) == target[:, None], 0, violations)
    violations = violations if weight is None else violations * weight[target][:, None]
    return reduce(jnp.sum(violations, 1) / x.shape[1], reduction)


@spelling(MultiMarginLoss, function="multi_margin_loss")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over i != target of max(0, margin - x[target] + x[i]) ** p, divided by the number of classes, for each row x.

    Args:
        input (Tensor): x, (N, C), float.
        target (Tensor): (N,), int64: class indices.
        p (int): 1 or 2. Default: 1.
        margin (float): The loss is 0 if the target's score is larger than the others by at least this. Default: 1.
        weight (Tensor): (C,): weights of the targets' classes. Default: None.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If the shapes do not fit.
    """
    return MultiMarginLoss.functional(input, target, weight, p, margin, reduction)


@operator
@in_float32
def MultilabelMarginLoss(x, target, *, reduction: Reduction = "mean"):
    """Sum over labels and all other classes i of max(0, 1 - x[label] + x[i]), divided by the number of classes, for
    each row x.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **x** (Tensor) - (C,) or (N, C), float.
        - **target** (Tensor) - shape of `x`, int32: the labels of a row, up to its first negative number.

    Outputs:
        Tuple of the loss, a scalar unless `reduction` is "none", and a mask of the classes that are labels (int32).

    Raises:
        ValueError: If the shapes differ.
    """
    _check.dtype_in("MultilabelMarginLoss", "x", x, _check.FLOAT)
    _check.dtype_in("MultilabelMarginLoss", "target", target, _check.INDEX)
    _check.same_shape("MultilabelMarginLoss", x=x, target=target)
    _check.rank("MultilabelMarginLoss", "x", x, 1, 2)
    classes = x.shape[-1]
    counts = jnp.cumprod(target >= 0, -1).astype(bool)
    labels = jnp.where(counts, target, 0)
    is_target = (counts[..., None] & (labels[..., None] == jnp.arange(classes))).any(-2)
    target_scores = jnp.take_along_axis(x, labels, -1)
    violations = _positive(1 - target_scores[..., :, None] + x[..., None, :])
    violations = jnp.where(counts[..., :, None] & ~is_target[..., None, :], violations, 0)
    return reduce(jnp.sum(violations, (-1, -2)) / classes, reduction), is_target.astype(jnp.int32)


@spelling(MultilabelMarginLoss)
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Sum over labels and all other classes i of max(0, 1 - x[label] + x[i]), divided by the number of classes, for
    each row x.

    Args:
        input (Tensor): (C,) or (N, C), float.
        target (Tensor): Shape of `input`, int32: the labels of a row, up to its first negative number.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If the shapes differ.
    """
    return MultilabelMarginLoss.functional(input, target, reduction)[0]


@operator(functional="multilabel_soft_margin_loss", generation=2)
@shapes("input target: *s, weight: <s")
@in_float32
def _MultilabelSoftMarginLoss(input, target, weight=None, *, reduction: Reduction = "mean"):
    """The mean over classes of the binary cross-entropy of each class.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **input** (Tensor) - (N, C), float: scores.
        - **target** (Tensor) - shape of `input`: 1 for the classes of an example, 0 for others.
        - **weight** (Tensor) - of a shape that broadcasts: weights of the classes. Default: None.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If the shapes differ.
    """
    _check.dtype_in("multilabel_soft_margin_loss", "input", input, _check.FLOAT)
    _check.same_shape("multilabel_soft_margin_loss", input=input, target=target)
    each = target * log_one_plus_exp(-input) + (1 - target) * log_one_plus_exp(input)
    each = each if weight is None else each * weight
    return reduce(jnp.mean(each, -1), reduction)


CASES = [
    case(_MarginRankingLoss, F(4), F(4), Values([1.0, -1.0, 1.0, -1.0])),
    case(_HingeEmbeddingLoss, F(4), Values([1.0, -1.0, 1.0, -1.0])).wrt(0),
    case(SoftMarginLoss, F(4), Values([1.0, -1.0, 1.0, -1.0])),
    case(_CosineEmbeddingLoss, F(4, 3), F(4, 3), Values([1, -1, 1, -1])),
    case(TripletMarginLoss, F(4, 3), F(4, 3), F(4, 3), 3.5),
    case(MultiMarginLoss, F(3, 4), I(3, low=0, high=4, dtype="int64")).wrt(0),
    case(MultiMarginLoss, F(3, 4), I(3, low=0, high=4, dtype="int64"), U(4), p=2, margin=0.5, reduction="none").wrt(0),
    *(
        case(MultilabelMarginLoss, F(2, 4), Values([[3, 0, -1, 1], [1, -1, 0, 2]]), reduction=r).wrt(0)
        for r in ("mean", "none", "sum")
    ),
    case(MultilabelMarginLoss, F(4), Values([3, 0, -1, 1])).wrt(0),
    case(_MultilabelSoftMarginLoss, F(2, 3), I(2, 3, low=0, high=2, dtype="float32")).wrt(0),
    case(_MultilabelSoftMarginLoss, F(2, 3), I(2, 3, low=0, high=2, dtype="float32"), U(3), reduction="none").wrt(0),
    refused(ValueError, MultiMarginLoss, F(3, 4), I(2, low=0, high=4)),
]
