"""Momentum."""

from typing import TYPE_CHECKING

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    from msnb.core.tensor.parameter import ParameterTuple

__all__ = ["Momentum"]


class Momentum(DeclaredOptimizer):
    r"""Gradient descent with momentum.

    .. math::
        v_{t+1} = u\, v_t + g, \qquad p_{t+1} = p_t - \eta\, v_{t+1}

    and with Nesterov's momentum :math:`p_{t+1} = p_t - \eta\, (g + u\, v_{t+1})`. p is a Parameter, g its gradient, v
    its moment (named ``moments.`` + its name), u `momentum` and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
        momentum (float): Momentum u, at least 0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `momentum` is negative.
        TypeError: If `momentum` is no float or `use_nesterov` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.Momentum(params=net.trainable_params(), learning_rate=0.1, momentum=0.9)
        >>> decayed = [p for p in net.trainable_params() if "conv" in p.name]
        >>> others = [p for p in net.trainable_params() if "conv" not in p.name]
        >>> groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "lr": 0.01},
        ...           {"order_params": net.trainable_params()}]
        >>> optim = nn.Momentum(groups, learning_rate=0.1, momentum=0.9)
        >>> model = Model(net, loss_fn=nn.SoftmaxCrossEntropyWithLogits(), optimizer=optim)
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate,
        momentum: NonNegativeFloat,
        weight_decay: WeightDecay = 0.0,
        loss_scale: PositiveNumber = 1.0,
        use_nesterov: Bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum: Parameter = Parameter(Tensor(momentum, mstype.float32), name="momentum")
        self._declare_state(moments=("moments", "zeros"))
        self.params: ParameterTuple = self.parameters
        self.use_nesterov: Bool = use_nesterov
        self.opt: P.ApplyMomentum = P.ApplyMomentum(use_nesterov=use_nesterov)

    def _apply_step(self, param, gradient, rate, moment):
        self.opt(param, moment, rate, gradient, self.momentum)
