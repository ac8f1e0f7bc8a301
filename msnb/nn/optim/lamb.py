"""Lamb."""

from typing import TYPE_CHECKING

from msnb.common import dtype as mstype
from msnb.common.kinds import checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import Fraction, PositiveFloat
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import functional as F

if TYPE_CHECKING:  # used in annotations only
    from msnb.core.tensor.parameter import ParameterTuple

__all__ = ["Lamb"]

_MOST = 10.0  # bound of the trust ratio


class Lamb(DeclaredOptimizer):
    r"""LAMB (You et al., Large Batch Optimization for Deep Learning: Training BERT in 76 minutes, 2019).

    .. math::
        \hat m &= \frac{m_{t+1}}{1 - \beta_1^{t+1}}, \qquad \hat v = \frac{v_{t+1}}{1 - \beta_2^{t+1}}, \qquad
        u = \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda\, p_t \\
        p_{t+1} &= p_t - \eta\, \mathrm{clip}\!\left(
        \frac{\lVert p_t \rVert}{\lVert \hat m / \sqrt{\hat v + \epsilon} + \lambda\, p_t \rVert}, 0, 10\right) u

    where p is a Parameter, m and v are Adam's moments (named ``lamb_m.`` and ``lamb_v.`` + its name), :math:`\lambda`
    is `weight_decay` and :math:`\eta` the learning rate. The ratio is 1 where p or its gradient is zero.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-6.
        weight_decay (float): Decay of the Parameters. Without groups, Parameters with "beta" or "gamma" in their names
            are exempt. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them is no float.

    Examples:
        >>> net = Net()
        >>> optim = nn.Lamb(params=net.trainable_params(), learning_rate=0.01)
    """

    _penalised = False

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-6,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self._numbers = beta1, beta2, eps
        self.beta1, self.beta2, self.eps = (Tensor([number], mstype.float32) for number in self._numbers)
        self._declare_state("_decays", "decay_flags", moments1=("lamb_m", "zeros"), moments2=("lamb_v", "zeros"))
        self.params: ParameterTuple = self.parameters
        self._create_step_counter()  # the bias correction needs the step number

    def _compute_step_values(self):
        step = self._advance_step()
        return tuple(1.0 - F.pow(beta, step) for beta in self._numbers[:2])

    def _apply_step(self, param, gradient, rate, moment1, moment2, decay, decays, correction1, correction2):
        beta1, beta2, eps = self._numbers
        weight, mean, square, g = (F.cast(x, mstype.float32) for x in (param, moment1, moment2, gradient))
        mean = beta1 * mean + (1.0 - beta1) * g
        square = beta2 * square + (1.0 - beta2) * F.square(g)
        m, v = mean / correction1, square / correction2
        update = m / (F.sqrt(v) + eps)
        if decays and (self.dynamic_weight_decay or decay):
            update = update + decay * weight
        # As in MindSpore, the ratio has epsilon under the root, and the decay even for exempt Parameters.
        weight_norm = _compute_norm(weight)
        ratio = F.minimum(weight_norm / _compute_norm(m * F.rsqrt(v + eps) + decay * weight), _MOST)
        neither_is_zero = F.logical_and(weight_norm > 0.0, _compute_norm(g) > 0.0)
        trust = F.select(neither_is_zero, ratio, F.ones_like(ratio))
        for slot, new in ((param, weight - trust * rate * update), (moment1, mean), (moment2, square)):
            F.assign(slot, F.cast(new, slot.dtype))


def _compute_norm(x):
    return F.sqrt(F.reduce_sum(F.square(x)))
