"""LazyAdam: Adam that updates only the rows of a sparse gradient."""

from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import Fraction, NonNegativeFloat, PositiveFloat, PositiveNumber
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate
from msnb.nn.optim.adam import AdamBase
from msnb.ops import operations as P

__all__ = ["LazyAdam"]


class LazyAdam(AdamBase):
    r"""Adam for sparse gradients: updates only the rows in the indices of a RowTensor, and the moments of these rows.

    With dense gradients it is :class:`Adam`.

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

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        ValueError: If `beta1`, `beta2` or `eps` is out of range.
        TypeError: If one of them or `weight_decay` is no float, or `use_locking` or `use_nesterov` is no bool.

    Examples:
        >>> net = Net()
        >>> optim = nn.LazyAdam(params=net.trainable_params(), learning_rate=0.001)
    """

    _sparse = P.FusedSparseLazyAdam
    _has_target = True

    @checked
    def __init__(  # same as Adam's, but the weight decay must be a float
        self,
        params: Trained,
        learning_rate: LearningRate = 1e-3,
        beta1: Fraction = 0.9,
        beta2: Fraction = 0.999,
        eps: PositiveFloat = 1e-8,
        use_locking: Bool = False,
        use_nesterov: Bool = False,
        weight_decay: NonNegativeFloat = 0.0,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)
