"""Stochastic gradient descent."""

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import operations as P

__all__ = ["SGD"]


class SGD(Optimizer):
    r"""Stochastic gradient descent, with momentum if wanted.

    .. math::
        v_{t+1} = u\, v_t + (1 - d)\, g, \qquad p_{t+1} = p_t - \eta\, v_{t+1}

    and with Nesterov's momentum :math:`p_{t+1} = p_t - \eta\, (g + u\, v_{t+1})`. p is a Parameter, g its gradient
    plus `weight_decay` times p, u `momentum`, d `dampening` and :math:`\eta` the learning rate. In the first step v is
    g.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate, see :class:`Optimizer`.
            Default: 0.1.
        momentum (float): Momentum u, at least 0. Default: 0.0.
        dampening (float): Dampening d, at least 0. Default: 0.0.
        weight_decay (float): L2 penalty of all Parameters, those of normalization layers too. Default: 0.0.
        nesterov (bool): Whether to use Nesterov's momentum; then `momentum` is positive and `dampening` 0.
            Default: False.
        loss_scale (float): What the loss was multiplied by. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `momentum`, `dampening` or `weight_decay` is negative, or `nesterov` does not go with them.
        TypeError: If one of them is no number or `nesterov` no bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> optim = nn.SGD(params=net.trainable_params(), learning_rate=0.1, momentum=0.9)
    """

    def __init__(
        self, params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, loss_scale=1.0
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = self._check_not_negative("momentum", momentum)
        dampening = self._check_not_negative("dampening", dampening)
        Validator.check_value_type("nesterov", nesterov, [bool], self.cls_name)
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(
                f"For '{self.cls_name}' with 'nesterov', 'momentum' should be positive and 'dampening' 0, "
                f"but got {momentum} and {dampening}."
            )
        self.dampening = dampening
        self.nesterov = nesterov
        # The operator adds the penalty itself, after the gradients were divided by the loss scale.
        decays = (
            [w / self.loss_scale for w in self.weight_decay]
            if self.is_group
            else [float(weight_decay)] * self.param_length
        )
        kernels = {decay: P.SGD(dampening, decay, nesterov) for decay in decays}
        self.opt = tuple(kernels[decay] for decay in decays)
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name="momentum")
        self.accum = self.parameters.clone(prefix="accum", init="zeros")
        self.stat = self.parameters.clone(prefix="stat", init="ones")

    def _check_not_negative(self, name, value):
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise TypeError(
                f"For '{self.cls_name}', '{name}' should be a float, but got {value!r} of type {type(value).__name__}."
            )
        return Validator.check_non_negative_float(float(value), name, self.cls_name)

    def construct(self, gradients):
        gradients = self.scale_grad(self._checked(gradients))
        rates = self._per_parameter(self.get_lr())
        for opt, param, gradient, rate, accum, stat in zip(
            self.opt, self.parameters, gradients, rates, self.accum, self.stat, strict=True
        ):
            opt(param, gradient, rate, accum, self.momentum, stat)
        return True
