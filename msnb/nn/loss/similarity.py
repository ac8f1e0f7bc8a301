"""Losses of pairs: how much two vectors, or two sets of places, have in common."""

from typing import Annotated

from msnb.common.kinds import Between, StrictFloat, checked
from msnb.core.tensor import Tensor
from msnb.nn._half import rounded, widened
from msnb.nn._inputs import check_alike, check_least_dims
from msnb.nn._kinds import Reduction
from msnb.nn._numbers import PositiveFloat
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F

__all__ = ["CosineEmbeddingLoss", "DiceLoss"]


class CosineEmbeddingLoss(LossBase):
    r"""
    Whether vectors point the same way as they should: :math:`1 - \cos(x_1, x_2)` for pairs that belong together
    (y = 1), :math:`\max(0, \cos(x_1, x_2) - margin)` for others (y = -1).

    Args:
        margin (float): Up to which cosine others cost nothing, in [-1, 1]. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **x1** (Tensor) - vectors along axis 1: (N, dim, ...).
        - **x2** (Tensor) - of the same shape and type.
        - **y** (Tensor) - 1 or -1, of that shape without axis 1.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `y`.

    Raises:
        TypeError: If `margin` is no float, or the types differ.
        ValueError: If `margin` is out of its range, `reduction` something else, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
        self.margin = margin

    def construct(self, x1: Tensor, x2: Tensor, y: Tensor) -> Tensor:
        """The loss."""
        check_alike(self.cls_name, x1=x1, x2=x2)
        check_least_dims(self.cls_name, x1, 1, "'x1'")
        pairs = (x1.shape[0], *x1.shape[2:])
        if tuple(y.shape) != pairs:
            raise ValueError(f"For '{self.cls_name}', 'y' should be of shape {pairs}, but got {tuple(y.shape)}.")
        a, b = widened(x1), widened(x2)
        lengths = F.sqrt(self.reduce_sum(F.square(a), 1) * self.reduce_sum(F.square(b), 1))
        cosine = self.reduce_sum(a * b, 1) / lengths
        other = F.select(F.equal(y, -1), F.maximum(cosine - self.margin, 0.0), F.zeros_like(cosine))
        return rounded(self.get_loss(F.select(F.equal(y, 1), 1 - cosine, other)), x1, x2)


class DiceLoss(LossBase):
    r"""
    How far two sets are from being the same (Milletari et al., 2016):
    :math:`1 - (2 \sum x y + s) / (\sum x^2 + \sum y^2 + s)`.

    Args:
        smooth (float): The s that keeps the quotient of empty sets from 0 / 0, positive. Default: 1e-5.

    Inputs:
        - **logits** (Tensor) - how much each place belongs to the predicted set, of any shape.
        - **label** (Tensor) - whether it does, of the same shape.

    Outputs:
        Tensor, a scalar.

    Raises:
        TypeError: If `smooth` is no float.
        ValueError: If it is not positive, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1, 1, 0], mindspore.float32), Tensor([0, 1, 1], mindspore.float32)
        >>> print(nn.DiceLoss()(x, y))
        0.49999875
    """

    @checked
    def __init__(self, smooth: PositiveFloat = 1e-5) -> None:
        super().__init__()
        self.smooth = smooth

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """The loss."""
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(
                f"For '{self.cls_name}', 'logits' and 'label' should have one shape, "
                f"but got {logits.shape} and {label.shape}."
            )
        x, y = widened(logits), widened(label)
        common = self.reduce_sum(x * y) * 2
        apart = self.reduce_sum(F.square(x)) + self.reduce_sum(F.square(y))
        return rounded(1 - (common + self.smooth) / (apart + self.smooth), logits, label)
