"""`PipelineGradReducer`, which programs for MindSpore 2 call between gradient and optimizer."""

from collections.abc import Sequence
from typing import Any

from msnb import log
from msnb.common.kinds import Bool, checked
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn.cell import Cell

__all__ = ["PipelineGradReducer"]


class PipelineGradReducer(Cell):
    """
    Divide gradients by the loss scale. No reduction is needed: a pipeline sums them over micro-batches and devices
    already.

    Args:
        parameters (Sequence[Parameter]): The Parameters of the gradients.
        scale_sense (float): Factor that multiplied the loss; the gradients are divided by it. Default: 1.0.
        opt_shard (bool): No effect: the context sets the sharding of optimizer state. Default: None.

    Inputs:
        - **grads** (tuple[Tensor]) - Gradients.

    Outputs:
        tuple[Tensor], the gradients divided by `scale_sense`.

    Raises:
        ValueError: If there are not as many gradients as parameters, or `scale_sense` is not positive.

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
