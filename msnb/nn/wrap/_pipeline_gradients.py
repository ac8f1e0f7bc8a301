"""`PipelineGradReducer`: what makes gradients of a pipeline's parts one, in programs of MindSpore 2."""

from collections.abc import Sequence
from typing import Any

from msnb import log
from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn.cell import Cell

__all__ = ["PipelineGradReducer"]


class PipelineGradReducer(Cell):
    """
    Gradients as they come: those of a pipeline are summed over its parts and devices already.

    Args:
        parameters (Sequence[Parameter]): What they are gradients of.
        scale_sense (float): Factor that multiplied the loss; the gradients are divided by it. Default: 1.0.
        opt_shard (bool): Without effect: what an optimizer keeps is cut as the context says. Default: None.

    Inputs:
        - **grads** (tuple[Tensor]) - Gradients.

    Outputs:
        tuple[Tensor], the same, divided by `scale_sense`.

    Raises:
        ValueError: If there are not as many gradients as parameters, or `scale_sense` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Dense(2, 1)
        >>> reducer = nn.PipelineGradReducer(net.trainable_params())
    """

    @checked
    def __init__(self, parameters: Any, scale_sense: PositiveNumber = 1.0, opt_shard: Bool | None = None) -> None:
        super().__init__(auto_prefix=False)
        log.unused("PipelineGradReducer", "the context says whether an optimizer's state is cut", opt_shard=opt_shard)
        self.scale_sense: float = scale_sense
        self._count = len(parameters)

    def construct(self, grads: Sequence[Any]) -> Any:
        if len(grads) != self._count:
            raise ValueError(
                f"For 'PipelineGradReducer', 'grads' should have a gradient for each of the {self._count} parameters, "
                f"but has {len(grads)}."
            )
        if self.scale_sense == 1.0:
            return grads
        return tuple([grad / self.scale_sense for grad in grads])
