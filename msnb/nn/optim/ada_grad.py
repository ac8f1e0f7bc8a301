"""Adagrad."""

from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim.optimizer import Gradients
from msnb.ops import operations as P

__all__ = ["Adagrad"]


class Adagrad(DeclaredOptimizer):
    r"""Adagrad (Duchi et al., Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011).

    .. math::
        a_{t+1} = a_t + g^2, \qquad p_{t+1} = p_t - \eta\, g / \sqrt{a_{t+1}}

    where p is a Parameter, g its gradient, a its accumulated squares and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.001.
        update_slots (bool): Whether a is updated. Default: True.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `accum` is negative.
        TypeError: If `accum` is no float or `update_slots` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.Adagrad(params=net.trainable_params(), learning_rate=0.01)
    """

    @checked
    def __init__(
        self,
        params: Trained,
        accum: NonNegativeFloat = 0.1,
        learning_rate: LearningRate = 0.001,
        update_slots: Bool = True,
        loss_scale: PositiveNumber = 1.0,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._declare_state(accum=("accum", accum))
        self.update_slots: bool = update_slots
        self.opt: P.ApplyAdagrad = P.ApplyAdagrad(update_slots=update_slots)

    def construct(self, grads: Gradients) -> bool:
        return super().construct(grads)

    def _apply_step(self, param, gradient, rate, accum):
        self.opt(param, accum, rate, gradient)
