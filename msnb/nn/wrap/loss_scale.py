"""Training with a scaled loss: steps whose gradients overflow are skipped, and the scale follows."""

import jax.numpy as jnp

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core import trace
from msnb.core.autodiff import Gradient
from msnb.core.parameter import Parameter
from msnb.core.script import runtime
from msnb.core.tensor import RowTensor, Tensor, box
from msnb.nn.cell import Cell
from msnb.nn.wrap.cell_wrapper import TrainOneStepCell, check_scales
from msnb.ops import composite as C
from msnb.ops import operations as P

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]

# Training cells that users write map these over their gradients, as MindSpore's own do.
_grad_scale = C.MultitypeFuncGraph("grad_scale")
_grad_overflow = C.MultitypeFuncGraph("_grad_overflow")
reciprocal = P.Reciprocal()
grad_overflow = P.FloatStatus()


@_grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale, grad):
    """`grad` divided by `scale`."""
    return grad * P.Cast()(reciprocal(scale), grad.dtype)


@_grad_scale.register("Tensor", "RowTensor")
def tensor_grad_scale_row_tensor(scale, grad):
    """The values of `grad` divided by `scale`."""
    return RowTensor(grad.indices, tensor_grad_scale(scale, grad.values), grad.dense_shape)


@_grad_overflow.register("Tensor")
def _tensor_grad_overflow(grad):
    return grad_overflow(grad)


@_grad_overflow.register("RowTensor")
def _row_tensor_grad_overflow(grad):
    return grad_overflow(grad.values)


def _value(param):
    """What `param` holds now, whatever is written to it later."""
    return box(param._array) if trace.tracing() else Tensor(param)


class DynamicLossScaleUpdateCell(Cell):
    """Moves a loss scale: down by `scale_factor` on overflow (never below 1), up after `scale_window` steps without.

    Args:
        loss_scale_value (float): First loss scale.
        scale_factor (int): Factor by which it moves.
        scale_window (int): Steps without overflow after which it grows.

    Inputs:
        - **loss_scale** (Parameter) - The loss scale, which is written.
        - **overflow** (Tensor) - bool, whether the step overflowed.

    Outputs:
        Tensor, `overflow`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=1000)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
    """

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        Validator.check_finite(loss_scale_value, "loss_scale_value", self.cls_name)
        Validator.check_finite(scale_factor, "scale_factor", self.cls_name)
        self.scale_window = Tensor(scale_window, dtype=mstype.int32)
        self.scale_factor = Tensor(scale_factor, dtype=mstype.float32)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, dtype=mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, dtype=mstype.int32), name="last_overflow_iterator_step")
        self.select = P.Select()
        self.max = P.Maximum()
        self.minimum_loss_scale = Tensor(1.0, dtype=mstype.float32)
        self.reciprocal = P.Reciprocal()
        self.less_equal = P.LessEqual()
        self.logic_and = P.LogicalAnd()
        self.logic_not = P.LogicalNot()
        self.logic_or = P.LogicalOr()
        self.assign = P.Assign()
        self.const_true = Tensor(True, dtype=mstype.bool_)

    def get_loss_scale(self):
        """First loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        lower = self.max(loss_scale * self.reciprocal(self.scale_factor), self.minimum_loss_scale)
        scale = self.select(overflow, lower, loss_scale)
        long_enough = self.less_equal(self.scale_window, self.cur_iter - self.last_overflow_iter)
        grows = self.logic_and(long_enough, self.logic_not(overflow))
        last = self.select(self.logic_or(overflow, long_enough), self.cur_iter, self.last_overflow_iter)
        self.assign(self.last_overflow_iter, last)
        self.assign(loss_scale, self.select(grows, scale * self.scale_factor, scale))
        self.assign(self.cur_iter, self.cur_iter + 1)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Leaves the loss scale as it is.

    Args:
        loss_scale_value (float): The loss scale.

    Inputs:
        - **loss_scale** (Tensor) - Not used.
        - **overflow** (Tensor) - bool, whether the step overflowed.

    Outputs:
        Tensor, `overflow`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> manager = nn.FixedLossScaleUpdateCell(loss_scale_value=2**12)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
    """

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = Validator.check_finite(loss_scale_value, "loss_scale_value", self.cls_name)

    def get_loss_scale(self):
        """The loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss, which leaves everything as it is when a gradient is infinite or NaN.

    Args:
        network (Cell): The network, which returns its loss.
        optimizer (Optimizer): Updates the Parameters.
        scale_sense (Union[Tensor, Cell]): The loss scale, of shape () or (1,), or the Cell that moves it, which has
            `get_loss_scale()`.

    Inputs:
        - ***inputs** (Tensor) - Inputs of the network.

    Outputs:
        tuple[Tensor], the loss, whether the step overflowed (bool), and the loss scale of the step.

    Raises:
        TypeError: If `scale_sense` is neither Cell nor Tensor.
        ValueError: If the shape of `scale_sense` is neither () nor (1,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=1000)
        >>> step = nn.TrainOneStepWithLossScaleCell(net_with_loss, optimizer, scale_sense=manager)
        >>> step.set_train()
        >>> loss, overflow, scale = step(data, label)
    """

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, sens=None)
        if type(self).construct is TrainOneStepWithLossScaleCell.construct:
            check_scales(
                optimizer, 1.0, f"{self.cls_name} divides the gradients by the loss scale itself", "Leave it at 1.0."
            )
        self.hyper_map = C.HyperMap()
        self.base = Tensor(1, mstype.float32)
        self.less_equal = P.LessEqual()
        self.concat = P.Concat()
        self.reduce_sum = P.ReduceSum()
        self.reshape = P.Reshape()
        self.is_distributed = False
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            self.scale_sense = Parameter(Tensor(scale_sense.get_loss_scale(), dtype=mstype.float32), name="scale_sense")
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise ValueError(
                    f"For '{self.cls_name}', the shape of 'scale_sense' should be () or (1,), "
                    f"but got {scale_sense.shape}."
                )
            self.scale_sense = Parameter(scale_sense, name="scale_sense")
        else:
            raise TypeError(
                f"For '{self.cls_name}', 'scale_sense' should be a Cell or a Tensor, but got "
                f"{scale_sense!r} of type {type(scale_sense).__name__}."
            )

    def construct(self, *inputs):
        scale = _value(self.scale_sense)
        before = [(param, param._array) for param in self.network.get_parameters()]
        loss, _, grads = Gradient(self.network, (), self.weights)(inputs, sens=scale)
        status, scale = self.start_overflow_check(loss, scale)
        factor = self.reshape(scale, ())
        grads = tuple(self._unscaled(factor, grad) for grad in grads)
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(status, grads)
        written = [(param, array) for param, array in before if param._array is not array]
        self._update_unless(self.process_loss_scale(cond), grads, written)
        return loss, cond, scale

    @staticmethod
    def _unscaled(scale, grad):
        if isinstance(grad, RowTensor):
            return tensor_grad_scale_row_tensor(scale, grad)
        return tensor_grad_scale(scale, grad)

    def start_overflow_check(self, pre_cond, compute_input):
        """Begin to watch for overflow, after `pre_cond`; nothing has to be set up here.

        Args:
            pre_cond (Tensor): What has to be computed before.
            compute_input (Union[Tensor, tuple[Tensor]]): Input of what is watched.

        Returns:
            tuple, False as the status for `get_overflow_status`, and `compute_input`.
        """
        return P.Depend()(False, pre_cond), compute_input

    def get_overflow_status(self, status, compute_output):
        """Whether there was an overflow already, or a Tensor of `compute_output` holds an infinite value or NaN.

        Args:
            status (Union[bool, Tensor]): First result of `start_overflow_check`; of a Tensor, any element but zero is
                an overflow.
            compute_output (Union[Tensor, tuple[Tensor]]): Output of what is watched.

        Returns:
            Tensor, bool.
        """
        outputs = compute_output if isinstance(compute_output, tuple) else (compute_output,)
        flags = [_row_tensor_grad_overflow(x) if isinstance(x, RowTensor) else grad_overflow(x) for x in outputs]
        if status is not False:
            status = status if isinstance(status, Tensor) else Tensor(status)
            flags.append(P.Cast()(P.ReduceAny()(P.Cast()(status, mstype.bool_)), mstype.float32).reshape(1))
        return self.less_equal(self.base, self.reduce_sum(self.concat(flags)))

    def process_loss_scale(self, overflow):
        """Let the manager move the loss scale.

        Args:
            overflow (Tensor): bool, whether the step overflowed.

        Returns:
            Tensor, bool.
        """
        if self.loss_scaling_manager is None:
            return overflow
        return self.loss_scaling_manager(self.scale_sense, overflow)

    def _update_unless(self, overflow, grads, written):
        """Run the optimizer unless `overflow` is true.

        When it was the forward pass that overflowed, what it has `written` is put back as well: moving statistics of
        BatchNorm as a rule, which one infinite batch would spoil for good. When only gradients did, it stays.
        """

        def update():
            self.optimizer(grads)
            return True

        def put_back():
            # A graph that was called in PYNATIVE mode may have reused an old array.
            pairs = [(p, old, p._array) for p, old in written if trace.tracing() or not old.is_deleted()]
            spoilt = jnp.bool_(False)
            for _, old, new in pairs:
                spoilt |= jnp.any(jnp.isfinite(old) & ~jnp.isfinite(new))
            for param, old, new in pairs:
                param._assign(jnp.where(spoilt, old, new))
            return True

        # A branch, not a selection between old and new values: XLA compiles that slowly when there are many Parameters.
        runtime.if_expression(overflow, put_back, update, None)

    def set_sense_scale(self, sens):
        """Set the loss scale.

        Args:
            sens (Tensor): The new loss scale, of the same shape and dtype.

        Raises:
            TypeError: If `sens` is no Tensor.
        """
        if not isinstance(sens, Tensor):
            raise TypeError(f"For 'set_sense_scale', 'sens' should be a Tensor, but got {type(sens).__name__}.")
        self.scale_sense.set_data(sens)
