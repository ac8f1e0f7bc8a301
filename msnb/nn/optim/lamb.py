"""Lamb."""

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.nn.optim.adam import check_betas
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["Lamb"]


class Lamb(Optimizer):
    r"""LAMB (You et al., Large Batch Optimization for Deep Learning: Training BERT in 76 minutes, 2019).

    .. math::
        \hat m &= \frac{m_{t+1}}{1 - \beta_1^{t+1}}, \qquad \hat v = \frac{v_{t+1}}{1 - \beta_2^{t+1}}, \qquad
        u = \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda\, p_t \\
        p_{t+1} &= p_t - \eta\, \mathrm{clip}\!\left(
        \frac{\lVert p_t \rVert}{\lVert \hat m / \sqrt{\hat v + \epsilon} + \lambda\, p_t \rVert}, 0, 10\right) u

    where p is a Parameter, m and v are Adam's moments (named ``lamb_m.`` and ``lamb_v.`` + its name), :math:`\lambda`
    is `weight_decay` and :math:`\eta` the learning rate. The ratio is 1 where p or its gradient is zero.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
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
        >>> optim = nn.Lamb(params=net.trainable_params(), learning_rate=0.01)
    """

    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1 = Tensor([beta1], mstype.float32)
        self.beta2 = Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.params = self.parameters
        self.moments1 = self.params.clone(prefix="lamb_m", init="zeros")
        self.moments2 = self.params.clone(prefix="lamb_v", init="zeros")
        if not self.dynamic_lr:
            self.global_step = Parameter(initializer(0, [1], mstype.int32), name="global_step")
            self.assignadd = P.AssignAdd()
        self._betas = (beta1, beta2, eps)
        self.square, self.sqrt, self.rsqrt, self.pow = P.Square(), P.Sqrt(), P.Rsqrt(), P.Pow()
        self.sum, self.reshape, self.cast, self.select = P.ReduceSum(), P.Reshape(), P.Cast(), P.Select()
        self.minimum, self.ones_like, self.logical_and = P.Minimum(), P.OnesLike(), P.LogicalAnd()
        self.assign = P.Assign()

    def construct(self, gradients):
        gradients = self._checked(gradients)
        step = self.cast(self.reshape(self.global_step, ()), mstype.float32) + 1.0
        rates = self._per_parameter(self.get_lr())
        if not self.dynamic_lr:
            self.assignadd(self.global_step, self.global_step_increase_tensor)
        beta1, beta2, _ = self._betas
        corrections = 1.0 - self.pow(beta1, step), 1.0 - self.pow(beta2, step)
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        for param, moment1, moment2, rate, gradient, decay, flag in zip(
            self.params, self.moments1, self.moments2, rates, gradients, decays, self.decay_flags, strict=True
        ):
            self._update(param, moment1, moment2, rate, gradient, decay, flag, *corrections)
        return True

    def _update(self, param, moment1, moment2, rate, gradient, decay, flag, correction1, correction2):
        beta1, beta2, eps = self._betas
        weight, m, v, g = (self.cast(x, mstype.float32) for x in (param, moment1, moment2, gradient))
        m = m * beta1 + g * (1.0 - beta1)
        v = v * beta2 + self.square(g) * (1.0 - beta2)
        m_hat, v_hat = m / correction1, v / correction2
        weight_norm, grad_norm = self._norm(weight), self._norm(g)
        # MindSpore's ratio has epsilon under the root and the decay of every Parameter, exempt or not.
        ratio = weight_norm / self._norm(m_hat * self.rsqrt(v_hat + eps) + weight * decay)
        both = self.logical_and(weight_norm > 0.0, grad_norm > 0.0)
        ratio = self.minimum(self.select(both, ratio, self.ones_like(ratio)), 10.0)
        update = m_hat / (self.sqrt(v_hat) + eps)
        if flag and decay:
            update = update + weight * decay
        self.assign(param, self.cast(weight - update * (ratio * rate), param.dtype))
        self.assign(moment1, self.cast(m, moment1.dtype))
        self.assign(moment2, self.cast(v, moment2.dtype))

    def _norm(self, x):
        return self.sqrt(self.sum(self.square(x)))
