"""ProximalAdagrad."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import NonNegativeFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim.optimizer import Gradients
from msnb.ops import operations as P

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(DeclaredOptimizer):
    r"""Adagrad with L1 and L2 regularization by a proximal step (Duchi and Singer, Forward Backward Splitting, 2009).

    .. math::
        a_{t+1} = a_t + g^2, \quad \eta' = \eta / \sqrt{a_{t+1}}, \quad z = p_t - \eta' g, \quad
        p_{t+1} = \frac{\mathrm{sign}(z)\, \max(|z| - \eta' l_1, 0)}{1 + \eta' l_2}

    where p is a Parameter, g its gradient, a its accumulated squares and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.001.
        l1 (float): L1 regularization, at least 0. Default: 0.0.
        l2 (float): L2 regularization, at least 0. Default: 0.0.
        use_locking (bool): No effect: updates never race in msnb. Default: False.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `accum`, `l1` or `l2` is negative.
        TypeError: If one of them is no float or `use_locking` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.ProximalAdagrad(params=net.trainable_params())
    """

    _has_target = True

    @checked
    def __init__(
        self,
        params: Trained,
        accum: NonNegativeFloat = 0.1,
        learning_rate: LearningRate = 0.001,
        l1: NonNegativeFloat = 0.0,
        l2: NonNegativeFloat = 0.0,
        use_locking: Bool = False,
        loss_scale: PositiveNumber = 1.0,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._declare_state(accum=("accum", accum))
        self.l1, self.l2 = (Tensor(penalty, mstype.float32) for penalty in (l1, l2))
        self.use_locking: bool = use_locking
        self.opt: P.ApplyProximalAdagrad = P.ApplyProximalAdagrad(use_locking)
        self.sparse_opt: P.FusedSparseProximalAdagrad = P.FusedSparseProximalAdagrad(use_locking)

    def construct(self, grads: Gradients) -> bool:
        return super().construct(grads)

    def _apply_step(self, param, gradient, rate, accum):
        self.opt(param, accum, rate, self.l1, self.l2, gradient)

    def _apply_sparse_step(self, param, gradient, rate, accum):
        self.sparse_opt(param, accum, rate, self.l1, self.l2, gradient.values, gradient.indices)
