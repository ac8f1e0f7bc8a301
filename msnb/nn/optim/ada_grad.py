"""Adagrad."""

from msnb._checkparam import Validator
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    r"""Adagrad (Duchi et al., Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011).

    .. math::
        a_{t+1} = a_t + g^2, \qquad p_{t+1} = p_t - \eta\, g / \sqrt{a_{t+1}}

    where p is a Parameter, g its gradient, a its accumulated squares and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        accum (float): First value of a, at least 0. Default: 0.1.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.001.
        update_slots (bool): Whether a is updated. Default: True.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.
        weight_decay (float): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **grads** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `accum` is negative.
        TypeError: If `accum` is no float or `update_slots` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.Adagrad(params=net.trainable_params(), learning_rate=0.01)
    """

    def __init__(self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        Validator.check_value_type("accum", accum, [float], self.cls_name)
        Validator.check_value_type("update_slots", update_slots, [bool], self.cls_name)
        Validator.check_non_negative_float(accum, "accum", self.cls_name)
        self.accum = self.parameters.clone(prefix="accum", init=accum)
        self.update_slots = update_slots
        self.opt = P.ApplyAdagrad(update_slots=update_slots)

    def construct(self, grads):
        grads = self._prepared(grads)
        rates = self._per_parameter(self.get_lr())
        for param, accum, rate, grad in zip(self.parameters, self.accum, rates, grads, strict=True):
            self.opt(param, accum, rate, grad)
        return True
