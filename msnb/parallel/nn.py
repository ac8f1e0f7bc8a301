"""``mindspore.parallel.nn`` of 2.5 and later: networks that get a batch in parts, under other names than in
``mindspore.nn``."""

from msnb.nn import GradAccumulationCell, MicroBatchInterleaved, PipelineCell, PipelineGradReducer

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]


class Pipeline(PipelineCell):
    """
    A network that gets a batch in parts, in stages on devices of their own: :class:`mindspore.nn.PipelineCell`.

    Args:
        network (Cell): See there, as the others.
        micro_size (int): Number of parts.
        stage_config (dict): The `pipeline_stage` of Cells, by name. Default: None.
        segment_config (dict): Without effect. Default: None.

    Inputs:
        - ***inputs** (Tensor) - A batch, whose first axis `micro_size` divides.

    Outputs:
        Tensor, the sum of the losses.

    Raises:
        TypeError: If `network` is no Cell, or `micro_size` no int.
        ValueError: If `micro_size` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore.parallel.nn import Pipeline
        >>> loss = Pipeline(nn.WithLossCell(Net(), nn.MSELoss()), 2)
    """


class GradAccumulation(GradAccumulationCell):
    """
    A network that gets a batch in parts and adds up their losses: :class:`mindspore.nn.GradAccumulationCell`.

    Args:
        network (Cell): The network, which returns its loss.
        micro_size (int): Number of parts.

    Inputs:
        - ***inputs** (Tensor) - A batch, whose first axis `micro_size` divides.

    Outputs:
        Tensor, the sum of the losses.

    Raises:
        TypeError: If `network` is no Cell, or `micro_size` no int.
        ValueError: If `micro_size` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore.parallel.nn import GradAccumulation
        >>> loss = GradAccumulation(nn.WithLossCell(Net(), nn.MSELoss()), 2)
    """
