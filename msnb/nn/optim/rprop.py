"""Rprop."""

from typing import Annotated

from msnb.common.kinds import Each, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay
from msnb.nn.optim._rules import resilient

__all__ = ["Rprop"]

_Pair = Annotated[tuple[float, float], Each(FiniteFloat, 2)]


class Rprop(DeclaredOptimizer):
    """Resilient backpropagation (Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning,
    1993): only the signs of gradients are used. Each element has a separate step size (named ``step_size.`` + the name
    of the Parameter). It grows while the sign of the gradient stays the same, and shrinks when the sign changes.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): First step size. Default: 0.1.
        etas (tuple[float, float]): Factors of the step size: below 1 if the sign has changed, above 1 if not.
            Default: (0.5, 1.2).
        step_sizes (tuple[float, float]): The least and the largest step size. Default: (1e-6, 50.0).
        weight_decay (Union[float, Cell]): L2 penalty, see :class:`Optimizer`. Default: 0.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If `etas` or `step_sizes` is no tuple of floats.
        ValueError: If one of them is out of range.

    Examples:
        >>> net = Net()
        >>> optim = nn.Rprop(params=net.trainable_params())
    """

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate = 0.1,
        etas: _Pair = (0.5, 1.2),
        step_sizes: _Pair = (1e-6, 50.0),
        weight_decay: WeightDecay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(
                f"For '{self.cls_name}', 'etas' should be one between 0 and 1, and one above 1, but got {etas}."
            )
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For '{self.cls_name}', 'step_sizes' should ascend, but got {step_sizes}.")
        self.etas, self.step_sizes = etas, step_sizes
        self._declare_state(prev=("prev", "zeros"), step_size=("step_size", "zeros"))
        self._create_step_counter()

    def _compute_step_values(self):
        return (self._advance_step(),)

    def _apply_step(self, param, gradient, rate, before, size, step):
        resilient(param, gradient, before, size, rate, step, self.etas, self.step_sizes)
