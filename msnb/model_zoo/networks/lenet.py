"""LeNet-5 (LeCun et al., 1998: Gradient-based learning applied to document recognition)."""

from itertools import pairwise

from msnb import nn
from msnb.model_zoo.networks.layers import make_conv2d, make_dense

__all__ = ["LeNet5", "lenet5"]


class LeNet5(nn.Cell):
    """LeNet-5.

    Args:
        num_classes (int): Number of classes. Default: 10.
        num_channels (int): Channels of the images. Default: 1.

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, num\\_channels, 32, 32)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.

    Examples:
        >>> from msnb import model_zoo
        >>> net = model_zoo.lenet5()
        >>> net.fc3.weight.shape
        (10, 84)
    """

    def __init__(self, num_classes: int = 10, num_channels: int = 1) -> None:
        super().__init__()
        channels, features = (num_channels, 6, 16), (16 * 5 * 5, 120, 84, num_classes)
        self.conv1, self.conv2 = (make_conv2d(*sizes, 5, pad_mode="valid") for sizes in pairwise(channels))
        self.fc1, self.fc2, self.fc3 = (make_dense(*sizes) for sizes in pairwise(features))
        self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def lenet5(num_classes: int = 10, num_channels: int = 1) -> LeNet5:
    """Return a LeNet-5. Its pretrained weights read the digits of `msnb.samples.digits`."""
    return LeNet5(num_classes, num_channels)
