"""Negative log-likelihood losses of MindSpore 2."""

import math

from msnb.common.kinds import Bool, NonNegInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteNumber, PositiveFloat
from msnb.nn._input_checks import INTS, check_dims
from msnb.nn._kinds import Reduction
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F

__all__ = ["CTCLoss", "GaussianNLLLoss", "PoissonNLLLoss"]

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class PoissonNLLLoss(LossBase):
    r"""
    Negative log-likelihood of counts y under a Poisson distribution of rate :math:`\lambda`:
    :math:`\lambda - y \log \lambda`.

    Args:
        log_input (bool): Whether the input is the logarithm of the rate. Default: True.
        full (bool): Whether Stirling's term of y > 1 is added, :math:`y \log y - y + \log(2 \pi y) / 2`. Default:
            False.
        eps (float): Added to a rate before its logarithm is computed. Default: 1e-8.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **input** (Tensor) - the rates or logarithms of rates, of any shape.
        - **target** (Tensor) - the counts, of the same shape.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `input`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `reduction` is unknown.

    Examples:
        >>> print(nn.PoissonNLLLoss()(Tensor([0.0], mindspore.float32), Tensor([2], mindspore.int32)))
        1.0
    """

    @checked
    def __init__(
        self, log_input: Bool = True, full: Bool = False, eps: FiniteNumber = 1e-8, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        self.log_input: bool = log_input
        self.full: bool = full
        self.eps: float = eps

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        x = widen(input)
        y = F.cast(target, x.dtype)
        losses = F.exp(x) - y * x if self.log_input else x - y * F.log(x + self.eps)
        if self.full:
            many = F.maximum(y, 1.0)  # y <= 1 has no such term, but its gradient must be finite
            stirling = (many + 0.5) * F.log(many) - many + _HALF_LOG_TAU
            losses = losses + F.select(F.greater(y, 1.0), stirling, F.zeros_like(stirling))
        return round_to_inputs(self.get_loss(losses), input)


class GaussianNLLLoss(LossBase):
    r"""
    Negative log-likelihood of numbers y under normal distributions of mean x and variance v:
    :math:`\frac{1}{2} (\log v + (x - y)^2 / v)`.

    Keyword Args:
        full (bool): Whether the constant :math:`\log(2 \pi) / 2` is added. Default: False.
        eps (float): Lower bound of the variance. Default: 1e-6.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - the means x, of any shape.
        - **labels** (Tensor) - the numbers y, of the same shape, or of a shape that is broadcast to it.
        - **var** (Tensor) - the variances v, of the same shape, or of that shape without the last axis.

    Outputs:
        Tensor, a scalar; for "none" of the shape of `logits`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `eps` is not positive, or `reduction` is unknown.

    Examples:
        >>> x, y, v = (Tensor([n], mindspore.float32) for n in (1.0, 3.0, 1.0))
        >>> print(nn.GaussianNLLLoss()(x, y, v))
        2.0
    """

    @checked
    def __init__(self, *, full: Bool = False, eps: PositiveFloat = 1e-6, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.full: bool = full
        self.eps: float = eps

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        """Return the loss."""
        return F.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class CTCLoss(LossBase):
    """
    Connectionist temporal classification: negative log-likelihood of a class sequence with unknown alignment (Graves
    et al., 2006).

    Args:
        blank (int): The index of the blank class. Default: 0.
        reduction (str): "mean" (each loss is divided by the length of its target first), "sum" or "none". Default:
            "mean".
        zero_infinity (bool): Whether infinite losses and their gradients are set to 0. Default: False.

    Inputs:
        - **log_probs** (Tensor) - logarithms of probabilities, of shape (T, N, C), or (T, C) for one sequence.
        - **targets** (Tensor) - classes, int32 or int64, of shape (N, S).
        - **input_lengths** (Union[tuple, Tensor]) - number of time steps of each sequence, of shape (N,).
        - **target_lengths** (Union[tuple, Tensor]) - length of each target, of shape (N,).

    Outputs:
        Tensor, a scalar; for "none" of shape (N,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `reduction` is unknown, or the shapes do not fit.

    Examples:
        >>> log_probs = Tensor(np.log(np.full((2, 1, 3), 1 / 3)), mindspore.float32)
        >>> print(nn.CTCLoss()(log_probs, Tensor([[1]], mindspore.int32), (2,), (1,)))
        1.0986123
    """

    @checked
    def __init__(self, blank: NonNegInt = 0, reduction: Reduction = "mean", zero_infinity: Bool = False) -> None:
        super().__init__(reduction)
        self.blank: int = blank
        self.zero_infinity: bool = zero_infinity

    def construct(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | tuple[int, ...],
        target_lengths: Tensor | tuple[int, ...],
    ) -> Tensor:
        """Return the loss."""
        check_dims(self.cls_name, log_probs, 2, 3, name="'log_probs'")
        single = log_probs.ndim == 2
        if single:
            check_dims(self.cls_name, targets, 1, 2, name="'targets'")
            log_probs = F.expand_dims(log_probs, 1)
            targets = F.expand_dims(targets, 0) if targets.ndim == 1 else targets
        lengths = [
            length if isinstance(length, Tensor) else Tensor(list(length), INTS[0])
            for length in (input_lengths, target_lengths)
        ]
        loss = F.ctc_loss(log_probs, targets, *lengths, self.blank, self.reduction, self.zero_infinity)[0]
        return loss[0] if single and loss.ndim else loss
