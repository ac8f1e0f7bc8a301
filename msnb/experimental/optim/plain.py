"""Optimizers without running means of squared gradients: SGD, ASGD, Rprop."""

from typing import Any

from msnb.common.kinds import Bool, check
from msnb.experimental.optim.optimizer import Optimizer, above, at_least
from msnb.nn.optim._rules import averaged, resilient
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["ASGD", "SGD", "Rprop"]


class SGD(Optimizer):
    """Stochastic gradient descent with momentum.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate.
        momentum (Union[int, float]): Momentum. Default: 0.
        dampening (Union[int, float]): Reduction of the gradient's weight in the momentum, except in the first step.
            Default: 0.
        weight_decay (float): L2 penalty. Default: 0.0.
        nesterov (bool): Use Nesterov momentum. Default: False.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        TypeError: If `nesterov` or `maximize` is not a bool.
        ValueError: If a number is negative, or `nesterov` is used without momentum or with dampening.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.SGD(Net().trainable_params(), lr=0.1, momentum=0.9)
    """

    _state = {"accum": "zeros", "stat": "ones"}
    _penalised = False  # P.SGD applies the weight decay

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        at_least("SGD", lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay)
        for name, value in (("nesterov", nesterov), ("maximize", maximize)):
            check(Bool, value, name, "SGD")
        if nesterov and (not momentum or dampening):
            raise ValueError("For 'SGD', 'nesterov' needs a positive 'momentum' and no 'dampening'.")
        defaults = {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov}
        super().__init__(params, {**defaults, "weight_decay": weight_decay, "maximize": maximize})

    def _compute_group_values(self, group):
        return P.SGD(float(group["dampening"]), group["weight_decay"], group["nesterov"])

    def _update_parameter(self, group, shared, param, gradient, accum, stat):
        shared(param, gradient, group["lr"], accum, F.fill(param.dtype, (), float(group["momentum"])), stat)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging,
    1992). The attribute `ax` has the averages.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Learning rate, positive. Default: 1e-2.
        lambd (float): Decay of the Parameters. Default: 1e-4.
        alpha (float): Power of the decay of the learning rate. Default: 0.75.
        t0 (float): The step at which averaging begins. Default: 1e6.
        weight_decay (float): L2 penalty. Default: 0.0.
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        TypeError: If `lambd`, `alpha` or `t0` is not a float.
        ValueError: If `lr` is not positive, or `weight_decay` negative.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.ASGD(Net().trainable_params(), lr=0.1)
    """

    _state = {"ax": "zeros"}
    _scalars = {"mu": 1.0, "eta": 0.0}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        above("ASGD", lr=lr)
        at_least("ASGD", weight_decay=weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            if not isinstance(value, float):
                raise TypeError(f"For 'ASGD', '{name}' should be a float, but got {value!r}.")
        defaults = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        super().__init__(params, {**defaults, "maximize": maximize})

    def _update_parameter(self, group, shared, param, gradient, average, share, rate):
        step = F.cast(self.step_t, self.lrs[0].dtype)
        averaged(param, gradient, average, share, rate, group["lr"], step, *map(group.get, ("lambd", "alpha", "t0")))


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993), which uses only the signs of gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train, see :class:`Optimizer`.
        lr (Union[int, float, Tensor]): Initial step size, positive. Default: 1e-2.
        etas (tuple[float]): Factors of a step size: the first after a change of the gradient's sign, the second if the
            sign is the same. Default: (0.5, 1.2).
        step_sizes (tuple[float]): The smallest and the largest step size. Default: (1e-6, 50).
        maximize (bool): Maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> from mindspore.experimental import optim
        >>> optimizer = optim.Rprop(Net().trainable_params(), lr=0.1)
    """

    _state = {"prev": "zeros", "step_size": "zeros"}
    _counter = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        above("Rprop", lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"For 'Rprop', 'etas' should be one below 1 and one above, but got {etas}.")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})

    def _update_parameter(self, group, shared, param, gradient, previous_gradient, size):
        resilient(
            param, gradient, previous_gradient, size, group["lr"], self.step_t, group["etas"], group["step_sizes"]
        )
