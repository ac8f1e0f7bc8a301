"""Loss functions for numbers and distributions that newer versions of MindSpore added."""

from msnb._checkparam import Validator
from msnb.nn._half import rounded, widened
from msnb.nn.loss.loss import L1Loss, MSELoss, _Loss
from msnb.ops import operations as P

__all__ = ["MAELoss", "RMSELoss", "HuberLoss", "KLDivLoss"]


class MAELoss(L1Loss):
    """
    Mean absolute error: L1Loss under another name.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction, of any shape.
        - **target** (Tensor) - what it should be.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of the difference.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """


class RMSELoss(_Loss):
    """
    The square root of the mean squared error.

    Inputs:
        - **logits** (Tensor) - the prediction, of any shape.
        - **label** (Tensor) - what it should be.

    Outputs:
        Tensor, a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self):
        super().__init__()
        self.mse = MSELoss()
        self.sqrt = P.Sqrt()

    def construct(self, logits, label):
        return rounded(self.sqrt(self.mse(widened(logits), widened(label))), logits, label)


class HuberLoss(_Loss):
    r"""
    Squared error near 0, absolute error beyond: with :math:`d = |x - y|`, :math:`d^2 / 2` where :math:`d \le \delta`
    and :math:`\delta (d - \delta / 2)` elsewhere.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        delta (Union[int, float]): Where the two meet, positive. Default: 1.0.

    Inputs:
        - **logits** (Tensor) - the prediction, of any shape.
        - **labels** (Tensor) - what it should be.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of the difference.

    Raises:
        ValueError: If `delta` is not positive, or `reduction` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction)
        Validator.check_value_type("delta", delta, [int, float], self.cls_name)
        if delta <= 0:
            raise ValueError(f"For 'HuberLoss', 'delta' should be positive, but got {delta}.")
        self.delta = delta
        self.abs = P.Abs()
        self.minimum = P.Minimum()

    def construct(self, logits, labels):
        distance = self.abs(widened(logits) - widened(labels))
        near = self.minimum(distance, self.delta)
        return rounded(self.get_loss(near * (distance - 0.5 * near)), logits, labels)


class KLDivLoss(_Loss):
    r"""
    Kullback-Leibler divergence of log-probabilities x and probabilities y: :math:`y (\log y - x)`, 0 where y is 0.

    Args:
        reduction (str): "mean", "batchmean" (the sum over the size of axis 0), "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - the logarithms of the predicted probabilities.
        - **labels** (Tensor) - the probabilities, of the shape and type of `logits`.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `logits`.

    Raises:
        ValueError: If `reduction` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, reduction="mean"):
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.batch_mean = reduction == "batchmean"
        self.log = P.Log()
        self.greater = P.Greater()
        self.select = P.Select()
        self.ones_like = P.OnesLike()

    def construct(self, logits, labels):
        x, y = widened(logits), widened(labels)
        safe = self.select(self.greater(y, 0), y, self.ones_like(y))
        loss = self.get_loss(y * (self.log(safe) - x))
        return rounded(loss / logits.shape[0] if self.batch_mean else loss, logits, labels)
