"""AdaFactor."""

from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Between, Bool, Each, checked
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat, Fraction, NonNegativeFloat, NonNegativeNumber, PositiveNumber
from msnb.nn.optim._declarative import DeclaredOptimizer
from msnb.nn.optim._groups import Trained
from msnb.nn.optim._learning_rate import LearningRate
from msnb.ops import functional as F

__all__ = ["AdaFactor"]


class AdaFactor(DeclaredOptimizer):
    r"""Adafactor (Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018): for a
    matrix it stores only the row and column means of the squared gradients.

    .. math::
        u = \frac{g}{\sqrt{v}}, \quad
        d = \frac{u}{\max(1, \mathrm{rms}(u) / c)}\, \eta, \quad
        m_{t+1} = \beta_1 m_t + (1 - \beta_1)\, d, \quad
        p_{t+1} = p_t - \lambda \eta p_t - m_{t+1}

    where p is a Parameter, g its gradient, v the mean of the squares, whose decay rate is :math:`1 - t^{-r}`, c is
    `clip_threshold`, r `decay_rate`, :math:`\lambda` `weight_decay` and :math:`\eta` the learning rate.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train, see :class:`Optimizer`.
        learning_rate (Union[float, Tensor, Iterable, LearningRateSchedule]): Learning rate. Default: None, it follows
            from the number of the step.
        eps (tuple[float]): The number added to squared gradients, and the lower bound of the root mean square of a
            Parameter. Default: (1e-30, 1e-3).
        clip_threshold (float): The largest root mean square of an update. Default: 1.0.
        decay_rate (float): The exponent r above, in (0, 1). Default: 0.8.
        beta1 (float): Decay rate of the running mean of updates; 0 uses no mean. Default: 0.9.
        weight_decay (float): Decay of the Parameters, in [0, 1). Default: 0.0.
        scale_parameter (bool): Whether a learning rate that is a number is multiplied by the root mean square of the
            Parameter. Default: True.
        relative_step (bool): Whether to compute the learning rate from the number of the step. Default: True.
        warmup_init (bool): Whether this learning rate begins small and grows at first. Default: False.
        compression (bool): Whether squares of Parameters that are no matrices are stored in float16. Default: False.
        loss_scale (float): Factor that multiplied the loss. Default: 1.0.

    Inputs:
        - **gradients** (tuple[Tensor]) - One per Parameter.

    Outputs:
        bool, True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or `learning_rate`, `relative_step` and `warmup_init` contradict each
            other.

    Examples:
        >>> net = Net()
        >>> optim = nn.AdaFactor(params=net.trainable_params(), learning_rate=0.001, relative_step=False)
    """

    _penalised = False

    @checked
    def __init__(
        self,
        params: Trained,
        learning_rate: LearningRate | None = None,
        eps: Annotated[tuple[float, float], Each(NonNegativeFloat, 2)] = (1e-30, 1e-3),
        clip_threshold: NonNegativeFloat = 1.0,
        decay_rate: Fraction = 0.8,
        beta1: NonNegativeNumber | None = 0.9,
        weight_decay: Annotated[float, Between(FiniteFloat, 0, 1, high_in=False)] = 0.0,
        scale_parameter: Bool = True,
        relative_step: Bool = True,
        warmup_init: Bool = False,
        compression: Bool = False,
        loss_scale: PositiveNumber = 1.0,
    ) -> None:
        if (learning_rate is not None) == relative_step:
            raise ValueError(
                "For 'AdaFactor', either 'learning_rate' is given and 'relative_step' is False, or neither: with "
                "relative_step=True the learning rate follows from the number of the step."
            )
        if warmup_init and not relative_step:
            raise ValueError("For 'AdaFactor', 'warmup_init' needs relative_step=True.")
        rate: Any = 0.0 if learning_rate is None else learning_rate
        super().__init__(rate, params, 0.0, loss_scale)
        self.eps, self.clip_threshold, self.decay_rate = eps, clip_threshold, decay_rate
        self.beta1, self._decay = beta1 or 0.0, weight_decay
        self.scale_parameter: bool = scale_parameter and isinstance(rate, float)
        self.relative_step, self.warmup_init = relative_step, warmup_init
        self.use_first_moment: bool = self.beta1 > 0
        moment = ("exp_avg",) if self.use_first_moment else ()
        if moment:
            self.exp_avg = self.parameters.clone(prefix="exp_avg", init="zeros")
        shapes = [(p.shape[:-1], (*p.shape[:-2], *p.shape[-1:]), (1,)) if p.ndim > 1 else None for p in self.parameters]
        self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq = (
            ParameterTuple(
                [
                    _create_zero_parameter(
                        p, f"{name}_{p.name}", (p.shape if i == 2 else (1,)) if s is None else s[i], small
                    )
                    for p, s in zip(self.parameters, shapes, strict=True)
                    for small in [compression and s is None and i == 2]
                ]
            )
            for i, name in enumerate(("exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq"))
        )
        self._declare_state(*moment, "exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq")
        self.step: Parameter = Parameter(Tensor(np.zeros(1, np.float32)), name="afactor_step")

    def _compute_step_values(self):
        F.assign(self.step, self.step + 1)
        step = F.reshape(self.step, ())
        least = 1e-6 * step if self.warmup_init else 1e-2
        relative = F.minimum(least, F.rsqrt(step)) if self.relative_step else None
        return relative, 1.0 - F.pow(step, -self.decay_rate)

    def _apply_step(self, param, gradient, rate, *state_and_shared):
        *moment, row, col, square, relative, decay_rate = state_and_shared
        weight, gradient = F.cast(param, mstype.float32), F.cast(gradient, mstype.float32)
        rate = rate if relative is None else relative
        if self.scale_parameter:
            rate = rate * F.maximum(self.eps[1], _compute_root_mean_square(weight))
        squares = gradient * gradient + self.eps[0]
        if gradient.ndim > 1:
            for slot, axis in ((row, -1), (col, -2)):
                F.assign(slot, F.cast(slot * decay_rate + F.reduce_mean(squares, axis) * (1 - decay_rate), slot.dtype))
            r = F.rsqrt(row / F.reduce_mean(row, -1, True))
            update = F.expand_dims(r, -1) * F.expand_dims(F.rsqrt(col), -2) * gradient
        else:
            F.assign(square, F.cast(square * decay_rate + squares * (1 - decay_rate), square.dtype))
            update = F.rsqrt(square) * gradient
        update = update / F.maximum(_compute_root_mean_square(update) / self.clip_threshold, 1.0) * rate
        for mean in moment:
            F.assign(mean, F.cast(mean * self.beta1 + update * (1 - self.beta1), mean.dtype))
            update = mean
        F.assign(param, F.cast(weight * (1.0 - self._decay * rate) - update, param.dtype))


def _compute_root_mean_square(x):
    return F.sqrt(F.reduce_mean(x * x))


def _create_zero_parameter(param, name, shape, small):
    return Parameter(Tensor(np.zeros(shape), mstype.float16 if small else param.dtype), name=name)
