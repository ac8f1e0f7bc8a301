"""LeNet-5 (LeCun et al., 1998: Gradient-based learning applied to document recognition)."""

from msnb import nn

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
        self.conv1 = nn.Conv2d(num_channels, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_classes)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def lenet5(num_classes: int = 10, num_channels: int = 1) -> LeNet5:
    """Return a LeNet-5. Its pretrained weights read the digits of `msnb.samples.digits`."""
    return LeNet5(num_classes, num_channels)
