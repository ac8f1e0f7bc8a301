"""Optimizers with running means of gradients and of their squares: Adam and its variants."""

from typing import Any

from msnb.experimental.optim.optimizer import Optimizer, above, at_least, fractions
from msnb.ops import functional as F

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


def moments(group: dict[str, Any], gradient: Any, mean: Any, square: Any) -> tuple[Any, Any]:
    """Update both running means with `gradient` and return them."""
    beta1, beta2 = group["betas"]
    F.assign(mean, mean * beta1 + gradient * (1 - beta1))
    F.assign(square, square * beta2 + gradient * gradient * (1 - beta2))
    return mean, square


class _BiasCorrected(Optimizer):
    """Base class of optimizers with bias correction by the powers of `betas`."""

    def _compute_group_values(self, group):
        step = F.cast(getattr(self, self._counter), self.lrs[0].dtype)
        return tuple(1 - F.pow(beta, step) for beta in group["betas"])


class Adam(_BiasCorrected):
    r"""Adam, as computed by `nn.Adam`: :math:`\epsilon` is added before the bias correction.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate. Default: 1e-3.
        betas (tuple[float]): Decay rates of the means, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the denominator to avoid division by zero. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.
        amsgrad (bool): Use the maximum of the past means of squares. Default: False.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adam(Net().trainable_params(), lr=0.1)
    """

    _state = {"exp_avg": "zeros", "exp_avg_sq": "zeros", "max_exp_avg_sq": "zeros"}
    _counter = "state_step"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        at_least("Adam", lr=lr, eps=eps, weight_decay=weight_decay)
        fractions("Adam", betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(params, {**defaults, "maximize": maximize})

    def _update_parameter(self, group, shared, param, gradient, mean, square, largest):
        correction1, correction2 = shared
        mean, square = moments(group, gradient, mean, square)
        if group["amsgrad"]:
            F.assign(largest, F.maximum(largest, square))
            square = largest
        F.assign(
            param, param - group["lr"] * F.sqrt(correction2) / correction1 * mean / (F.sqrt(square) + group["eps"])
        )


class AdamW(_BiasCorrected):
    r"""Adam with decoupled weight decay (Loshchilov and Hutter, 2017); :math:`\epsilon` is added after the bias
    correction.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate. Default: 1e-3.
        betas (tuple[float]): Decay rates of the means, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the denominator to avoid division by zero. Default: 1e-8.
        weight_decay (float): Decay of the Parameters. Default: 0.01.
        amsgrad (bool): Use the maximum of the past means of squares. Default: False.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.AdamW(Net().trainable_params(), lr=0.1, weight_decay=0.05)
    """

    _state = {"exp_avg": "zeros", "exp_avg_sq": "zeros", "max_exp_avg_sq": "zeros"}
    _counter = "state_step"
    _penalised = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        at_least("AdamW", lr=lr, eps=eps, weight_decay=weight_decay)
        fractions("AdamW", betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(params, {**defaults, "maximize": maximize})

    def _update_parameter(self, group, shared, param, gradient, mean, square, largest):
        (correction1, correction2), rate = shared, group["lr"]
        mean, square = moments(group, gradient, mean, square)
        if group["amsgrad"]:
            F.assign(largest, F.maximum(largest, square))
            square = largest
        decayed = param * (1 - rate * group["weight_decay"])
        F.assign(param, decayed - rate / correction1 * mean / (F.sqrt(square) / F.sqrt(correction2) + group["eps"]))


class Adamax(_BiasCorrected):
    """Adam with a decaying maximum of gradients as its denominator (Kingma and Ba, 2014, section 7.1).

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 2e-3.
        betas (tuple[float]): Decay rates of mean and maximum, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the absolute value of a gradient, positive. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adamax(Net().trainable_params(), lr=0.1)
    """

    _state = {"exp_avg": "zeros", "exp_inf": "zeros"}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        above("Adamax", lr=lr, eps=eps)
        at_least("Adamax", weight_decay=weight_decay)
        fractions("Adamax", betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)

    def _update_parameter(self, group, shared, param, gradient, mean, largest):
        beta1, beta2 = group["betas"]
        F.assign(mean, mean * beta1 + gradient * (1 - beta1))
        F.assign(largest, F.maximum(largest * beta2, F.absolute(gradient) + group["eps"]))
        F.assign(param, param - group["lr"] / shared[0] * mean / largest)


class NAdam(_BiasCorrected):
    """Adam with Nesterov momentum (Dozat, Incorporating Nesterov Momentum into Adam, 2016).

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 2e-3.
        betas (tuple[float]): Decay rates of the means, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the denominator to avoid division by zero, positive. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.
        momentum_decay (float): Rate at which the momentum approaches ``betas[0]``. Default: 4e-3.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.NAdam(Net().trainable_params(), lr=0.1)
    """

    _state = {"exp_avg": "zeros", "exp_avg_sq": "zeros"}
    _scalars = {"mu_product": 1.0}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        above("NAdam", lr=lr, eps=eps)
        at_least("NAdam", weight_decay=weight_decay, momentum_decay=momentum_decay)
        fractions("NAdam", betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**defaults, "momentum_decay": momentum_decay})

    def _update_parameter(self, group, shared, param, gradient, mean, square, product):
        step = F.cast(self.step_t, self.lrs[0].dtype)
        momentum, next_momentum = (
            group["betas"][0] * (1.0 - 0.5 * F.pow(0.96, at * group["momentum_decay"])) for at in (step, step + 1)
        )
        F.assign(product, product * momentum)
        mean, square = moments(group, gradient, mean, square)
        scale = group["lr"] / (F.sqrt(square / shared[1]) + group["eps"])
        direction = (1.0 - momentum) / (1.0 - product) * gradient + next_momentum / (
            1.0 - product * next_momentum
        ) * mean
        F.assign(param, param - scale * direction)


class RAdam(_BiasCorrected):
    """Adam with a rectified step size during the first steps (Liu et al., On the Variance of the Adaptive Learning
    Rate and Beyond, 2019).

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 1e-3.
        betas (tuple[float]): Decay rates of the means, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the denominator to avoid division by zero, positive. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.RAdam(Net().trainable_params(), lr=0.1)
    """

    _state = {"exp_avg": "zeros", "exp_avg_sq": "zeros"}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        above("RAdam", lr=lr, eps=eps)
        at_least("RAdam", weight_decay=weight_decay)
        fractions("RAdam", betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _update_parameter(self, group, shared, param, gradient, mean, square):
        correction1, correction2 = shared
        mean, square = moments(group, gradient, mean, square)
        step = F.cast(self.step_t, self.lrs[0].dtype)
        longest = 2.0 / (1.0 - group["betas"][1]) - 1.0
        # effective number of gradients in the mean of squares
        length = longest - 2.0 * step * (1.0 - correction2) / correction2
        safe_length = F.maximum(length, 5.0)
        rectified = (safe_length - 4) * (safe_length - 2) * longest / ((longest - 4) * (longest - 2) * safe_length)
        adapted = F.sqrt(rectified * correction2) / (F.sqrt(square) + group["eps"])
        scale = F.select(F.broadcast_to(length > 5.0, square.shape), adapted, F.ones_like(square))
        F.assign(param, param - group["lr"] * mean / correction1 * scale)
