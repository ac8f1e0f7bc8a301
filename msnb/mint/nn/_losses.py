"""Losses and normalisation of mint, with PyTorch's arguments."""

from typing import Any, Literal

from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops.nn.loss.binary_cross_entropy import BinaryCrossEntropy

Reduction = Literal["none", "mean", "sum"]

_EPSILON = 1e-12  # a vector of zeros has the cosine 0

__all__ = [
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "kl_div",
    "nll_loss",
    "smooth_l1_loss",
]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel to mean 0 and standard deviation 1 over the batch, then scale and shift it.

    Args:
        input (Tensor): (N, C, ...).
        running_mean (Tensor): Running mean of each channel. In training it is updated if it is a Parameter.
        running_var (Tensor): Running variance of each channel. It is updated in the same way.
        weight (Tensor): The scale of each channel. Default: None, a scale of 1.
        bias (Tensor): The shift of each channel. Default: None, a shift of 0.
        training (bool): Whether to normalise with mean and variance of the batch instead of the running ones. Default:
            False.
        momentum (float): Weight of the batch in each update of the running statistics. Default: 0.1.
        eps (float): Added to the variance under the square root. Default: 1e-5.

    Returns:
        Tensor of the shape of `input`.
    """
    channels = (input.shape[1],)
    weight = F.ones(channels, input.dtype) if weight is None else weight
    bias = F.zeros(channels, input.dtype) if bias is None else bias
    mean = F.zeros(channels, input.dtype) if running_mean is None else running_mean
    var = F.ones(channels, input.dtype) if running_var is None else running_var
    return F.batch_norm(input, mean, var, weight, bias, training, momentum, eps)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Return the binary cross entropy of probabilities; unlike in `mindspore.ops`, `target` has a gradient, too.

    Args:
        input (Tensor): Probabilities in (0, 1).
        target (Tensor): Target probabilities, of the same shape and type.
        weight (Tensor): The weight of each element; it gets no gradient. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".
    """
    return BinaryCrossEntropy.functional(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross entropy of the sigmoid of `input`.

    Args:
        input (Tensor): The logits.
        target (Tensor): Target probabilities, of the same shape.
        weight (Tensor): The weight of each element; it gets no gradient. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        pos_weight (Tensor): The weight of positive labels; it gets no gradient. Default: None.

    Returns:
        Tensor.
    """
    return F.binary_cross_entropy_with_logits(
        input, target, _stop_gradient(weight), _stop_gradient(pos_weight), reduction
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    """Return 1 - cos of the vectors where the target is 1, and max(0, cos - margin) where it is -1.

    Args:
        input1 (Tensor): Vectors, (N, D) or (D,).
        input2 (Tensor): Vectors, of the shape of `input1` or of one that broadcasts to it.
        target (Tensor): 1 or -1, (N,) or ().
        margin (float): The loss of a pair with target -1 is 0 if its cosine is at most this. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If `target` is not of the shape of the vectors without their last axis, or `reduction` is unknown.
    """
    if target.shape != input1.shape[:-1]:
        raise ValueError(
            f"For 'cosine_embedding_loss', 'target' should be of shape {input1.shape[:-1]}, but got {target.shape}."
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"For 'cosine_embedding_loss', 'reduction' should be 'none', 'mean' or 'sum', but got {reduction!r}."
        )
    lengths = F.sqrt(((input1 * input1).sum(-1) + _EPSILON) * ((input2 * input2).sum(-1) + _EPSILON))
    cosine = (input1 * input2).sum(-1) / lengths
    dissimilar = F.select(F.equal(target, -1), F.relu(cosine - margin), F.zeros_like(cosine))
    losses = F.select(F.equal(target, 1), 1 - cosine, dissimilar)
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def kl_div(input: Tensor, target: Tensor, reduction: Any = "mean", log_target: bool = False) -> Tensor:
    """Return the Kullback-Leibler divergence target * (log(target) - input), where `input` contains log-probabilities.

    Args:
        input (Tensor): Log-probabilities.
        target (Tensor): Target probabilities.
        reduction (str): "mean", "batchmean", "sum" or "none". Default: "mean".
        log_target (bool): Whether `target` contains log-probabilities. Default: False.

    Returns:
        Tensor.
    """
    return F.kl_div(input, F.exp(target) if log_target else target, reduction)


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: Reduction = "mean"
) -> Tensor:
    """Return the negative log-probabilities of the target classes.

    Args:
        input (Tensor): Log-probabilities, (N, C, ...) or (C,).
        target (Tensor): Indices of the true classes.
        weight (Tensor): The weight of each class; it gets no gradient. Default: None.
        ignore_index (int): Class index to ignore. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        Tensor.
    """
    return F.nll_loss(input, target, _stop_gradient(weight), ignore_index, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean", beta: float = 1.0) -> Tensor:
    """Return 0.5 * d^2 / beta where d < beta, and d - 0.5 * beta elsewhere, for d = |input - target|.

    Args:
        input (Tensor): Floating point numbers.
        target (Tensor): Target values, of the same shape.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        beta (float): Difference below which the loss is quadratic. Default: 1.0.

    Returns:
        Tensor.
    """
    return F.smooth_l1_loss(input, target, float(beta), reduction)


def _stop_gradient(weight: Tensor | None) -> Tensor | None:
    return None if weight is None else F.stop_gradient(weight)
