"""LARS."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Instance, checked
from msnb.core.eager.tape import dense
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.optim._learning_rate import of_this_step
from msnb.nn.optim.optimizer import Gradients, Optimizer
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    from msnb.core.tensor.parameter import ParameterTuple
    from msnb.nn.layer.container import CellList
    from msnb.nn.learning_rate_schedule import LearningRateSchedule

__all__ = ["LARS"]

# LARS prepares the gradients in place of the optimizer, with these attributes.
_ADOPTED = ("parameters", "param_length", "is_group", "decay_flags", "loss_scale", "need_scale", "reciprocal_scale")
_ADOPTED_FOR_CLIPPING = ("is_group_lr", "dynamic_lr", "global_step")


class LARS(Optimizer):
    r"""LARS (You et al., Large Batch Training of Convolutional Networks, 2017): wraps another optimizer and scales its
    gradients layer by layer.

    The gradient of each Parameter, weight decay included, is multiplied by

    .. math::
        \lambda = \frac{\theta\, \lVert p \rVert}{\lVert g \rVert + w\, \lVert p \rVert + \epsilon},

    or with `use_clip` by :math:`\min(\lambda / \eta, 1)`, and passed to the optimizer. p is a Parameter, g its
    gradient, w the weight decay, :math:`\theta` `coefficient` and :math:`\eta` the learning rate. The wrapped optimizer
    itself applies no weight decay.

    Args:
        optimizer (Optimizer): The optimizer that updates the Parameters.
        epsilon (float): Keeps the denominator from zero. Default: 1e-05.
        coefficient (float): Trust coefficient. Default: 0.001.
        use_clip (bool): Whether to clip the scaled learning rate. Default: False.
        lars_filter (Callable): Takes a Parameter and returns whether its gradient is scaled. Default: a function that
            returns True for names with neither "LayerNorm" nor "bias".

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `optimizer` is no Optimizer, `epsilon` or `coefficient` is no float or `use_clip` is no bool.
        ValueError: If `use_clip` is True and groups have learning rates that change by step.

    Examples:
        >>> net = Net()
        >>> opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        >>> opt_lars = nn.LARS(opt, epsilon=1e-08, coefficient=0.02)
        >>> model = Model(net, loss_fn=nn.SoftmaxCrossEntropyWithLogits(), optimizer=opt_lars)
    """

    @checked
    def __init__(
        self,
        optimizer: Annotated[Optimizer, Instance(Optimizer)],
        epsilon: FiniteFloat = 1e-05,
        coefficient: FiniteFloat = 0.001,
        use_clip: Bool = False,
        lars_filter: Callable[[Parameter], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:
        # This Parameter is not used, but checkpoints of MindSpore contain it and the following learning rate under
        # these names.
        super().__init__(0.0, [Parameter(0.0, name="fake_param")])
        if use_clip and optimizer.is_group_lr and optimizer.dynamic_lr:
            raise ValueError(
                f"For '{self.cls_name}' with 'use_clip', the groups of the optimizer should have fixed learning rates."
            )
        if optimizer.dynamic_weight_decay:
            raise TypeError(f"For '{self.cls_name}', the weight decay of the optimizer should be a number.")
        self.opt: Optimizer = optimizer
        self.use_clip: bool = use_clip
        for name in _ADOPTED + _ADOPTED_FOR_CLIPPING * use_clip:
            setattr(self, name, getattr(optimizer, name))
        if self.global_step is not None:
            self.global_step = optimizer.global_step  # it counts the steps of both optimizers
        self.learning_rate: Parameter = Parameter(Tensor(0.0, mstype.float32), name="fake_lr")
        self.origin_learning_rate: Parameter | LearningRateSchedule | ParameterTuple | CellList = (
            optimizer.learning_rate if use_clip else self.learning_rate
        )
        self.lars_flag: tuple[bool, ...] = tuple(bool(lars_filter(param)) for param in self.parameters)
        self.square_sum, self.lars = P.SquareSumAll(), P.LARSUpdate(epsilon, coefficient, use_clip)
        # Decay and loss scale are applied here, before the optimizer gets the gradients.
        decays = tuple(decay / optimizer.loss_scale for decay in optimizer._decays)
        self.weight_decay = decays if self.is_group else decays[0]
        optimizer.weight_decay = (0.0,) * self.param_length if self.is_group else 0.0
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.need_scale = optimizer.exec_weight_decay = False

    def construct(self, gradients: Gradients) -> Any:
        gradients = self.scale_grad(self._check_gradients(gradients))
        rate = self.origin_learning_rate
        rates = self._repeat_rate_per_parameter(of_this_step(rate, self.global_step) if self.dynamic_lr else rate)
        rows = zip(self.parameters, gradients, self._decays, self.decay_flags, rates, strict=True)
        chosen = zip(rows, self.lars_flag, strict=True)
        return self.opt(tuple(self._scale_by_trust_ratio(*row) if scaled else row[1] for row, scaled in chosen))

    def _scale_by_trust_ratio(self, param, gradient, decay, decays, rate):
        """Return the gradient multiplied by the trust ratio of LARS for the Parameter."""
        gradient = dense(gradient)
        squares = self.square_sum(param, gradient)
        return self.lars(param, gradient, *squares, decay if decays else 0.0, rate)
