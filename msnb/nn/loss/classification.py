"""Classification losses: cross entropies, and the divergence of distributions."""

from typing import Annotated

from msnb.common import dtype as mstype
from msnb.common.kinds import Between, Bool, Int, Kind, StrictFloat, accept_value, checked
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn._kinds import NumberNotNan, OptionalTensor, Reduction
from msnb.nn._upcast import round_to_inputs, widen, widen_if_mixed
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.nn.loss._reduction import check_labels

__all__ = [
    "SoftmaxCrossEntropyWithLogits",
    "CrossEntropyLoss",
    "NLLLoss",
    "FocalLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "KLDivLoss",
]


class SoftmaxCrossEntropyWithLogits(LossBase):
    r"""
    Cross entropy of the softmax of each sample: :math:`-\sum_c y_c \log softmax(x)_c`.

    Args:
        sparse (bool): Whether labels are class indices instead of probabilities. Default: False.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Inputs:
        - **logits** (Tensor) - x, float16 or float32, of shape (N, C).
        - **labels** (Tensor) - class numbers, int32 or int64, of shape (N,); or y, of the shape and type of `logits`.

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        TypeError: If `sparse` is no bool.
        ValueError: If `reduction` is unknown, or the shapes do not fit.
        RuntimeError: If a class number is not in [0, C). GRAPH mode raises it when a value is next read, and a step
            with such a number changes no Parameter.

    Examples:
        >>> loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
        >>> print(loss(Tensor([[3.0, 70.0]], mindspore.float32), Tensor([0], mindspore.int32)))
        [67.]
    """

    @checked
    def __init__(self, sparse: Bool = False, reduction: Reduction = "none") -> None:
        super().__init__(reduction)
        self.sparse: bool = sparse
        self.softmax_cross_entropy: P.SoftmaxCrossEntropyWithLogits = P.SoftmaxCrossEntropyWithLogits()
        self.sparse_softmax_cross_entropy: P.SparseSoftmaxCrossEntropyWithLogits = (
            P.SparseSoftmaxCrossEntropyWithLogits()
        )
        self.one_hot: P.OneHot = P.OneHot()
        self.on_value: Tensor = Tensor(1.0, mstype.float32)
        self.off_value: Tensor = Tensor(0.0, mstype.float32)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        if self.sparse and self.reduction == "mean":
            return self.sparse_softmax_cross_entropy(logits, labels)
        if self.sparse:
            check_least_dims(self.cls_name, logits, 1, "'logits'")
            classes = logits.shape[-1]
            check_labels(self.cls_name, labels, classes)
            labels = self.one_hot(labels, classes, self.on_value, self.off_value)
        losses, _ = self.softmax_cross_entropy(logits, labels)
        return self.get_loss(losses)


class NLLLoss(LossBase):
    r"""
    Negative logarithm of the probability of the true class: :math:`-w_y x_y`. The mean is weighted by w.

    Args:
        weight (Tensor): The weight w of each class, (C,). Default: None, a weight of 1.
        ignore_index (int): Label to ignore. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - logarithms x of probabilities, of shape (N, C) or (N, C, d1, ...).
        - **labels** (Tensor) - class numbers, int32 or int64, of the shape of `logits` without axis 1.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `labels`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `reduction` is unknown, or the shapes do not fit.
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`. GRAPH mode raises it when a value is next
            read.

    Examples:
        >>> print(nn.NLLLoss()(Tensor([[-1.0, -2.0]], mindspore.float32), Tensor([1], mindspore.int32)))
        2.0
    """

    @checked
    def __init__(self, weight: OptionalTensor = None, ignore_index: Int = -100, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index: int = ignore_index

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        logits = widen_if_mixed(logits, self.weight)
        return F.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(LossBase):
    r"""
    Cross entropy of softmax over axis 1: :math:`-\sum_c w_c y_c \log softmax(x)_c`. For class indices it is NLLLoss of
    the log-softmax.

    Args:
        weight (Tensor): The weight w of each class, (C,). Default: None, a weight of 1.
        ignore_index (int): Class index to ignore. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): Fraction of the labels' probability that is spread evenly over all classes, in [0, 1]
            (Szegedy et al., 2016). Default: 0.0.

    Inputs:
        - **logits** (Tensor) - x, of shape (N, C) or (N, C, d1, ...).
        - **labels** (Tensor) - class indices, of the shape of `logits` without axis 1; or probabilities y, of the shape
            of `logits`.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits` without axis 1.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, `reduction` is unknown, or the shapes do not fit.
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`. GRAPH mode raises it when a value is next
            read.

    Examples:
        >>> print(nn.CrossEntropyLoss()(Tensor([[3.0, 70.0]], mindspore.float32), Tensor([0], mindspore.int32)))
        67.0
    """

    @checked
    def __init__(
        self,
        weight: OptionalTensor = None,
        ignore_index: Int = -100,
        reduction: Reduction = "mean",
        label_smoothing: Annotated[float, Between(StrictFloat, 0, 1)] = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index: int = ignore_index
        self.label_smoothing: float = label_smoothing

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        logits = widen_if_mixed(logits, self.weight)
        return F.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class FocalLoss(LossBase):
    r"""
    Cross entropy that gives well-classified samples a small weight (Lin et al., 2017):
    :math:`-w_y (1 - p_y)^\gamma \log p_y` for :math:`p = softmax(x)`.

    Args:
        weight (Tensor): The weight w of each class, (C,). Default: None, a weight of 1.
        gamma (float): The exponent. Default: 2.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - x, of shape (N, C), or (N, C, ...) for samples with several positions.
        - **labels** (Tensor) - class indices y, of shape (N, 1) or (N, 1, ...), or (N,) for one position. They may
            instead be weights t of all classes, of the shape of `logits`. Then the loss of each class is
            :math:`-w_c t_c (1 - p_c)^\gamma \log p_c`.

    Outputs:
        Tensor, a scalar; for "none" the mean over the positions of a sample, of shape (N,), or (N, C) with labels of
        the shape of `logits`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes of `logits` and `labels` do not fit.
        RuntimeError: If a label is not in [0, C). GRAPH mode raises it when a value is next read.

    Examples:
        >>> print(nn.FocalLoss()(Tensor([[3.0, 70.0]], mindspore.float32), Tensor([0], mindspore.int32)))
        67.0
    """

    @checked
    def __init__(self, weight: OptionalTensor = None, gamma: NumberNotNan = 2.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.gamma: float = gamma

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        check_least_dims(self.cls_name, logits, 2, "'logits'")
        samples, classes, *places = logits.shape
        if labels.ndim == 1:
            labels = F.expand_dims(labels, 1)
        if labels.shape not in ((samples, 1, *places), logits.shape):
            raise ValueError(
                f"For '{self.cls_name}', 'labels' should have shape {(samples, 1, *places)} or {logits.shape}, as "
                f"'logits' say, but got {labels.shape}."
            )
        log_probabilities = F.log_softmax(F.reshape(logits, (samples, classes, -1)), 1)
        labels = F.reshape(labels, (samples, labels.shape[1], -1))
        if labels.shape[1] == 1:
            check_labels(self.cls_name, labels, classes)
            losses = self._compute_focal_loss(F.gather_d(log_probabilities, 1, labels))
            return self.get_loss(
                (losses if self.weight is None else losses * F.gather(self.weight, labels, 0)).mean((1, 2))
            )
        losses = self._compute_focal_loss(log_probabilities) * F.cast(labels, log_probabilities.dtype)
        return self.get_loss((losses if self.weight is None else losses * F.reshape(self.weight, (1, -1, 1))).mean(-1))

    def _compute_focal_loss(self, log_probability):
        return -F.pow(1 - F.exp(log_probability), self.gamma) * log_probability


@differs_in_api2("the mean of the losses is taken, not each of them", reduction="mean")
class BCELoss(LossBase):
    r"""
    Binary cross entropy of probabilities: :math:`-w (y \log x + (1 - y) \log(1 - x))`.

    Args:
        weight (Tensor): The weight w of each element. Default: None, a weight of 1.
        reduction (str): "mean", "sum" or "none". Default: "none", in MindSpore 2 "mean".

    Inputs:
        - **inputs** (Tensor) - probabilities x, float16 or float32, of any shape.
        - **labels** (Tensor) - y, of the same shape and type.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `inputs`.

    Raises:
        ValueError: If `reduction` is unknown, or the shapes differ.

    Examples:
        >>> print(nn.BCELoss()(Tensor([0.5], mindspore.float32), Tensor([1.0], mindspore.float32)))
        [0.6931472]
    """

    @checked
    def __init__(self, weight: OptionalTensor = None, reduction: Reduction = "none") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.binary_cross_entropy: P.BinaryCrossEntropy = P.BinaryCrossEntropy(self.reduction)

    def construct(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return self.binary_cross_entropy(inputs, labels, self.weight)


class BCEWithLogitsLoss(LossBase):
    r"""
    Binary cross entropy of the sigmoid of logits: :math:`-w (p y \log \sigma(x) + (1 - y) \log(1 - \sigma(x)))`,
    computed without overflow.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        weight (Tensor): The weight w of each element. Default: None, a weight of 1.
        pos_weight (Tensor): The weight p of positive labels. Default: None, a weight of 1.

    Inputs:
        - **logits** (Tensor) - x, float16 or float32, of any shape.
        - **labels** (Tensor) - y, of the same shape and type.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits`.

    Raises:
        TypeError: If a weight is no Tensor.
        ValueError: If `reduction` is unknown, or the shapes differ.

    Examples:
        >>> print(nn.BCEWithLogitsLoss()(Tensor([-100.0], mindspore.float32), Tensor([1.0], mindspore.float32)))
        100.0
    """

    @checked
    def __init__(
        self, reduction: Reduction = "mean", weight: OptionalTensor = None, pos_weight: OptionalTensor = None
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return F.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


def _accept_divergence_reduction(value):
    return value if value == "batchmean" else accept_value(Reduction, value)


class KLDivLoss(LossBase):
    r"""
    Kullback-Leibler divergence of a predicted distribution from a target distribution (1951): :math:`y (\log y - x)`,
    which is 0 where y is 0.

    Args:
        reduction (str): "mean", "sum", "none", or "batchmean", the sum divided by the size of axis 0. Default: "mean".

    Inputs:
        - **logits** (Tensor) - logarithms x of the predicted probabilities.
        - **labels** (Tensor) - the target probabilities y, of the same shape and type.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits`.

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> print(nn.KLDivLoss("sum")(Tensor([-1.0, -2.0], mindspore.float32), Tensor([0.0, 1.0], mindspore.float32)))
        2.0
    """

    @checked
    def __init__(
        self,
        reduction: Annotated[
            str | None, Kind("'mean', 'batchmean', 'sum', 'none' or None", _accept_divergence_reduction)
        ] = "mean",
    ) -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.batch_mean: bool = reduction == "batchmean"

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        if not self.batch_mean:
            return F.kl_div(logits, labels, self.reduction)
        # The sum may overflow in half precision.
        total = F.kl_div(widen(logits), widen(labels), "sum")
        return round_to_inputs(total / logits.shape[0], logits, labels)
