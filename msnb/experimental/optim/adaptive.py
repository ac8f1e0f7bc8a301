"""Optimizers that divide gradients by the size of past gradients: Adagrad, Adadelta, RMSprop."""

from typing import Any

from msnb.experimental.optim.optimizer import Optimizer, above, at_least
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012).

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 1.0.
        rho (float): Decay rate of the means, in [0, 1]. Default: 0.9.
        eps (float): Added to both means, positive. Default: 1e-6.
        weight_decay (float): L2 penalty. Default: 0.0.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adadelta(Net().trainable_params(), lr=0.1)
    """

    _state = {"accum": "zeros", "accum_update": "zeros"}

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        above("Adadelta", lr=lr, eps=eps)
        at_least("Adadelta", weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"For 'Adadelta', 'rho' should be in [0, 1], but got {rho}.")
        defaults = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)
        self.opt: P.ApplyAdadelta = P.ApplyAdadelta()

    def _update_parameter(self, group, shared, param, gradient, square, update):
        self.opt(param, square, update, group["lr"], group["rho"], group["eps"], gradient)


class Adagrad(Optimizer):
    """Adagrad (Duchi et al., 2011) with a decaying learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 1e-2.
        lr_decay (float): Step n has the rate ``lr / (1 + n * lr_decay)``, n from 0. Default: 0.0.
        weight_decay (float): L2 penalty. Default: 0.0.
        initial_accumulator_value (float): Initial value of the sum of squares. Default: 0.0.
        eps (float): Added to the denominator to avoid division by zero, positive. Default: 1e-10.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Adagrad(Net().trainable_params(), lr=0.1)
    """

    _state = {"accum": "initial_accumulator_value"}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        above("Adagrad", lr=lr, eps=eps)
        begin = {"initial_accumulator_value": initial_accumulator_value}
        at_least("Adagrad", lr_decay=lr_decay, weight_decay=weight_decay, **begin)
        defaults = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, {**defaults, **begin})

    def _compute_group_values(self, group):
        return group["lr"] / (1 + (self.step_t - 1) * group["lr_decay"])

    def _update_parameter(self, group, shared, param, gradient, squares):
        F.assign(squares, squares + gradient * gradient)
        F.assign(param, param - shared * gradient / (F.sqrt(squares) + group["eps"]))


class RMSprop(Optimizer):
    """RMSprop (Hinton, lecture 6e of Neural Networks for Machine Learning), with momentum after Graves, 2013.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 1e-2.
        alpha (float): Decay rate of the means. Default: 0.99.
        eps (float): Added to the denominator to avoid division by zero, positive. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.
        momentum (float): Momentum. Default: 0.0.
        centered (bool): Use the variance instead of the mean of squares. Default: False.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.RMSprop(Net().trainable_params(), lr=0.1)
    """

    _state = {"mean_grad": "zeros", "mean_square": "zeros", "moment": "zeros"}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        above("RMSprop", lr=lr, eps=eps)
        at_least("RMSprop", alpha=alpha, weight_decay=weight_decay, momentum=momentum)
        defaults = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        super().__init__(params, {**defaults, "weight_decay": weight_decay, "maximize": maximize})

    def _update_parameter(self, group, shared, param, gradient, mean, square, moment):
        alpha = group["alpha"]
        F.assign(square, square * alpha + gradient * gradient * (1 - alpha))
        size = square
        if group["centered"]:
            F.assign(mean, mean * alpha + gradient * (1 - alpha))
            size = square - mean * mean
        step = gradient / (F.sqrt(size) + group["eps"])
        if group["momentum"] > 0:
            F.assign(moment, moment * group["momentum"] + step)
            step = moment
        F.assign(param, param - group["lr"] * step)
