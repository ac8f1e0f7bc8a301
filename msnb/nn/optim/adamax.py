"""AdaMax."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import Fraction, PositiveFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["AdaMax"]


class AdaMax(DeclaredOptimizer):
    r"""AdaMax (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014, section 7.1).

    .. math::
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, g, \quad
        v_{t+1} = \max(\beta_2 v_t, |g|), \quad
        p_{t+1} = p_t - \frac{\eta}{1 - \beta_1^{t+1}} \frac{m_{t+1}}{v_{t+1} + \epsilon}

    where p is a Parameter, g its gradient, m and v are its moments (named ``moment1.`` and ``moment2.`` + its name) and
    :math:`\eta` is the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.001.
        beta1 (float): Decay rate of the mean, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the maximum, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-8.
        weight_decay (Union[float, Cell]): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `beta1`, `beta2` or `eps` is no float.
        ValueError: If one of them is out of range.

    Examples:
        >>> net = Net()
        >>> optim = nn.AdaMax(params=net.trainable_params())
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 0.001,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-8,
        weight_decay: WeightDecay = 0.0,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2, self.eps = (Tensor(number, mstype.float32) for number in (beta1, beta2, eps))
        self.beta1_power: Parameter = Parameter(np.ones(1, np.float32), name="beta1_power")
        self._declare_state(moment1=("moment1", "zeros"), moment2=("moment2", "zeros"))
        self.opt: P.ApplyAdaMax = P.ApplyAdaMax()

    def _compute_step_values(self):
        F.assign(self.beta1_power, self.beta1_power * self.beta1)
        return (self.beta1_power,)

    def _apply_step(self, param, gradient, rate, moment1, moment2, power):
        self.opt(param, moment1, moment2, power, rate, self.beta1, self.beta2, self.eps, gradient)
