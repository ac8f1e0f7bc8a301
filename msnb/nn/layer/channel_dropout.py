"""Dropout of complete channels."""

from msnb.common.kinds import checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Share
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["Dropout1d", "Dropout2d", "Dropout3d"]


class _ChannelDropout(Cell):
    _may_return_input = True

    @checked
    def __init__(self, p: Share = 0.5) -> None:
        super().__init__()
        self.p = float(p)

    def extend_repr(self) -> str:
        """Return the probability for `repr`."""
        return f"p={self.p}"


class Dropout1d(_ChannelDropout):
    """
    Dropout of channels of sequences (Tompson et al., 2015): in training, random channels become 0 and the others are
    scaled so that the expected sum is unchanged. In evaluation, the initial mode, the input is returned unchanged.

    Args:
        p (float): Probability that a channel becomes 0, in [0, 1]. Default: 0.5.

    Inputs:
        - **x** (Tensor) - float, of shape (N, C, L) or (C, L).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `p` is no number.
        ValueError: If `p` is not in [0, 1], or `x` has a wrong number of dimensions.

    Examples:
        >>> net = nn.Dropout1d(0.2).set_train()
        >>> print(net(Tensor(np.ones((2, 3, 4)), mindspore.float32)).shape)
        (2, 3, 4)
    """

    def construct(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        return F.dropout1d(x, self.p, self.training)


class Dropout2d(_ChannelDropout):
    """
    Dropout of channels of images (Tompson et al., 2015): in training, random channels become 0 and the others are
    scaled so that the expected sum is unchanged. In evaluation, the initial mode, the input is returned unchanged.

    Args:
        p (float): Probability that a channel becomes 0, in [0, 1]. Default: 0.5.

    Inputs:
        - **x** (Tensor) - float, of shape (N, C, H, W).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `p` is no number.
        ValueError: If `p` is not in [0, 1], or `x` has a wrong number of dimensions.

    Examples:
        >>> net = nn.Dropout2d(0.2).set_train()
        >>> print(net(Tensor(np.ones((2, 3, 4, 4)), mindspore.float32)).shape)
        (2, 3, 4, 4)
    """

    def construct(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        return F.dropout2d(x, self.p, self.training)


class Dropout3d(_ChannelDropout):
    """
    Dropout of channels of volumes (Tompson et al., 2015): in training, random channels become 0 and the others are
    scaled so that the expected sum is unchanged. In evaluation, the initial mode, the input is returned unchanged.

    Args:
        p (float): Probability that a channel becomes 0, in [0, 1]. Default: 0.5.

    Inputs:
        - **x** (Tensor) - float, of shape (N, C, D, H, W).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `p` is no number.
        ValueError: If `p` is not in [0, 1], or `x` has a wrong number of dimensions.

    Examples:
        >>> net = nn.Dropout3d(0.2).set_train()
        >>> print(net(Tensor(np.ones((2, 3, 4, 4, 4)), mindspore.float32)).shape)
        (2, 3, 4, 4, 4)
    """

    def construct(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        return F.dropout3d(x, self.p, self.training)
