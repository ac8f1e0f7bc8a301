"""FTRL."""

from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, NonPositiveFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim.optimizer import Gradients
from msnb.ops import operations as P

__all__ = ["FTRL"]


class FTRL(DeclaredOptimizer):
    r"""FTRL-proximal (McMahan et al., Ad Click Prediction: a View from the Trenches, 2013).

    .. math::
        a_{t+1} &= a_t + g^2, \qquad
        z_{t+1} = z_t + g - \frac{a_{t+1}^{-q} - a_t^{-q}}{\eta}\, p_t \\
        p_{t+1} &= \frac{\mathrm{sign}(z_{t+1})\, l_1 - z_{t+1}}{a_{t+1}^{-q} / \eta + 2\, l_2}
        \text{ where } |z_{t+1}| > l_1, \text{ else } 0

    where p is a Parameter, g its gradient, a its accumulated squares, z its linear term, q `lr_power` and :math:`\eta`
    the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`; groups share the
            learning rate.
        initial_accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (float): Learning rate, the same in all steps. Default: 0.001.
        lr_power (float): Exponent q of the accumulated squares, at most 0. Default: -0.5.
        l1 (float): L1 regularization, at least 0. Default: 0.0.
        l2 (float): L2 regularization, at least 0. Default: 0.0.
        use_locking (bool): No effect: updates never race in msnb. Default: False.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        weight_decay (float): L2 penalty of all Parameters. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If the learning rate changes by step or group, or a number is out of range.
        TypeError: If a number is no float or `use_locking` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.FTRL(params=net.trainable_params())
    """

    _has_target = True

    @checked
    def __init__(
        self,
        params: Trained,
        initial_accum: NonNegativeFloat = 0.1,
        learning_rate: LearningRate = 0.001,
        lr_power: NonPositiveFloat = -0.5,
        l1: NonNegativeFloat = 0.0,
        l2: NonNegativeFloat = 0.0,
        use_locking: Bool = False,
        loss_scale: PositiveNumber = 1.0,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(
                f"For '{self.cls_name}', 'learning_rate' should be one number for all steps and groups, "
                f"but got several, or a schedule."
            )
        self._declare_state(moments=("moments", initial_accum), linear=("linear", "zeros"))
        self.lr: float = float(learning_rate)
        self.l1: NonNegativeFloat = l1
        self.l2: NonNegativeFloat = l2
        self.lr_power: NonPositiveFloat = lr_power
        self.use_locking: bool = use_locking
        self.opt: P.ApplyFtrl = P.ApplyFtrl(use_locking)
        if not self.is_group:  # MindSpore exempts no Parameter here
            self.decay_flags = (True,) * self.param_length

    def construct(self, grads: Gradients) -> bool:
        return super().construct(grads)

    def _apply_step(self, param, gradient, rate, moment, linear):
        self.opt(param, moment, linear, gradient, rate, self.l1, self.l2, self.lr_power)

    def _apply_sparse_step(self, param, gradient, rate, moment, linear):
        # The sparse operator is created only here: it refuses a learning rate of 0, which is allowed for dense
        # gradients.
        numbers = self.lr, self.l1, self.l2, self.lr_power
        update = P.FusedSparseFtrl(*numbers, self.use_locking)
        update(param, moment, linear, gradient.values, gradient.indices)
