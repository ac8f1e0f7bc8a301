"""LARS."""

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.nn.optim.optimizer import Optimizer, _scalar
from msnb.ops import operations as P

__all__ = ["LARS"]


class LARS(Optimizer):
    r"""LARS (You et al., Large Batch Training of Convolutional Networks, 2017) around another optimizer.

    The gradient of each Parameter, weight decay included, is multiplied by

    .. math::
        \lambda = \frac{\theta\, \lVert p \rVert}{\lVert g \rVert + w\, \lVert p \rVert + \epsilon},

    or with `use_clip` by :math:`\min(\lambda / \eta, 1)`, and given to the optimizer. p is a Parameter, g its gradient,
    w the weight decay, :math:`\theta` `coefficient` and :math:`\eta` the learning rate. The optimizer itself decays no
    weights any more.

    Args:
        optimizer (Optimizer): Updates the Parameters.
        epsilon (float): Keeps the denominator from zero. Default: 1e-05.
        coefficient (float): Trust coefficient. Default: 0.001.
        use_clip (bool): Whether the rate is clipped. Default: False.
        lars_filter (Callable): Takes a Parameter and returns whether it is scaled. Default: those without "LayerNorm"
            and "bias" in their names.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `optimizer` is no Optimizer, `epsilon` or `coefficient` no float or `use_clip` no bool.
        ValueError: If `use_clip` meets groups whose learning rates change by step.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = Net()
        >>> opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        >>> opt_lars = nn.LARS(opt, epsilon=1e-08, coefficient=0.02)
        >>> model = Model(net, loss_fn=nn.SoftmaxCrossEntropyWithLogits(), optimizer=opt_lars)
    """

    def __init__(
        self,
        optimizer,
        epsilon=1e-05,
        coefficient=0.001,
        use_clip=False,
        lars_filter=lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ):
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        Validator.check_value_type("optimizer", optimizer, [Optimizer], self.cls_name)
        Validator.check_is_float(epsilon, "epsilon", self.cls_name)
        Validator.check_is_float(coefficient, "coefficient", self.cls_name)
        Validator.check_value_type("use_clip", use_clip, [bool], self.cls_name)
        self.opt = optimizer
        self.parameters = optimizer.parameters
        self.param_length = len(self.parameters)
        self.use_clip = use_clip
        self.lars_flag = tuple(bool(lars_filter(x)) for x in self.parameters)
        self.is_group = optimizer.is_group
        self.learning_rate = Parameter(Tensor(0.0, dtype=mstype.float32), name="fake_lr")
        self.decay_flags = optimizer.decay_flags
        self.reciprocal_scale = optimizer.reciprocal_scale
        self.need_scale = optimizer.need_scale
        self.loss_scale = optimizer.loss_scale
        self.lars = P.LARSUpdate(epsilon, coefficient, use_clip)
        self.square_sum = P.SquareSumAll()
        if use_clip:
            self.is_group_lr = optimizer.is_group_lr
            self.dynamic_lr = optimizer.dynamic_lr
            self.origin_learning_rate = optimizer.learning_rate
            self.global_step = optimizer.global_step
            if self.is_group_lr and self.dynamic_lr:
                raise ValueError(
                    f"For '{self.cls_name}' with 'use_clip', the groups of the optimizer should have "
                    f"fixed learning rates."
                )
        if self.is_group:
            self.weight_decay = tuple(w / optimizer.loss_scale for w in optimizer.weight_decay)
            optimizer.weight_decay = (0.0,) * self.param_length
        else:
            self.weight_decay = optimizer.weight_decay / optimizer.loss_scale
            optimizer.weight_decay = 0.0
        # Decay and loss scale are dealt with here, before the optimizer sees the gradients.
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.exec_weight_decay = False
        optimizer.need_scale = False

    def _current_lr(self):
        if not self.use_clip:
            return self.learning_rate
        rate = self.origin_learning_rate
        return _scalar(rate(self.global_step)) if self.dynamic_lr else rate

    def construct(self, gradients):
        gradients = self.scale_grad(self._checked(gradients))
        rates = self._per_parameter(self._current_lr())
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        scaled = tuple(
            self._scaled(*row)
            for row in zip(self.parameters, gradients, rates, decays, self.decay_flags, self.lars_flag, strict=True)
        )
        return self.opt(scaled)

    def _scaled(self, param, gradient, rate, decay, decays, scales):
        if not scales:
            return gradient
        weight_squares, grad_squares = self.square_sum(param, gradient)
        return self.lars(param, gradient, weight_squares, grad_squares, decay if decays else 0.0, rate)
