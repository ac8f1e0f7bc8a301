"""ASGD."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import checked
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim._rules import averaged

__all__ = ["ASGD"]


class ASGD(DeclaredOptimizer):
    r"""Averaged stochastic gradient descent (Polyak and Juditsky, Acceleration of Stochastic Approximation by
    Averaging, 1992).

    .. math::
        p_{t+1} = (1 - \lambda \eta_t)\, p_t - \eta_t\, g, \quad
        a_{t+1} = a_t + (p_{t+1} - a_t)\, \mu_t, \quad
        \eta_{t+1} = \frac{\eta}{(1 + \lambda \eta t)^{\alpha}}, \quad
        \mu_{t+1} = \frac{1}{\max(1, t - t_0)}

    where p is a Parameter, g its gradient, a its average (named ``ax_.`` + its name) and :math:`\eta` the learning
    rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.1.
        lambd (float): Decay of the Parameters. Default: 1e-4.
        alpha (float): Power of the decay of the learning rate. Default: 0.75.
        t0 (float): The step at which averaging begins. Default: 1e6.
        weight_decay (Union[float, Cell]): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `lambd`, `alpha` or `t0` is no float.

    Examples:
        >>> net = Net()
        >>> optim = nn.ASGD(params=net.trainable_params())
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 0.1,
        lambd: FiniteFloat = 1e-4,
        alpha: FiniteFloat = 0.75,
        t0: FiniteFloat = 1e6,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self._numbers = lambd, alpha, t0
        self.mu, self.eta = (
            ParameterTuple([_create_scalar_parameter(begin, f"{prefix}_{p.name}") for p in self.parameters])
            for prefix, begin in (("mu", 1.0), ("eta", 0.0))
        )
        self._declare_state("mu", "eta", ax=("ax_", "zeros"))
        self._create_step_counter()

    def _compute_step_values(self):
        return (self._advance_step(),)

    def _apply_step(self, param, gradient, rate, average, share, own_rate, step):
        averaged(param, gradient, average, share, own_rate, rate, step, *self._numbers)


def _create_scalar_parameter(value, name):
    return Parameter(Tensor(np.float32(value), mstype.float32), name)
