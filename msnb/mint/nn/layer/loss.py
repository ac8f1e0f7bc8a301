"""Losses of `mindspore.mint.nn`, averaged by default."""

from typing import Annotated

from msnb.common.kinds import Bool, Int, OneOf, checked
from msnb.core.tensor.tensor import Tensor
from msnb.mint.nn import functional as F
from msnb.mint.nn.layer._of_function import OfFunction, OfTarget
from msnb.nn._kinds import AboveZero, OptionalTensor, Share

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "KLDivLoss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]

Reduction = Annotated[str, OneOf("mean", "sum", "none")]
Divergence = Annotated[str, OneOf("mean", "batchmean", "sum", "none")]


class MSELoss(OfTarget, function=F.mse_loss):
    """
    Squared difference (input - target)^2.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input** (Tensor) - floating point numbers.
        - **target** (Tensor) - of a shape that broadcasts with the input.

    Outputs:
        Tensor.

    Examples:
        >>> print(mint.nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        2.0
    """

    @checked
    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)


class SmoothL1Loss(OfTarget, function=F.smooth_l1_loss):
    """
    Smooth L1 loss: 0.5 * d^2 / beta where d < beta, and d - 0.5 * beta elsewhere, for d = |input - target|.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        beta (float): Difference below which the loss is quadratic, positive. Default: 1.0.

    Inputs:
        - **input** (Tensor) - floating point numbers.
        - **target** (Tensor) - of the same shape.

    Outputs:
        Tensor.
    """

    @checked
    def __init__(self, reduction: Reduction = "mean", beta: AboveZero = 1.0) -> None:
        super().__init__(reduction=reduction, beta=beta)


class KLDivLoss(OfTarget, function=F.kl_div):
    """
    Kullback-Leibler divergence target * (log(target) - input), where the input contains log-probabilities.

    Args:
        reduction (str): "mean", "batchmean", "sum" or "none". Default: "mean".
        log_target (bool): Whether the target contains log-probabilities too. Default: False.

    Inputs:
        - **input** (Tensor) - log-probabilities.
        - **target** (Tensor) - probabilities, of the same shape.

    Outputs:
        Tensor.
    """

    @checked
    def __init__(self, reduction: Divergence = "mean", log_target: Bool = False) -> None:
        super().__init__(reduction=reduction, log_target=log_target)


class BCELoss(OfTarget, function=F.binary_cross_entropy):
    """
    The binary cross entropy of probabilities.

    Args:
        weight (Tensor): The weight of each element. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input** (Tensor) - probabilities.
        - **target** (Tensor) - probabilities, of the same shape.

    Outputs:
        Tensor.
    """

    @checked
    def __init__(self, weight: OptionalTensor = None, reduction: Reduction = "mean") -> None:
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(OfTarget, function=F.binary_cross_entropy_with_logits):
    """
    The binary cross entropy of the sigmoid of the input.

    Args:
        weight (Tensor): The weight of each element. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        pos_weight (Tensor): The weight of positive labels. Default: None.

    Inputs:
        - **input** (Tensor) - logits.
        - **target** (Tensor) - probabilities, of the same shape.

    Outputs:
        Tensor.
    """

    @checked
    def __init__(
        self, weight: OptionalTensor = None, reduction: Reduction = "mean", pos_weight: OptionalTensor = None
    ) -> None:
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class NLLLoss(OfTarget, function=F.nll_loss):
    """
    The negative log-probabilities of the target classes.

    Args:
        weight (Tensor): The weight of each class. Default: None.
        ignore_index (int): Class index to ignore. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input** (Tensor) - log-probabilities, (N, C, ...).
        - **target** (Tensor) - indices of the true classes, (N, ...).

    Outputs:
        Tensor.
    """

    @checked
    def __init__(self, weight: OptionalTensor = None, ignore_index: Int = -100, reduction: Reduction = "mean") -> None:
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class CrossEntropyLoss(OfTarget, function=F.cross_entropy):
    """
    The cross entropy of the softmax of the input.

    Args:
        weight (Tensor): The weight of each class. Default: None.
        ignore_index (int): Class index to ignore. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): Fraction of the target spread over all classes, in [0, 1]. Default: 0.0.

    Inputs:
        - **input** (Tensor) - logits, (N, C, ...).
        - **target** (Tensor) - indices of the true classes, (N, ...), or probabilities of the shape of the input.

    Outputs:
        Tensor.
    """

    @checked
    def __init__(
        self,
        weight: OptionalTensor = None,
        ignore_index: Int = -100,
        reduction: Reduction = "mean",
        label_smoothing: Share = 0.0,
    ) -> None:
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


class CosineEmbeddingLoss(OfFunction, function=F.cosine_embedding_loss):
    """
    1 - cos of two vectors where the target is 1, and max(0, cos - margin) where it is -1.

    Args:
        margin (float): The loss of a pair with target -1 is 0 if its cosine is at most this. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input1** (Tensor) - vectors, (N, D) or (D,).
        - **input2** (Tensor) - of the shape of `input1` or of one that broadcasts to it.
        - **target** (Tensor) - 1 or -1, (N,) or ().

    Outputs:
        Tensor, a scalar unless `reduction` is "none".

    Examples:
        >>> x1, x2 = Tensor([[1.0, 0.0], [0.0, 2.0]]), Tensor([[0.0, 1.0], [0.0, 1.0]])
        >>> print(mint.nn.CosineEmbeddingLoss()(x1, x2, Tensor([1, -1])))
        1.0
    """

    @checked
    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(margin=margin, reduction=reduction)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the loss."""
        return self._function(input1, input2, target, **self._get_named_arguments())
