"""Adam, AdamWeightDecay and AdamOffload."""

from msnb import log
from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.parameter import Parameter
from msnb.core.tensor import RowTensor, Tensor
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["Adam", "AdamWeightDecay", "AdamOffload"]


def check_betas(beta1, beta2, eps, name):
    """Check the three numbers of Adam: TypeError if one is no float, ValueError if it is out of range."""
    for argument, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
        Validator.check_value_type(argument, value, [float], name)
    Validator.check_float_range(beta1, 0.0, 1.0, Rel.INC_NEITHER, "beta1", name)
    Validator.check_float_range(beta2, 0.0, 1.0, Rel.INC_NEITHER, "beta2", name)
    Validator.check_positive_float(eps, "eps", name)


class AdamBase(Optimizer):
    """What the forms of Adam with bias correction share. They differ in what a sparse gradient does to other rows."""

    _sparse = P.FusedSparseAdam

    def __init__(
        self,
        params,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        eps=1e-8,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(beta1, beta2, eps, self.cls_name)
        Validator.check_value_type("use_locking", use_locking, [bool], self.cls_name)
        Validator.check_value_type("use_nesterov", use_nesterov, [bool], self.cls_name)
        self.beta1 = Tensor(beta1, mstype.float32)
        self.beta2 = Tensor(beta2, mstype.float32)
        self.beta1_power = Parameter(initializer(1, [1], mstype.float32), name="beta1_power")
        self.beta2_power = Parameter(initializer(1, [1], mstype.float32), name="beta2_power")
        self.eps = Tensor(eps, mstype.float32)
        self.use_nesterov = use_nesterov
        self.use_locking = use_locking
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        self.opt = P.Adam(use_locking, use_nesterov)
        self.sparse_opt = self._sparse(use_locking, use_nesterov)
        self.assign = P.Assign()

    def construct(self, gradients):
        gradients = self._prepared(gradients)
        rates = self._per_parameter(self.get_lr())
        self.assign(self.beta1_power, self.beta1_power * self.beta1)
        self.assign(self.beta2_power, self.beta2_power * self.beta2)
        for param, moment1, moment2, rate, gradient in zip(
            self.parameters, self.moment1, self.moment2, rates, gradients, strict=True
        ):
            numbers = self.beta1_power, self.beta2_power, rate, self.beta1, self.beta2, self.eps
            if isinstance(gradient, RowTensor):
                self.sparse_opt(param, moment1, moment2, *numbers, gradient.values, gradient.indices)
            else:
                self.opt(param, moment1, moment2, *numbers, gradient)
        return True


class Adam(AdamBase):
    r"""Adam (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014).

    .. math::
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, g, \quad
        v_{t+1} = \beta_2 v_t + (1 - \beta_2)\, g^2, \quad
        p_{t+1} = p_t - \eta \frac{\sqrt{1 - \beta_2^{t+1}}}{1 - \beta_1^{t+1}}
        \frac{m_{t+1}}{\sqrt{v_{t+1}} + \epsilon}

    where p is a Parameter, g its gradient, m and v its moments (named ``moment1.`` and ``moment2.`` + its name) and
    :math:`\eta` the learning rate. Epsilon stands outside the bias correction, as in MindSpore.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 1e-3.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-8.
        use_locking (bool): Accepted; updates never race here. Default: False.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them is no float, or `use_locking` or `use_nesterov` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.Adam(params=net.trainable_params(), learning_rate=0.001)
        >>> model = Model(net, loss_fn=nn.SoftmaxCrossEntropyWithLogits(), optimizer=optim)
    """

    @Optimizer.target.setter
    def target(self, value):
        """Device that updates the Parameters; checked, without effect here."""
        self._set_target(value)


class AdamOffload(AdamBase):
    """Adam whose update MindSpore computes on the host; here XLA computes it where the Parameters are, as in `Adam`.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate. Default: 1e-3.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-8.
        use_locking (bool): Accepted; updates never race here. Default: False.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them is no float, or `use_locking` or `use_nesterov` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.AdamOffload(params=net.trainable_params())
    """

    def __init__(
        self,
        params,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        eps=1e-8,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
    ):
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)
        log.once("AdamOffload updates the Parameters where they are, like Adam; nothing is offloaded to the host.")


class AdamWeightDecay(Optimizer):
    r"""Adam with decoupled weight decay and without bias correction, as BERT is trained with.

    .. math::
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, g, \quad
        v_{t+1} = \beta_2 v_t + (1 - \beta_2)\, g^2, \quad
        p_{t+1} = p_t - \eta \left( \frac{m_{t+1}}{\sqrt{v_{t+1}} + \epsilon} + \lambda\, p_t \right)

    where p is a Parameter, g its gradient, m and v its moments (named ``adam_m.`` and ``adam_v.`` + its name),
    :math:`\lambda` `weight_decay` and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 1e-3.
        beta1 (float): Decay rate of the first moment, in (0, 1). Default: 0.9.
        beta2 (float): Decay rate of the second moment, in (0, 1). Default: 0.999.
        eps (float): Keeps the denominator from zero, positive. Default: 1e-6.
        weight_decay (float): Decay of the Parameters, those with "beta" or "gamma" in their names excepted unless
            groups are given. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them is no float.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.AdamWeightDecay(params=net.trainable_params(), weight_decay=0.01)
    """

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1 = Tensor([beta1], mstype.float32)
        self.beta2 = Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.moments1 = self.parameters.clone(prefix="adam_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="adam_v", init="zeros")
        self.opt = P.AdamWeightDecay()

    def construct(self, gradients):
        gradients = self._checked(gradients)
        rates = self._per_parameter(self.get_lr())
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        for param, moment1, moment2, rate, gradient, decay, flag in zip(
            self.parameters, self.moments1, self.moments2, rates, gradients, decays, self.decay_flags, strict=True
        ):
            self.opt(param, moment1, moment2, rate, self.beta1, self.beta2, self.eps, decay if flag else 0.0, gradient)
        return True
