"""Margin losses of MindSpore 2."""

from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, OneOf, PositiveInt, check, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteNumber, PositiveFloat
from msnb.nn._input_checks import check_alike, check_least_dims
from msnb.nn._kinds import CallableKind, OptionalTensor, Reduction
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = [
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultilabelMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class HingeEmbeddingLoss(LossBase):
    r"""
    Hinge loss of distances that should be small (label 1) or at least the margin (label -1): :math:`x`, or
    :math:`\max(0, m - x)`.

    Args:
        margin (Union[int, float]): The margin m. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - the distances x, of any shape.
        - **labels** (Tensor) - 1 or -1, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits`.

    Raises:
        TypeError: If `margin` is no number.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> loss = nn.HingeEmbeddingLoss(reduction="none")
        >>> print(loss(Tensor([0.25, 0.25], mindspore.float32), Tensor([1, -1], mindspore.float32)))
        [0.25 0.75]
    """

    @checked
    def __init__(self, margin: FiniteNumber = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin: float = margin

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return F.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    r"""
    Margin loss of pairs: the first number should be greater (target 1) or less (target -1) by a margin:
    :math:`\max(0, m - y (x_1 - x_2))`.

    Args:
        margin (float): The margin m. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input1** (Tensor) - x1, of any shape.
        - **input2** (Tensor) - x2, of the same shape and type.
        - **target** (Tensor) - y, 1 or -1, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `input1`.

    Raises:
        TypeError: If `margin` is no number.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> x, y = Tensor([3.0, 1.0], mindspore.float32), Tensor([1.0, 2.0], mindspore.float32)
        >>> print(nn.MarginRankingLoss(reduction="none")(x, y, Tensor([1, 1], mindspore.float32)))
        [0. 1.]
    """

    @checked
    def __init__(self, margin: FiniteNumber = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin: float = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class MultiMarginLoss(LossBase):
    r"""
    Multi-class hinge loss: the score of the true class should exceed all others by a margin:
    :math:`\frac{1}{C} \sum_{c \ne y} w_y \max(0, m - x_y + x_c)^p`.

    Args:
        p (int): The exponent, 1 or 2. Default: 1.
        margin (float): The margin m. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        weight (Tensor): The weight w of each class, of shape (C,). Default: None, a weight of 1.

    Inputs:
        - **x** (Tensor) - of shape (N, C).
        - **target** (Tensor) - true classes, int64, of shape (N,).
        - **weight** (Tensor, optional) - the weight w, used if the layer has none. Default: None.

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `p` is neither 1 nor 2, `reduction` is unknown, or the shapes do not fit.

    Examples:
        >>> x = Tensor([[0.25, 1.0]], mindspore.float32)
        >>> print(nn.MultiMarginLoss()(x, Tensor([1], mindspore.int64)))
        0.125
    """

    @checked
    def __init__(
        self,
        p: Annotated[int, OneOf(1, 2)] = 1,
        margin: FiniteNumber = 1.0,
        reduction: Reduction = "mean",
        weight: OptionalTensor = None,
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.multi_margin_loss: P.MultiMarginLoss = P.MultiMarginLoss(p, margin, reduction)

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the loss."""
        return self.multi_margin_loss(x, target, weight if self.weight is None else self.weight)


class MultilabelMarginLoss(LossBase):
    r"""
    Multi-label hinge loss: the scores of all true classes should exceed all others by 1:
    :math:`\frac{1}{C} \sum_{y} \sum_{c} \max(0, 1 - x_y + x_c)`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (C,).
        - **target** (Tensor) - indices of the true classes, int32, of the same shape; -1 after the last index.

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        ValueError: If `reduction` is unknown, or the shapes differ.

    Examples:
        >>> x = Tensor([[0.25, 1.0]], mindspore.float32)
        >>> print(nn.MultilabelMarginLoss()(x, Tensor([[1, -1]], mindspore.int32)))
        0.125
    """

    @checked
    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.multilabel_margin_loss: P.MultilabelMarginLoss = P.MultilabelMarginLoss(reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return self.multilabel_margin_loss(x, target)[0]


class MultiLabelSoftMarginLoss(LossBase):
    r"""
    Mean over classes of the binary cross entropy of logits:
    :math:`-\frac{1}{C} \sum_c w_c (y_c \log \sigma(x_c) + (1 - y_c) \log \sigma(-x_c))`.

    Args:
        weight (Union[Tensor, int, float]): The weight w of each class. Default: None, a weight of 1.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **x** (Tensor) - the logits, of shape (N, C).
        - **target** (Tensor) - y, 0 or 1, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        ValueError: If `reduction` is unknown, or the shapes do not fit.

    Examples:
        >>> x, y = Tensor([[0.0, 0.0]], mindspore.float32), Tensor([[0.0, 1.0]], mindspore.float32)
        >>> print(nn.MultiLabelSoftMarginLoss()(x, y))
        0.6931472
    """

    @checked
    def __init__(self, weight: Any = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.weight: Any = Tensor(weight, mstype.float32) if isinstance(weight, (int, float)) else weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class SoftMarginLoss(LossBase):
    r"""
    Logistic loss for labels y of 1 or -1: :math:`\log(1 + \exp(-y x))`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - x, of any shape.
        - **labels** (Tensor) - y, 1 or -1, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits`.

    Raises:
        ValueError: If `reduction` is unknown, or the shapes differ.

    Examples:
        >>> print(nn.SoftMarginLoss()(Tensor([0.0], mindspore.float32), Tensor([1], mindspore.float32)))
        0.6931472
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return F.soft_margin_loss(logits, labels, self.reduction)


class TripletMarginLoss(LossBase):
    r"""
    Triplet loss: a vector should be nearer to a positive than to a negative example by a margin (Balntas et al.,
    2016): :math:`\max(0, \|x - x_+\|_p - \|x - x_-\|_p + m)`.

    Args:
        p (int): The order of the norm. Default: 2.
        swap (bool): Whether to use the distance of `positive` and `negative` instead of that of `x` and `negative`,
            where it is smaller. Default: False.
        eps (float): Added to the differences of the vectors. Default: 1e-6.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        margin (Union[Tensor, float]): The margin m. Default: 1.0.

    Inputs:
        - **x** (Tensor) - vectors, of shape (N, D).
        - **positive** (Tensor) - positive examples, of the same shape.
        - **negative** (Tensor) - negative examples, of the same shape.
        - **margin** (Union[Tensor, float], optional) - the margin m, used if the layer's margin is 1.0. Default: 1.0.

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> x, near, far = (Tensor([[v]], mindspore.float32) for v in (0.0, 1.0, 1.5))
        >>> print(nn.TripletMarginLoss()(x, near, far))
        0.5
    """

    @checked
    def __init__(
        self,
        p: PositiveInt = 2,
        swap: Bool = False,
        eps: PositiveFloat = 1e-06,
        reduction: Reduction = "mean",
        margin: Any = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.p: int = p
        self.swap: bool = swap
        self.eps: float = eps
        is_tensor = isinstance(margin, Tensor)
        self.margin = margin if is_tensor else check(FiniteNumber, margin, "margin", "TripletMarginLoss")

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float | Tensor = 1.0) -> Tensor:
        """Return the loss."""
        check_alike(self.cls_name, x=x, positive=positive, negative=negative)
        check_least_dims(self.cls_name, x, 2, "'x'")
        if isinstance(self.margin, Tensor) or self.margin != 1.0:
            margin = self.margin
        return F.triplet_margin_loss(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    r"""
    TripletMarginLoss with a user-defined distance: :math:`\max(0, d(x, x_+) - d(x, x_-) + m)`.

    Args:
        distance_function (Callable): The distance d of two Tensors. Default: None, the Euclidean distance along axis 1.
        swap (bool): Whether to use the distance of `positive` and `negative` instead of that of `x` and `negative`,
            where it is smaller. Default: False.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        margin (float): The margin m. Default: 1.0.

    Inputs:
        - **x** (Tensor) - vectors, of shape (N, D) or with further axes.
        - **positive** (Tensor) - positive examples, of the same shape.
        - **negative** (Tensor) - negative examples, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of the shape of distances.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `reduction` is unknown, or the inputs have less than 2 dimensions.

    Examples:
        >>> loss = nn.TripletMarginWithDistanceLoss(lambda a, b: ops.reduce_max(ops.abs(a - b), 1))
        >>> x, near, far = (Tensor([[v]], mindspore.float32) for v in (0.0, 1.0, 1.5))
        >>> print(loss(x, near, far))
        0.5
    """

    @checked
    def __init__(
        self,
        distance_function: CallableKind | None = None,
        swap: Bool = False,
        reduction: Reduction = "mean",
        margin: FiniteNumber = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.distance_function: Any = distance_function or _euclidean_distance
        self.swap: bool = swap
        self.margin: float = margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        check_least_dims(self.cls_name, x, 2, "'x'")
        far = self.distance_function(x, negative)
        if self.swap:
            far = F.minimum(far, self.distance_function(positive, negative))
        return self.get_loss(F.relu(self.distance_function(x, positive) - far + self.margin))


def _euclidean_distance(x, y):
    apart = widen(x) - widen(y)
    return round_to_inputs(F.sqrt(F.reduce_sum(F.square(apart), 1)), x, y)
