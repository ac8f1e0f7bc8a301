"""Adam, AdamWeightDecay and AdamOffload."""

from typing import Annotated

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, OneOf, checked
from msnb.core.eager.tape import dense
from msnb.core.operator.api_generations import current_generation
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import Fraction, PositiveFloat, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Adam", "AdamWeightDecay", "AdamOffload"]


class AdamBase(DeclaredOptimizer):
    """Base class of the variants of Adam with bias correction. They differ in the treatment of rows without a sparse
    gradient."""

    _sparse = P.FusedSparseAdam
    _remark = None  # message logged once per class
    _has_scalar_powers = False  # True: MindSpore 2 stores beta1_power and beta2_power with shape ()

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 1e-3,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-8,
        use_locking: Bool = False,
        use_nesterov: Bool = False,
        weight_decay: WeightDecay = 0.0,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self._remark is not None:
            log.once(self._remark)
        self.beta1, self.beta2, self.eps = (Tensor(number, mstype.float32) for number in (beta1, beta2, eps))
        shape = () if self._has_scalar_powers and current_generation() == 2 else (1,)
        for power in ("beta1_power", "beta2_power"):
            setattr(self, power, Parameter(np.ones(shape, np.float32), name=power))
        self._declare_state(moment1=("moment1", "zeros"), moment2=("moment2", "zeros"))
        self.use_locking: Bool = use_locking
        self.use_nesterov: Bool = use_nesterov
        self.opt, self.sparse_opt = (make(use_locking, use_nesterov) for make in (P.Adam, self._sparse))

    def _compute_step_values(self):
        powers = self.beta1_power, self.beta2_power
        for power, beta in zip(powers, (self.beta1, self.beta2), strict=True):
            F.assign(power, power * beta)
        return powers

    def _apply_step(self, param, gradient, rate, moment1, moment2, *powers):
        self.opt(param, moment1, moment2, *powers, rate, self.beta1, self.beta2, self.eps, gradient)

    def _apply_sparse_step(self, param, gradient, rate, moment1, moment2, *powers):
        numbers = *powers, rate, self.beta1, self.beta2, self.eps
        self.sparse_opt(param, moment1, moment2, *numbers, gradient.values, gradient.indices)


class Adam(AdamBase):
    r"""Adam (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014).

    .. math::
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, g, \quad
        v_{t+1} = \beta_2 v_t + (1 - \beta_2)\, g^2, \quad
        p_{t+1} = p_t - \eta \frac{\sqrt{1 - \beta_2^{t+1}}}{1 - \beta_1^{t+1}}
        \frac{m_{t+1}}{\sqrt{v_{t+1}} + \epsilon}

    where p is a Parameter, g its gradient, m and v its moments (named ``moment1.`` and ``moment2.`` + its name) and
    :math:`\eta` the learning rate. Epsilon is added outside the bias correction, as in MindSpore.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 1e-3.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-8.
        use_locking (bool): No effect: updates never race in msnb. Default: False.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.
        use_amsgrad (bool): Whether the largest v so far (named ``vhat.`` + the name) replaces v. Default:
            False.
        use_lazy (bool): Whether a sparse gradient leaves the moments of other rows unchanged, see `LazyAdam`.
            Default: False.
        use_offload (bool): Whether MindSpore computes the update on the host; no effect here. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range, or more than one of the last three is True.
        TypeError: If one of them is no float, or one of the others no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.Adam(params=net.trainable_params(), learning_rate=0.001)
        >>> model = Model(net, loss_fn=nn.SoftmaxCrossEntropyWithLogits(), optimizer=optim)
    """

    _has_target = True
    _has_scalar_powers = True

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 1e-3,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-8,
        use_locking: Bool = False,
        use_nesterov: Bool = False,
        weight_decay: WeightDecay = 0.0,
        loss_scale: PositiveNumber = 1.0,
        use_amsgrad: Bool = False,
        use_lazy: Bool = False,
        use_offload: Annotated[bool, OneOf(False, otherwise="the Parameters are updated where they are")] = False,
    ) -> None:
        if use_amsgrad and (use_lazy or use_offload) or use_lazy and use_offload:
            raise ValueError("For 'Adam', only one of 'use_amsgrad', 'use_lazy' and 'use_offload' may be True.")
        self._sparse = P.FusedSparseLazyAdam if use_lazy else P.FusedSparseAdam
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)
        self.use_amsgrad: bool = use_amsgrad
        if use_amsgrad:
            self._declare_state(moment1=("moment1", "zeros"), moment2=("moment2", "zeros"), vhat=("vhat", "zeros"))

    def _apply_step(self, param, gradient, rate, moment1, moment2, *others):
        if not self.use_amsgrad:
            return super()._apply_step(param, gradient, rate, moment1, moment2, *others)
        vhat, power1, power2 = others
        mean, square = (
            moment * beta + (1.0 - beta) * g
            for moment, beta, g in ((moment1, self.beta1, gradient), (moment2, self.beta2, gradient * gradient))
        )
        largest = F.maximum(vhat, square)
        rate = F.reshape(rate * F.sqrt(1.0 - power2) / (1.0 - power1), ())
        new = param - rate * mean / (F.sqrt(largest) + self.eps)
        for slot, value in ((param, new), (moment1, mean), (moment2, square), (vhat, largest)):
            F.assign(slot, F.cast(value, slot.dtype))

    def _apply_sparse_step(self, param, gradient, *others):
        if self.use_amsgrad:
            return self._apply_step(param, dense(gradient), *others)
        return super()._apply_sparse_step(param, gradient, *others)


class AdamOffload(AdamBase):
    """Adam. MindSpore computes the update of this optimizer on the host; here XLA computes it on the device of the
    Parameters, as for `Adam`.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate. Default: 1e-3.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-8.
        use_locking (bool): No effect: updates never race in msnb. Default: False.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them is no float, or `use_locking` or `use_nesterov` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.AdamOffload(params=net.trainable_params())
    """

    _remark = "AdamOffload updates the Parameters where they are, like Adam; nothing is offloaded to the host."


class AdamWeightDecay(DeclaredOptimizer):
    r"""Adam with decoupled weight decay and without bias correction, the optimizer of BERT.

    .. math::
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, g, \quad
        v_{t+1} = \beta_2 v_t + (1 - \beta_2)\, g^2, \quad
        p_{t+1} = p_t - \eta \left( \frac{m_{t+1}}{\sqrt{v_{t+1}} + \epsilon} + \lambda\, p_t \right)

    where p is a Parameter, g its gradient, m and v its moments (named ``adam_m.`` and ``adam_v.`` + its name),
    :math:`\lambda` `weight_decay` and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 1e-3.
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
        >>> optim = nn.AdamWeightDecay(params=net.trainable_params(), weight_decay=0.01)
    """

    _penalised = False

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 1e-3,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-6,
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2, self.eps = (Tensor([number], mstype.float32) for number in (beta1, beta2, eps))
        self._declare_state("_decays", "decay_flags", moments1=("adam_m", "zeros"), moments2=("adam_v", "zeros"))
        self.opt: P.AdamWeightDecay = P.AdamWeightDecay()

    def _apply_step(self, param, gradient, rate, moment1, moment2, decay, decays):
        numbers = rate, self.beta1, self.beta2, self.eps, decay if decays else 0.0
        self.opt(param, moment1, moment2, *numbers, gradient)
