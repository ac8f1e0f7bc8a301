"""Loss scalers of MindSpore 2: scale the loss and unscale the gradients in training functions that users write."""

import abc
from typing import Any

import numpy as np

from msnb import log
from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.sparse import RowTensor, map_values
from msnb.core.tensor.tensor import Tensor
from msnb.ops import operations as P

__all__ = ["LossScaler", "StaticLossScaler", "DynamicLossScaler", "all_finite", "init_status"]


def init_status() -> Tensor:
    """Return a Tensor of 8 zeros. In MindSpore 2.0 an Ascend chip writes its overflow status to it; here `all_finite`
    checks the gradients themselves.

    Returns:
        Tensor, float32 of shape (8,).

    Examples:
        >>> print(amp.init_status().shape)
        (8,)
    """
    return Tensor(np.zeros(8, np.float32))


def all_finite(inputs: tuple[Tensor, ...] | list[Tensor], status: Tensor | None = None) -> Tensor:
    """Return whether all Tensors are free of infinity and NaN.

    Args:
        status (Tensor): The result of `init_status` in MindSpore 2.0; no effect, as the Tensors themselves are checked.
            Default: None.

    Returns:
        Tensor, bool, of shape ().

    Examples:
        >>> print(amp.all_finite((Tensor([1.0, 2.0]), Tensor(float("nan")))))
        False
    """
    log.unused("all_finite", "the Tensors themselves are looked at", status=status is not None)
    inputs = (inputs,) if isinstance(inputs, (Tensor, RowTensor)) else tuple(inputs)
    flags = [P.FloatStatus()(x.values if isinstance(x, RowTensor) else x) for x in inputs]
    total = P.AddN()(flags) if len(flags) > 1 else flags[0]
    return P.Less()(P.Reshape()(total, ()), 1.0)


class LossScaler(abc.ABC):
    """Base class of loss scalers."""

    @abc.abstractmethod
    def scale(self, inputs: Tensor | tuple[Tensor, ...]) -> Any:
        """Return `inputs` multiplied by the loss scale.

        Args:
            inputs (Union[Tensor, tuple[Tensor]]): The loss.
        """

    @abc.abstractmethod
    def unscale(self, inputs: Tensor | tuple[Tensor, ...]) -> Any:
        """Return `inputs` divided by the loss scale.

        Args:
            inputs (Union[Tensor, tuple[Tensor]]): The gradients.
        """

    @abc.abstractmethod
    def adjust(self, grads_finite: Tensor) -> Any:
        """Update the loss scale after a step.

        Args:
            grads_finite (Tensor): bool, whether the gradients were finite.
        """


def _multiply_tensors(inputs, factor):
    if isinstance(inputs, (tuple, list)):
        return type(inputs)(_multiply_tensors(x, factor) for x in inputs)
    return map_values(lambda x: x * P.Cast()(factor, x.dtype), inputs)


def _grad_scale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Multiply Tensors by a scale; programs that derive from `LossScaler` import it."""
    return _multiply_tensors(inputs, scale_value)


def _grad_unscale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Divide Tensors by a scale; programs that derive from `LossScaler` import it."""
    return _multiply_tensors(inputs, P.Reciprocal()(scale_value))


class StaticLossScaler(LossScaler):
    """A constant loss scale.

    Args:
        scale_value (Union[int, float]): The loss scale.

    Examples:
        >>> loss_scaler = amp.StaticLossScaler(scale_value=2**10)
        >>> print(loss_scaler.scale(Tensor(0.5)))
        512.0
    """

    def __init__(self, scale_value: int | float) -> None:
        _check_scale("StaticLossScaler", scale_value)
        self.scale_value: Parameter = Parameter(
            Tensor(scale_value, mstype.float32), name="scale_value", requires_grad=False
        )

    def scale(self, inputs: Any) -> Any:
        """Return `inputs` multiplied by the loss scale."""
        return _multiply_tensors(inputs, self.scale_value)

    def unscale(self, inputs: Any) -> Any:
        """Return `inputs` divided by the loss scale."""
        return _multiply_tensors(inputs, P.Reciprocal()(self.scale_value))

    def adjust(self, grads_finite: Tensor) -> bool:
        """Return False: the loss scale is fixed."""
        return False


class DynamicLossScaler(StaticLossScaler):
    """A loss scale that is divided by `scale_factor` on overflow, and multiplied by it after `scale_window` steps
    without overflow.

    Args:
        scale_value (Union[int, float]): Initial loss scale.
        scale_factor (int): Factor by which the loss scale changes, positive.
        scale_window (int): Number of steps without overflow after which the loss scale grows, positive.

    Examples:
        >>> loss_scaler = amp.DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=1)
        >>> grads = loss_scaler.unscale((Tensor([512.0, 1024.0]),))
        >>> print(grads[0])
        [0.5 1. ]
        >>> loss_scaler.adjust(amp.all_finite(grads))
        >>> print(loss_scaler.scale_value.asnumpy())
        2048.0
    """

    def __init__(self, scale_value: int | float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        Validator.check_positive_int(scale_factor, "scale_factor", "DynamicLossScaler")
        Validator.check_positive_int(scale_window, "scale_window", "DynamicLossScaler")
        self.scale_factor: int = scale_factor
        self.scale_window: int = scale_window
        self.counter: Parameter = Parameter(Tensor(0, mstype.int32), name="counter", requires_grad=False)

    def adjust(self, grads_finite: Tensor) -> bool:
        """Update the loss scale: lower it (never below 1) if the gradients were not finite. Returns True."""
        select, assign = P.Select(), P.Assign()
        up = self.scale_value * float(self.scale_factor)
        full = P.Equal()(self.counter, self.scale_window - 1)
        up = select(P.LogicalAnd()(full, P.IsFinite()(up)), up, self.scale_value)
        down = P.Maximum()(self.scale_value / float(self.scale_factor), 1.0)
        steps = select(full, P.ZerosLike()(self.counter), self.counter + 1)
        scale = select(grads_finite, up, down)
        count = select(grads_finite, steps, P.ZerosLike()(self.counter))
        assign(self.scale_value, scale)
        assign(self.counter, P.Cast()(count, mstype.int32))
        return True


def _check_scale(name, value):
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(
            f"For '{name}', 'scale_value' should be a number, but got {value!r} of type {type(value).__name__}."
        )
    Validator.check_finite(value, "scale_value", name)
    if value <= 0:
        raise ValueError(f"For '{name}', 'scale_value' should be positive, but got {value}.")
