"""Stochastic gradient descent."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, checked
from msnb.core.operator.api_generations import current_generation, differs_in_api2
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import NonNegativeNumber, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import operations as P

__all__ = ["SGD"]


@differs_in_api2(
    'without groups, Parameters with "beta" or "gamma" in their names are left out of \'weight_decay\'',
    given="weight_decay",
)
class SGD(DeclaredOptimizer):
    r"""Stochastic gradient descent with optional momentum.

    .. math::
        v_{t+1} = u\, v_t + (1 - d)\, g, \qquad p_{t+1} = p_t - \eta\, v_{t+1}

    and with Nesterov's momentum :math:`p_{t+1} = p_t - \eta\, (g + u\, v_{t+1})`. p is a Parameter, g its gradient
    plus `weight_decay` times p, u `momentum`, d `dampening` and :math:`\eta` the learning rate. In the first step v is
    g.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.1.
        momentum (float): Momentum u, at least 0. Default: 0.0.
        dampening (float): Dampening d, at least 0. Default: 0.0.
        weight_decay (float): L2 penalty of all Parameters, those of normalization layers too. Default: 0.0.
        nesterov (bool): Whether to use Nesterov's momentum. It requires a positive `momentum` and a `dampening` of 0.
            Default: False.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `momentum`, `dampening` or `weight_decay` is negative, or they do not fit `nesterov`.
        TypeError: If one of them is no number or `nesterov` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.SGD(params=net.trainable_params(), learning_rate=0.1, momentum=0.9)
    """

    _penalised = False  # the operator adds the penalty, after the gradients were divided by the loss scale

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 0.1,
        momentum: NonNegativeNumber = 0.0,
        dampening: NonNegativeNumber = 0.0,
        weight_decay: WeightDecay = 0.0,
        nesterov: Bool = False,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if nesterov and not (momentum > 0 and dampening == 0):
            raise ValueError(
                f"For '{self.cls_name}' with 'nesterov', 'momentum' should be positive and 'dampening' 0, "
                f"but got {momentum} and {dampening}."
            )
        if self.dynamic_weight_decay:
            raise TypeError(f"For '{self.cls_name}', 'weight_decay' should be a number: a Cell is not taken here.")
        self.nesterov: bool = nesterov
        self.dampening: NonNegativeNumber = dampening
        self._penalised = current_generation() == 2
        decays = [0.0 if self._penalised else decay / loss_scale for decay in self._decays]
        alike = {decay: P.SGD(dampening, decay, nesterov) for decay in decays}
        self.opt: tuple[P.SGD, ...] = tuple(alike[decay] for decay in decays)
        self.momentum: Parameter = Parameter(Tensor(momentum, mstype.float32), name="momentum")
        self._declare_state("opt", accum=("accum", "zeros"), stat=("stat", "ones"))

    def _apply_step(self, param, gradient, rate, accum, stat, opt):
        opt(param, gradient, rate, accum, self.momentum, stat)
