"""FTRL."""

from msnb._checkparam import Rel, Validator
from msnb.core.tensor import RowTensor
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["FTRL"]


class FTRL(Optimizer):
    r"""FTRL-proximal (McMahan et al., Ad Click Prediction: a View from the Trenches, 2013).

    .. math::
        a_{t+1} &= a_t + g^2, \qquad
        z_{t+1} = z_t + g - \frac{a_{t+1}^{-q} - a_t^{-q}}{\eta}\, p_t \\
        p_{t+1} &= \frac{\mathrm{sign}(z_{t+1})\, l_1 - z_{t+1}}{a_{t+1}^{-q} / \eta + 2\, l_2}
        \text{ where } |z_{t+1}| > l_1, \text{ else } 0

    where p is a Parameter, g its gradient, a its accumulated squares, z its linear term, q `lr_power` and :math:`\eta`
    the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`; groups share the learning
            rate.
        initial_accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (float): Learning rate, the same in all steps. Default: 0.001.
        lr_power (float): Power q of the accumulated squares, at most 0. Default: -0.5.
        l1 (float): L1 regularization, at least 0. Default: 0.0.
        l2 (float): L2 regularization, at least 0. Default: 0.0.
        use_locking (bool): Accepted; updates never race here. Default: False.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.
        weight_decay (float): L2 penalty of all Parameters. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If the learning rate changes by step or group, or a number is out of range.
        TypeError: If a number is no float or `use_locking` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.FTRL(params=net.trainable_params())
    """

    def __init__(
        self,
        params,
        initial_accum=0.1,
        learning_rate=0.001,
        lr_power=-0.5,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(f"For '{self.cls_name}', the learning rate should be one number for all steps and groups.")
        for name, value, rel in (
            ("initial_accum", initial_accum, Rel.GE),
            ("lr_power", lr_power, Rel.LE),
            ("l1", l1, Rel.GE),
            ("l2", l2, Rel.GE),
        ):
            Validator.check_value_type(name, value, [float], self.cls_name)
            Validator.check_number(name, value, 0.0, rel, self.cls_name)
        Validator.check_value_type("use_locking", use_locking, [bool], self.cls_name)
        self.moments = self.parameters.clone(prefix="moments", init=initial_accum)
        self.linear = self.parameters.clone(prefix="linear", init="zeros")
        self.l1 = l1
        self.l2 = l2
        self.lr = float(learning_rate)
        self.lr_power = lr_power
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length
        self.use_locking = use_locking
        self.opt = P.ApplyFtrl(use_locking=use_locking)

    def construct(self, grads):
        grads = self._prepared(grads)
        rate = self.get_lr()
        for param, moment, linear, grad in zip(self.parameters, self.moments, self.linear, grads, strict=True):
            if isinstance(grad, RowTensor):
                sparse_opt = P.FusedSparseFtrl(self.lr, self.l1, self.l2, self.lr_power, self.use_locking)
                sparse_opt(param, moment, linear, grad.values, grad.indices)
            else:
                self.opt(param, moment, linear, grad, rate, self.l1, self.l2, self.lr_power)
        return True

    @Optimizer.target.setter
    def target(self, value):
        """Device that updates the Parameters; checked, without effect here."""
        self._set_target(value)
