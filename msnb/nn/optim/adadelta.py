"""Adadelta."""

from typing import Annotated

from msnb.common.kinds import Between, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat, NonNegativeFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim.optimizer import Gradients
from msnb.ops import operations as P

__all__ = ["Adadelta"]


class Adadelta(DeclaredOptimizer):
    r"""Adadelta (Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012).

    .. math::
        a_{t+1} = \rho a_t + (1 - \rho)\, g^2, \quad
        u = \sqrt{\frac{b_t + \epsilon}{a_{t+1} + \epsilon}}\, g, \quad
        b_{t+1} = \rho b_t + (1 - \rho)\, u^2, \quad
        p_{t+1} = p_t - \eta\, u

    where p is a Parameter, g its gradient, a and b are means of squares of gradients and of updates (named ``accum.``
    and ``accum_update.`` + its name) and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 1.0.
        rho (float): Decay rate of both means, in [0, 1]. Default: 0.9.
        epsilon (float): Added to both means, at least 0. Default: 1e-6.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        weight_decay (Union[float, Cell]): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `rho` or `epsilon` is no float.
        ValueError: If one of them is out of range.

    Examples:
        >>> net = Net()
        >>> optim = nn.Adadelta(params=net.trainable_params())
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 1.0,
        rho: Annotated[float, Between(FiniteFloat, 0, 1)] = 0.9,
        epsilon: NonNegativeFloat = 1e-6,
        loss_scale: PositiveNumber = 1.0,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho, self.epsilon = rho, epsilon
        self._declare_state(accum=("accum", "zeros"), accum_update=("accum_update", "zeros"))
        self.opt: P.ApplyAdadelta = P.ApplyAdadelta()

    def construct(self, grads: Gradients) -> bool:
        return super().construct(grads)

    def _apply_step(self, param, gradient, rate, accum, accum_update):
        self.opt(param, accum, accum_update, rate, self.rho, self.epsilon, gradient)
