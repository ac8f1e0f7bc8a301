"""Regression losses: functions of the difference between prediction and target."""

from typing import Annotated

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import Between, Float, checked
from msnb.core.operator.api_generations import current, differs_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import AboveZero, Reduction
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["L1Loss", "L1LossExt", "MAELoss", "MSELoss", "RMSELoss", "SmoothL1Loss", "HuberLoss"]


def _compute_reduced_loss(layer, operator, base, target):
    if base.dtype in mstype.int_type and target.dtype in mstype.int_type:
        return layer.get_loss(operator(base, target, "none"))  # in MindSpore the mean of ints is an int
    return operator(base, target, layer.reduction)


class L1Loss(LossBase):
    r"""
    Absolute difference: :math:`|x - y|`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction x, of any shape.
        - **target** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar; for "none" the distances.

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 6], mindspore.float32)
        >>> print(nn.L1Loss()(x, y))
        1.0
    """

    def construct(self, base: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return _compute_reduced_loss(self, F.l1_loss, base, target)


class L1LossExt(L1Loss):
    """
    L1Loss, under its name for `mindspore.mint.nn`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - the prediction, of any shape.
        - **labels** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar; for "none" the distances.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 6], mindspore.float32)
        >>> print(nn.L1LossExt()(x, y))
        1.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return F.l1_loss(logits, labels, self.reduction)


class MAELoss(L1Loss):
    """
    Mean absolute error: L1Loss under another name.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction, of any shape.
        - **target** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar; for "none" the distances.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 6], mindspore.float32)
        >>> print(nn.MAELoss()(x, y))
        1.0
    """


class MSELoss(LossBase):
    r"""
    Squared difference: :math:`(x - y)^2`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction x, of any shape.
        - **target** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar; for "none" the squares.

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 6], mindspore.float32)
        >>> print(nn.MSELoss()(x, y))
        3.0
    """

    def construct(self, base: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        loss = _compute_reduced_loss(self, F.mse_loss, base, target)
        if base.is_floating_point() or target.is_floating_point() or base.is_complex() or target.is_complex():
            return loss
        return loss.astype(base.dtype)  # the mean of ints is truncated to their dtype


class RMSELoss(LossBase):
    """
    Root of the mean squared difference.

    Inputs:
        - **logits** (Tensor) - the prediction, of any shape.
        - **label** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([4, 5, 6], mindspore.float32)
        >>> print(nn.RMSELoss()(x, y))
        3.0
    """

    @answered
    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """Return the loss."""
        return round_to_inputs(F.sqrt(F.mse_loss(widen(logits), widen(label))), logits, label)


@differs_in_api2("prediction and target may be of two float types; the loss has the wider one")
class SmoothL1Loss(LossBase):
    r"""
    L1 distance that is quadratic near 0 (Girshick, 2015): for :math:`d = |x - y|`,
    :math:`d^2 / (2 \beta)` below :math:`\beta` and :math:`d - \beta / 2` from there on.

    Args:
        beta (float): Difference below which the loss is quadratic. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Inputs:
        - **base** (Tensor) - the prediction x, float16 or float32.
        - **target** (Tensor) - the target values, of the same shape and type.

    Outputs:
        Tensor of the shape of `base`; a scalar for "mean" and "sum".

    Raises:
        TypeError: If `beta` is no float, or the types differ.
        ValueError: If `beta` is not positive, `reduction` is unknown, or the shapes differ.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 3, 6], mindspore.float32)
        >>> print(nn.SmoothL1Loss()(x, y))
        [0.  0.5 2.5]
    """

    @checked
    def __init__(self, beta: AboveZero = 1.0, reduction: Reduction = "none") -> None:
        super().__init__(reduction)
        self.beta = beta
        self.smooth_l1_loss: P.SmoothL1Loss = current(P.SmoothL1Loss)(beta)

    def construct(self, base: Tensor, target: Tensor) -> Tensor:
        """Return the losses."""
        return self.get_loss(self.smooth_l1_loss(base, target))


class HuberLoss(LossBase):
    r"""
    Huber loss (1964), quadratic near 0 and linear elsewhere: for :math:`d = |x - y|`, :math:`d^2 / 2` up to
    :math:`\delta` and :math:`\delta (d - \delta / 2)` from there on.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        delta (Union[int, float]): Difference above which the loss is linear, positive. Default: 1.0.

    Inputs:
        - **logits** (Tensor) - the prediction x, of any shape.
        - **labels** (Tensor) - the target values.

    Outputs:
        Tensor, a scalar; for "none" the losses of all elements.

    Raises:
        TypeError: If `delta` is no number.
        ValueError: If it is not positive, or `reduction` is unknown.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 3, 6], mindspore.float32)
        >>> print(nn.HuberLoss()(x, y))
        1.0
    """

    @checked
    def __init__(
        self, reduction: Reduction = "mean", delta: Annotated[float, Between(Float, 0, None, low_in=False)] = 1.0
    ) -> None:
        super().__init__(reduction)
        self.delta: float = delta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss."""
        return F.huber_loss(logits, labels, self.reduction, self.delta)
