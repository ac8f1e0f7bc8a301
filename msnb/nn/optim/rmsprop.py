"""RMSProp."""

from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, PositiveFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import operations as P

__all__ = ["RMSProp"]


class RMSProp(DeclaredOptimizer):
    r"""RMSProp (Tieleman and Hinton, Lecture 6.5 of Neural Networks for Machine Learning, 2012).

    .. math::
        s_{t+1} = \rho\, s_t + (1 - \rho)\, g^2, \quad
        m_{t+1} = \beta\, m_t + \frac{\eta\, g}{\sqrt{s_{t+1} + \epsilon}}, \quad
        p_{t+1} = p_t - m_{t+1}

    When centered, the mean gradient :math:`a_{t+1} = \rho\, a_t + (1 - \rho)\, g` is stored as well and
    :math:`s_{t+1} - a_{t+1}^2` replaces :math:`s_{t+1}` under the root. p is a Parameter, g its gradient,
    :math:`\rho` `decay`, :math:`\beta` `momentum` and :math:`\eta` the learning rate; s begins with 1.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.1.
        decay (float): Decay rate of the means, at least 0. Default: 0.9.
        momentum (float): Momentum, at least 0. Default: 0.0.
        epsilon (float): Keeps the root from zero, positive. Default: 1e-10.
        use_locking (bool): No effect: updates never race in msnb. Default: False.
        centered (bool): Whether the mean gradient is subtracted. Default: False.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `decay` or `momentum` is negative, or `epsilon` is not positive.
        TypeError: If one of them is no float, or `use_locking` or `centered` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.RMSProp(params=net.trainable_params(), learning_rate=0.01)
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 0.1,
        decay: NonNegativeFloat = 0.9,
        momentum: NonNegativeFloat = 0.0,
        epsilon: PositiveFloat = 1e-10,
        use_locking: Bool = False,
        centered: Bool = False,
        loss_scale: PositiveNumber = 1.0,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay: NonNegativeFloat = decay
        self.momentum: NonNegativeFloat = momentum
        self.epsilon: PositiveFloat = epsilon
        self.centered: bool = centered
        self.opt = (P.ApplyCenteredRMSProp if centered else P.ApplyRMSProp)(use_locking)
        means = {"mg": ("mean_grad", "zeros")} if centered else {}
        self._declare_state(**means, ms=("mean_square", "ones"), moment=("moment", "zeros"))

    def _apply_step(self, param, gradient, rate, *means):
        last = (gradient, rate) if self.centered else (rate, gradient)
        self.opt(param, *means, *last, self.decay, self.momentum, self.epsilon)
