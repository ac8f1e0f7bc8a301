"""Training with loss scaling: steps whose gradients overflow are skipped, and the scale is adjusted."""

from typing import Annotated, Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Instance, checked
from msnb.common.missing import asked
from msnb.core.script import runtime
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.sparse import RowTensor, map_values
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.differentiate import Gradient
from msnb.nn._hyperparameter_kinds import Number
from msnb.nn.cell import Cell
from msnb.nn.wrap.cell_wrapper import TrainOneStepCell, check_scales
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]

# These names are those of MindSpore: users import them for their own training Cells.
_grad_scale = C.MultitypeFuncGraph("grad_scale")
_grad_overflow = C.MultitypeFuncGraph("_grad_overflow")
grad_scale = _grad_scale  # its name in MindSpore 2
reciprocal = P.Reciprocal()
grad_overflow = P.FloatStatus()


@_grad_scale.register("Tensor", "RowTensor")
@_grad_scale.register("Tensor", "Tensor")
def _unscale_gradient(scale, gradient):
    """Return `gradient` divided by `scale`, in the dtype of `gradient`."""
    return map_values(lambda values: values * F.cast(reciprocal(scale), values.dtype), gradient)


@_grad_overflow.register("RowTensor")
@_grad_overflow.register("Tensor")
def _has_overflow(gradient):
    return grad_overflow(gradient.values if isinstance(gradient, RowTensor) else gradient)


def _copy_parameter_value(param):
    """Return the current value of `param`, unaffected by later writes."""
    return box(param._array) if trace_state.tracing() else Tensor(param)


class DynamicLossScaleUpdateCell(Cell):
    """Update a loss scale: divide by `scale_factor` on overflow (never below 1), multiply after `scale_window` steps
    without overflow.

    Args:
        loss_scale_value (float): Initial loss scale.
        scale_factor (int): Factor by which the loss scale changes.
        scale_window (int): Number of steps without overflow after which the loss scale grows.

    Inputs:
        - **loss_scale** (Parameter) - The loss scale, which is written.
        - **overflow** (Tensor) - bool, whether the step overflowed.

    Outputs:
        Tensor, `overflow`.

    Examples:
        >>> manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=1000)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
    """

    @checked
    def __init__(self, loss_scale_value: Number, scale_factor: Number, scale_window: Number) -> None:
        super().__init__()
        self.loss_scale_value: float = loss_scale_value
        self.scale_factor: Tensor = Tensor(scale_factor, mstype.float32)
        self.scale_window: Tensor = Tensor(scale_window, mstype.int32)
        self.cur_iter: Parameter = Parameter(1, name="current_iterator_step")
        self.last_overflow_iter: Parameter = Parameter(0, name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """Return the initial loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        quiet = self.cur_iter - self.last_overflow_iter >= self.scale_window
        raised = F.select(quiet, loss_scale * self.scale_factor, loss_scale)
        lowered = F.maximum(loss_scale / self.scale_factor, 1.0)
        F.assign(
            self.last_overflow_iter, F.select(F.logical_or(overflow, quiet), self.cur_iter, self.last_overflow_iter)
        )
        F.assign(self.cur_iter, self.cur_iter + 1)
        F.assign(loss_scale, F.select(overflow, lowered, raised))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Keep the loss scale constant.

    Args:
        loss_scale_value (float): The loss scale.

    Inputs:
        - **loss_scale** (Tensor) - Not used.
        - **overflow** (Tensor) - bool, whether the step overflowed.

    Outputs:
        Tensor, `overflow`.

    Examples:
        >>> manager = nn.FixedLossScaleUpdateCell(loss_scale_value=2**12)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
    """

    @checked
    def __init__(self, loss_scale_value: Number) -> None:
        super().__init__()
        self.loss_scale_value: float = loss_scale_value

    def get_loss_scale(self) -> float:
        """Return the loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Tensor, overflow: Tensor) -> Tensor:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss. If a gradient is infinite or NaN, nothing is updated.

    Args:
        network (Cell): The network, which returns its loss.
        optimizer (Optimizer): Updates the Parameters.
        scale_sense (Union[Tensor, Cell]): The loss scale, of shape () or (1,), or the Cell that updates it, which has
            `get_loss_scale()`.

    Inputs:
        - ***inputs** (Tensor) - Inputs of the network.

    Outputs:
        tuple[Tensor], the loss, whether the step overflowed (bool), and the loss scale of the step.

    Raises:
        TypeError: If `scale_sense` is neither Cell nor Tensor.
        ValueError: If the shape of `scale_sense` is neither () nor (1,).

    Examples:
        >>> manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=1000)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
        >>> step.set_train()
        >>> loss, overflow, scale = step(data, label)
    """

    @checked
    def __init__(
        self, network: Cell, optimizer: Cell, scale_sense: Annotated[Tensor | Cell, Instance(Cell, Tensor)]
    ) -> None:
        super().__init__(network, optimizer, sens=None)
        if type(self).construct is TrainOneStepWithLossScaleCell.construct:
            check_scales(
                optimizer, 1.0, f"{self.cls_name} divides the gradients by the loss scale itself", "Leave it at 1.0."
            )
        moves = isinstance(scale_sense, Cell)
        self.loss_scaling_manager: Cell | None = scale_sense if moves else None
        scale = Tensor(scale_sense.get_loss_scale(), mstype.float32) if moves else scale_sense
        if scale.shape not in ((), (1,)):
            raise ValueError(
                f"For '{self.cls_name}', the shape of 'scale_sense' should be () or (1,), but got {scale.shape}."
            )
        self.scale_sense: Parameter = Parameter(scale, name="scale_sense")
        # These attributes are for classes that users derive from this one.
        self.is_distributed: bool = False
        self.base: Tensor = Tensor(1.0, mstype.float32)
        self.hyper_map: C.HyperMap = C.HyperMap()
        self.reduce_sum, self.less_equal = P.ReduceSum(), P.LessEqual()

    def construct(self, *inputs: Any) -> tuple[Any, Tensor, Tensor]:
        scale = _copy_parameter_value(self.scale_sense)
        before = [(param, param._array) for param in self.network.get_parameters()]
        loss, _, grads = Gradient(self.network, (), self.weights)(inputs, sens=scale)
        status, scale = self.start_overflow_check(loss, scale)
        factor = F.reshape(scale, ())
        grads = self.grad_reducer(tuple(_unscale_gradient(factor, grad) for grad in grads))
        cond = self.get_overflow_status(status, grads)
        written = [(param, array) for param, array in before if param._array is not array]
        self._update_unless_overflow(self.process_loss_scale(cond), grads, written)
        return loss, cond, scale

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Start the overflow check after `pre_cond` has been computed. msnb needs no setup for the check.

        Args:
            pre_cond (Tensor): A value to compute before the check.
            compute_input (Union[Tensor, tuple[Tensor]]): Input of the computation to check.

        Returns:
            tuple, False as the status for `get_overflow_status`, and `compute_input`.
        """
        return F.depend(False, pre_cond), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Return True if an overflow was detected, or `compute_output` contains infinity or NaN.

        Args:
            status (Union[bool, Tensor]): First result of `start_overflow_check`. A nonzero element of a Tensor means
                overflow.
            compute_output (Union[Tensor, tuple[Tensor]]): Output of the computation to check.

        Returns:
            Tensor, bool.
        """
        outputs = compute_output if isinstance(compute_output, tuple) else (compute_output,)
        flags = [_has_overflow(x) for x in outputs]
        if status is not False:
            status = status if isinstance(status, Tensor) else Tensor(status)
            flags.append(F.cast(F.cast(status, mstype.bool_).any(), mstype.float32).reshape(1))
        return F.reduce_sum(F.concat(flags)) >= self.base

    def process_loss_scale(self, overflow: Tensor) -> Any:
        """Update the loss scale with the Cell given as `scale_sense`. A Tensor `scale_sense` does not change.

        Args:
            overflow (Tensor): bool, whether the step overflowed.

        Returns:
            Tensor, bool.
        """
        if self.loss_scaling_manager is None:
            return overflow
        return self.loss_scaling_manager(self.scale_sense, overflow)

    def _update_unless_overflow(self, overflow, grads, written):
        """Run the optimizer unless `overflow` is true.

        `written` has pairs of a Parameter that the forward pass has written, and its previous value. These are usually
        moving statistics of BatchNorm, which one infinite batch would spoil. If one of them is no longer finite, all
        get their previous values. If only gradients overflowed, they keep the new values.
        """

        def update():
            self.optimizer(grads)
            return True

        def put_back():
            # An old value may be deleted: in PYNATIVE mode a compiled part of the step may have donated its array.
            pairs = [(p, old, p._array) for p, old in written if trace_state.tracing() or not old.is_deleted()]
            spoilt = jnp.bool_(False)
            for _, old, new in pairs:
                spoilt |= jnp.any(jnp.isfinite(old) & ~jnp.isfinite(new))
            for param, old, new in pairs:
                param._rebind_array(jnp.where(spoilt, old, new))
            return True

        # A branch instead of a `where` per Parameter, because XLA compiles many of those slowly.
        runtime.if_expression(overflow, put_back, update, None)

    @checked
    def set_sense_scale(self, sens: Annotated[Tensor, Instance(Tensor)]) -> None:
        """Set the loss scale.

        Args:
            sens (Tensor): The new loss scale, of the same shape and dtype.

        Raises:
            TypeError: If `sens` is no Tensor.
        """
        self.scale_sense.set_data(sens)


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
