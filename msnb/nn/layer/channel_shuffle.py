"""`ChannelShuffle`: interleave groups of channels."""

from msnb.common.kinds import PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Cell):
    """
    Interleave the channels of groups: the first of each group, then the second of each (Zhang et al., 2018).

    Args:
        groups (int): Number of groups; a divisor of the number of channels.

    Inputs:
        - **x** (Tensor) - of shape (N, C, ...).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If `groups` is no int.
        ValueError: If it is less than 1 or no divisor, or the input has too few dimensions.

    Examples:
        >>> print(nn.ChannelShuffle(2)(Tensor(np.arange(4).reshape(1, 4, 1, 1), mindspore.int32)).flatten())
        [0 2 1 3]
    """

    @checked
    def __init__(self, groups: PositiveInt) -> None:
        super().__init__()
        self.groups: int = groups

    def construct(self, x: Tensor) -> Tensor:
        """Return the Tensor with the channels interleaved."""
        return F.channel_shuffle(x, self.groups)
