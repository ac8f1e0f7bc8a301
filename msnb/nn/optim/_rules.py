"""Update rules of optimizers for which MindSpore has no operator. Each updates one Parameter."""

from typing import Any

from msnb.ops import functional as F


def averaged(param: Any, gradient: Any, average: Any, share: Any, rate: Any, lr: Any, step: Any, *numbers: Any) -> None:
    """Take one step of averaged gradient descent. It writes the Parameter, its average, the weight `share` of the next
    Parameter in the average, and the next learning rate. `numbers` are the decay, the power and the step at which
    averaging begins."""
    decay, power, begin = numbers
    F.assign(rate, F.select(step == 1, lr * F.ones_like(rate), rate))
    F.assign(param, F.cast(param * (1.0 - decay * rate) - rate * gradient, param.dtype))
    F.assign(average, F.cast(average + (param - average) * share, average.dtype))
    F.assign(rate, lr / F.pow(1.0 + decay * lr * step, power))
    F.assign(share, 1.0 / F.maximum(1.0, step - begin))


def resilient(
    param: Any, gradient: Any, before: Any, size: Any, lr: Any, step: Any, etas: Any, step_sizes: Any
) -> None:
    """Take one step of resilient backpropagation. It writes the Parameter, the last gradient `before`, with which the
    next step compares signs, and the step sizes."""
    ones = F.ones_like(size)
    agreed = F.sign(gradient * before)
    turned = agreed < 0
    grown = F.select(agreed > 0, ones * etas[1], F.select(turned, ones * etas[0], ones))
    first = F.broadcast_to(step == 1, size.shape)
    sized = F.select(first, ones * lr, size) * grown
    F.assign(size, F.minimum(F.maximum(sized, step_sizes[0]), step_sizes[1]))
    F.assign(before, F.select(turned, F.zeros_like(gradient), gradient))
    F.assign(param, param - F.sign(before) * size)
