"""Similarity losses: cosine and Dice."""

from typing import Annotated, Any

from msnb.common.kinds import Between, Int, Kind, StrictFloat, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import PositiveFloat
from msnb.nn._input_checks import check_alike, check_least_dims
from msnb.nn._kinds import OptionalTensor, Reduction
from msnb.nn._upcast import round_to_inputs, widen, widen_to_float
from msnb.nn.cell import Cell
from msnb.nn.layer.activation import get_activation
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F

__all__ = ["CosineEmbeddingLoss", "DiceLoss", "MultiClassDiceLoss"]


class CosineEmbeddingLoss(LossBase):
    r"""
    Cosine loss: :math:`1 - \cos(x_1, x_2)` for similar pairs (y = 1), :math:`\max(0, \cos(x_1, x_2) - margin)` for
    dissimilar pairs (y = -1).

    Args:
        margin (float): Cosine up to which dissimilar pairs have loss 0, in [-1, 1]. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **x1** (Tensor) - vectors along axis 1: (N, dim, ...).
        - **x2** (Tensor) - of the same shape and type.
        - **y** (Tensor) - 1 or -1, of the shape of `x1` without axis 1.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `y`.

    Raises:
        TypeError: If `margin` is no float, or the types differ.
        ValueError: If `margin` is out of range, `reduction` is unknown, or the shapes do not fit.

    Examples:
        >>> x1 = Tensor([[1.0, 0.0], [0.0, 2.0]], mindspore.float32)
        >>> x2 = Tensor([[0.0, 1.0], [0.0, 1.0]], mindspore.float32)
        >>> print(nn.CosineEmbeddingLoss()(x1, x2, Tensor([1, -1], mindspore.int32)))
        1.0
    """

    @checked
    def __init__(
        self, margin: Annotated[float, Between(StrictFloat, -1, 1)] = 0.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        self.margin: float = margin

    def construct(self, x1: Tensor, x2: Tensor, y: Tensor) -> Tensor:
        """Return the loss."""
        check_alike(self.cls_name, x1=x1, x2=x2)
        check_least_dims(self.cls_name, x1, 1, "'x1'")
        pairs = (x1.shape[0], *x1.shape[2:])
        if tuple(y.shape) != pairs:
            raise ValueError(f"For '{self.cls_name}', 'y' should be of shape {pairs}, but got {tuple(y.shape)}.")
        a, b = widen_to_float(x1), widen_to_float(x2)
        lengths = F.sqrt(self.reduce_sum(F.square(a), 1) * self.reduce_sum(F.square(b), 1))
        cosine = self.reduce_sum(a * b, 1) / lengths
        other = F.select(F.equal(y, -1), F.maximum(cosine - self.margin, 0.0), F.zeros_like(cosine))
        return round_to_inputs(self.get_loss(F.select(F.equal(y, 1), 1 - cosine, other)), x1, x2)


class DiceLoss(LossBase):
    r"""
    Dice loss of two masks (Milletari et al., 2016):
    :math:`1 - 2 \sum x y / (\sum x^2 + \sum y^2 + s)`.

    Args:
        smooth (float): The constant s, which avoids 0 / 0 for empty masks, positive. Default: 1e-5.

    Inputs:
        - **logits** (Tensor) - the predicted mask, of any shape.
        - **label** (Tensor) - the true mask, of the same shape.

    Outputs:
        Tensor, a scalar.

    Raises:
        TypeError: If `smooth` is no float.
        ValueError: If it is not positive, or the shapes differ.

    Examples:
        >>> x, y = Tensor([1, 1, 0], mindspore.float32), Tensor([0, 1, 1], mindspore.float32)
        >>> print(nn.DiceLoss()(x, y))
        0.50000125
    """

    @checked
    def __init__(self, smooth: PositiveFloat = 1e-5) -> None:
        super().__init__()
        self.smooth: float = smooth

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """Return the loss."""
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(
                f"For '{self.cls_name}', 'logits' and 'label' should have one shape, "
                f"but got {logits.shape} and {label.shape}."
            )
        x, y = widen(logits), widen(label)
        common = self.reduce_sum(x * y) * 2
        apart = self.reduce_sum(F.square(x)) + self.reduce_sum(F.square(y))
        return round_to_inputs(1 - common / (apart + self.smooth), logits, label)


_SHARES = ("softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid")


def _check_activation(value):
    if isinstance(value, str):
        if value not in _SHARES:
            raise ValueError
    elif value is not None and not isinstance(value, Cell):
        raise TypeError
    return value


Activation = Annotated[str | Cell | None, Kind(f"{', '.join(_SHARES)}, a Cell or None", _check_activation)]


class MultiClassDiceLoss(LossBase):
    """
    The mean of DiceLoss over classes.

    Args:
        weights (Tensor): Weights of the classes, of shape (C, dim). Default: None, a weight of 1.
        ignore_indiex (int): Index of a class to ignore. Default: None.
        activation (Union[str, Cell]): Activation applied to the input: "softmax", "logsoftmax", "relu", "relu6",
            "tanh", "sigmoid", a Cell, or None. Default: "softmax".

    Inputs:
        - **logits** (Tensor) - of shape (N, C, ...).
        - **label** (Tensor) - the true mask of each class, of the same shape.

    Outputs:
        Tensor, a scalar; with `weights` of shape (dim,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `activation` is unknown, or the shapes do not fit.

    Examples:
        >>> label = Tensor([[1.0, 0.0], [0.0, 1.0]], mindspore.float32)
        >>> print(nn.MultiClassDiceLoss(activation=None)(label, label).asnumpy().round(3))
        0.0
    """

    @checked
    def __init__(
        self, weights: OptionalTensor = None, ignore_indiex: Int | None = None, activation: Activation = "softmax"
    ) -> None:
        super().__init__()
        if weights is not None and weights.ndim != 2:
            raise ValueError(f"For '{self.cls_name}', 'weights' should have 2 dims, but got shape {weights.shape}.")
        self.binarydiceloss: DiceLoss = DiceLoss()
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        self.activation: Any = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """Return the loss."""
        check_least_dims(self.cls_name, label, 2, "'label'")
        classes = label.shape[1]
        if tuple(logits.shape) != tuple(label.shape) or self.weights is not None and len(self.weights) != classes:
            raise ValueError(
                f"For '{self.cls_name}', 'logits' and 'label' should have one shape, 'weights' a row for each class, "
                f"but got {tuple(logits.shape)}, {tuple(label.shape)} and "
                f"{None if self.weights is None else tuple(self.weights.shape)}."
            )
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0
        for i in range(classes):
            if i != self.ignore_indiex:
                loss = self.binarydiceloss(logits[:, i], label[:, i])
                total = total + (loss if self.weights is None else loss * self.weights[i])
        return total / classes
