"""RMSProp."""

from msnb._checkparam import Validator
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["RMSProp"]


class RMSProp(Optimizer):
    r"""RMSProp (Tieleman and Hinton, Lecture 6.5 of Neural Networks for Machine Learning, 2012).

    .. math::
        s_{t+1} = \rho\, s_t + (1 - \rho)\, g^2, \quad
        m_{t+1} = \beta\, m_t + \frac{\eta\, g}{\sqrt{s_{t+1} + \epsilon}}, \quad
        p_{t+1} = p_t - m_{t+1}

    When centered, the mean gradient :math:`a_{t+1} = \rho\, a_t + (1 - \rho)\, g` is kept as well and
    :math:`s_{t+1} - a_{t+1}^2` stands under the root. p is a Parameter, g its gradient, :math:`\rho` `decay`,
    :math:`\beta` `momentum` and :math:`\eta` the learning rate; s begins with 1.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.1.
        decay (float): Decay rate of the means, at least 0. Default: 0.9.
        momentum (float): Momentum, at least 0. Default: 0.0.
        epsilon (float): Keeps the root from zero, positive. Default: 1e-10.
        use_locking (bool): Accepted; updates never race here. Default: False.
        centered (bool): Whether the mean gradient is subtracted. Default: False.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `decay` or `momentum` is negative, or `epsilon` not positive.
        TypeError: If one of them is no float, or `use_locking` or `centered` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.RMSProp(params=net.trainable_params(), learning_rate=0.01)
    """

    def __init__(
        self,
        params,
        learning_rate=0.1,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value in (("decay", decay), ("momentum", momentum), ("epsilon", epsilon)):
            Validator.check_value_type(name, value, [float], self.cls_name)
        Validator.check_non_negative_float(decay, "decay", self.cls_name)
        Validator.check_non_negative_float(momentum, "momentum", self.cls_name)
        Validator.check_positive_float(epsilon, "epsilon", self.cls_name)
        Validator.check_value_type("use_locking", use_locking, [bool], self.cls_name)
        Validator.check_value_type("centered", centered, [bool], self.cls_name)
        self.centered = centered
        if centered:
            self.opt = P.ApplyCenteredRMSProp(use_locking)
            self.mg = self.parameters.clone(prefix="mean_grad", init="zeros")
        else:
            self.opt = P.ApplyRMSProp(use_locking)
        self.momentum = momentum
        self.ms = self.parameters.clone(prefix="mean_square", init="ones")
        self.moment = self.parameters.clone(prefix="moment", init="zeros")
        self.epsilon = epsilon
        self.decay = decay

    def construct(self, gradients):
        gradients = self._prepared(gradients)
        rates = self._per_parameter(self.get_lr())
        rows = zip(self.parameters, self.ms, self.moment, rates, gradients, strict=True)
        if self.centered:
            for mean_grad, (param, mean_square, moment, rate, grad) in zip(self.mg, rows, strict=True):
                self.opt(param, mean_grad, mean_square, moment, grad, rate, self.decay, self.momentum, self.epsilon)
        else:
            for param, mean_square, moment, rate, grad in rows:
                self.opt(param, mean_square, moment, rate, grad, self.decay, self.momentum, self.epsilon)
        return True
