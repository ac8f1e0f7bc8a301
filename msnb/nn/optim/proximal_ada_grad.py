"""ProximalAdagrad."""

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.tensor import RowTensor, Tensor
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(Optimizer):
    r"""Adagrad with L1 and L2 regularization by a proximal step (Duchi and Singer, Forward Backward Splitting, 2009).

    .. math::
        a_{t+1} = a_t + g^2, \quad \eta' = \eta / \sqrt{a_{t+1}}, \quad z = p_t - \eta' g, \quad
        p_{t+1} = \frac{\mathrm{sign}(z)\, \max(|z| - \eta' l_1, 0)}{1 + \eta' l_2}

    where p is a Parameter, g its gradient, a its accumulated squares and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.001.
        l1 (float): L1 regularization, at least 0. Default: 0.0.
        l2 (float): L2 regularization, at least 0. Default: 0.0.
        use_locking (bool): Accepted; updates never race here. Default: False.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `accum`, `l1` or `l2` is negative.
        TypeError: If one of them is no float or `use_locking` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.ProximalAdagrad(params=net.trainable_params())
    """

    def __init__(
        self,
        params,
        accum=0.1,
        learning_rate=0.001,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value in (("accum", accum), ("l1", l1), ("l2", l2)):
            Validator.check_value_type(name, value, [float], self.cls_name)
            Validator.check_non_negative_float(value, name, self.cls_name)
        Validator.check_value_type("use_locking", use_locking, [bool], self.cls_name)
        self.accum = self.parameters.clone(prefix="accum", init=accum)
        self.l1 = Tensor(l1, mstype.float32)
        self.l2 = Tensor(l2, mstype.float32)
        self.use_locking = use_locking
        self.opt = P.ApplyProximalAdagrad(use_locking=use_locking)
        self.sparse_opt = P.FusedSparseProximalAdagrad(use_locking=use_locking)

    def construct(self, grads):
        grads = self._prepared(grads)
        rates = self._per_parameter(self.get_lr())
        for param, accum, rate, grad in zip(self.parameters, self.accum, rates, grads, strict=True):
            if isinstance(grad, RowTensor):
                self.sparse_opt(param, accum, rate, self.l1, self.l2, grad.values, grad.indices)
            else:
                self.opt(param, accum, rate, self.l1, self.l2, grad)
        return True

    @Optimizer.target.setter
    def target(self, value):
        """Device that updates the Parameters; checked, without effect here."""
        self._set_target(value)
