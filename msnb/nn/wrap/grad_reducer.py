"""`DistributedGradReducer`: brings the gradients of several devices together."""

from msnb import log
from msnb.nn.cell import Cell

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """Gradients as the mean (or sum) over all devices that train together.

    A program here is one process: when its batch is spread over devices, XLA has already summed what they found, so the
    gradients pass through unchanged.

    Args:
        parameters (list): The Parameters that the gradients belong to.
        mean (bool): Whether the mean is taken rather than the sum. Default: True.
        degree (int): Number of devices that train together, positive. Default: None, all of them.

    Inputs:
        - **grads** (Union[Tensor, tuple[Tensor]]) - Gradients.

    Outputs:
        The gradients, of the same dtypes.

    Raises:
        ValueError: If `degree` is no positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=1)
    """

    def __init__(self, parameters, mean=True, degree=None):
        super().__init__(auto_prefix=False)
        if degree is not None and (not isinstance(degree, int) or isinstance(degree, bool) or degree <= 0):
            raise ValueError(f"For '{self.cls_name}', 'degree' should be a positive int, but got {degree!r}.")
        if degree is not None and degree > 1:
            log.once(
                f"DistributedGradReducer with degree={degree} passes gradients on unchanged: this program is one "
                f"process, whose gradients are those of the whole batch."
            )
        self.degree = 1 if degree is None else degree
        self.mean = mean
        self.allreduce_filter = tuple(x.layerwise_parallel is False for x in parameters)

    def construct(self, grads):
        return grads
