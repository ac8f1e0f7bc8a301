"""Batch normalisation with statistics over the batches of several devices."""

from msnb.core.sharding.partitioner import size
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops.operations.comm_ops import AllReduce


def normalize_across_devices(
    x: Tensor,
    scale: Tensor | None,
    shift: Tensor | None,
    running: tuple[Parameter | None, Parameter | None],
    share: float | Tensor,
    eps: float,
    group: str,
) -> Tensor:
    """Return `x`, normalised by mean and variance over the batches of all devices of a group. The batches have equal
    size.

    The gradient includes the communication: on each device it is the gradient of the sum of all losses.

    Args:
        x (Tensor): (N, C, ...), the batch of this device.
        scale (Tensor): The scale, (C,). None means 1.
        shift (Tensor): The shift, (C,). None means 0.
        running (tuple): Running mean and variance, Parameters (C,). They are updated. (None, None) updates nothing.
        share (Union[float, Tensor]): Weight of the new statistics in the update of `running`.
        eps (float): Added to the variance under the square root.
        group (str): Name of the group.

    Returns:
        Tensor, of the shape and dtype of `x`.
    """
    together, joined = size(group), AllReduce(group=group)
    others = (0, *range(2, x.ndim))
    values = F.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    mean = joined(values.mean(others, True)) / together
    centred = values - mean
    variance = joined((centred * centred).mean(others, True)) / together
    count = together * x.size // x.shape[1]
    for statistic, new in zip(running, (mean, variance * (count / max(count - 1, 1))), strict=True):
        if statistic is not None:
            F.assign(statistic, statistic + share * (F.cast(new.reshape((-1,)), statistic.dtype) - statistic))
    out = centred / (variance + eps).sqrt()
    features = (1, -1, *[1] * (x.ndim - 2))
    if scale is not None:
        out = out * scale.reshape(features)
    if shift is not None:
        out = out + shift.reshape(features)
    return F.cast(out, x.dtype)
