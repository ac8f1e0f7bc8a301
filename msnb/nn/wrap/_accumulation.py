"""Gradient accumulation, as in MindSpore 2's `boost`."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Instance, PositiveInt, checked
from msnb.core.script import runtime
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.optim.optimizer import Optimizer
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = C.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = C.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Number", "Tensor", "Tensor")
def _add_gradient_share(steps, sum_of_shares, gradient):
    """Add `gradient` / `steps` to the accumulated mean."""
    P.AssignAdd()(sum_of_shares, gradient / steps)
    return sum_of_shares


@gradient_clear_op.register("Tensor")
def _zero_accumulated_gradient(sum_of_shares):
    """Set the accumulated gradient to zero."""
    return F.assign(sum_of_shares, P.ZerosLike()(sum_of_shares))


class GradientAccumulation(Cell):
    """
    Gradient accumulation: an optimizer is called every `max_accumulation_step` steps, with the mean of their gradients.

    Args:
        max_accumulation_step (int): Number of steps in the mean.
        optimizer (Optimizer): The optimizer that applies the mean.

    Inputs:
        - **loss** (Tensor) - the loss of the step, which is returned.
        - **grads** (tuple[Tensor]) - gradients, in the order of the optimizer's Parameters.

    Outputs:
        Tensor, `loss`.

    Raises:
        TypeError: If `max_accumulation_step` is no int, or `optimizer` is no Optimizer.
        ValueError: If `max_accumulation_step` is less than 1.

    Examples:
        >>> import mindspore.boost as boost
        >>> net = nn.Dense(2, 1)
        >>> accumulate = boost.GradientAccumulation(4, nn.SGD(net.trainable_params(), 0.1))
    """

    @checked
    def __init__(
        self, max_accumulation_step: PositiveInt, optimizer: Annotated[Optimizer, Instance(Optimizer)]
    ) -> None:
        super().__init__()
        self.optimizer: Optimizer = optimizer  # first, since it prefixes the names that the accumulated gradients get
        self.weights, sums = optimizer.parameters, optimizer.parameters.clone("grad_accumulation", "zeros")
        self._grad_accumulation = sums  # derived classes of users read these attributes
        self._max_accumulation_step: int = max_accumulation_step
        self._accumulation_step: Parameter = Parameter(np.zeros((), np.int32), "accumulation_step")
        self.hyper_map: C.HyperMap = C.HyperMap()

    def construct(self, loss: Tensor, grads: Sequence[Any]) -> Tensor:
        """Accumulate the gradients of one step. Apply the mean at the last step of a round."""
        self.hyper_map(F.partial(gradient_accumulation_op, self._max_accumulation_step), self._grad_accumulation, grads)
        F.assign(self._accumulation_step, self._accumulation_step + 1)
        runtime.if_expression(
            self._accumulation_step >= self._max_accumulation_step, self._apply_gradients, lambda: True, None
        )
        return loss

    def _apply_gradients(self):
        self.optimizer(tuple(self._grad_accumulation))
        self.hyper_map(gradient_clear_op, self._grad_accumulation)
        F.assign(self._accumulation_step, 0)
        return True
