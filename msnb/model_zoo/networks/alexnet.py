"""AlexNet (Krizhevsky, 2014: One weird trick for parallelizing convolutional neural networks)."""

from msnb import nn
from msnb.model_zoo.networks.layers import make_conv2d, make_dense
from msnb.model_zoo.networks.variant import choose

__all__ = ["AlexNet", "alexnet"]


class AlexNet(nn.Cell):
    """AlexNet with five convolutions.

    Args:
        num_classes (int): Number of classes. Default: 1000.
        variant (str): "torch" has the channels and the padding of torchvision, "mindspore" those of MindSpore's zoo.
            Default: "torch".

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, 224, 224)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    def __init__(self, num_classes: int = 1000, variant: str = "torch") -> None:
        super().__init__()
        channels = choose(variant, (64, 192, 384, 256, 256), (64, 128, 192, 256, 256))
        mode, padding = choose(variant, ("pad", 2), ("same", 0))
        self.conv1 = make_conv2d(3, channels[0], 11, 4, pad_mode=mode, padding=padding, has_bias=True)
        self.conv2 = make_conv2d(channels[0], channels[1], 5, pad_mode="same", has_bias=True)
        self.conv3 = make_conv2d(channels[1], channels[2], 3, pad_mode="same", has_bias=True)
        self.conv4 = make_conv2d(channels[2], channels[3], 3, pad_mode="same", has_bias=True)
        self.conv5 = make_conv2d(channels[3], channels[4], 3, pad_mode="same", has_bias=True)
        self.pool = nn.MaxPool2d(3, 2)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.5)
        self.flatten = nn.Flatten()
        self.fc1 = make_dense(channels[4] * 6 * 6, 4096)
        self.fc2 = make_dense(4096, 4096)
        self.fc3 = make_dense(4096, num_classes)
        convolutions = zip((0, 3, 6, 8, 10), range(1, 6), strict=True)
        dense = zip((1, 4, 6), range(1, 4), strict=True)
        self.weight_rules = [
            *((rf"^features\.{place}\.", f"conv{number}.") for place, number in convolutions),
            *((rf"^classifier\.{place}\.", f"fc{number}.") for place, number in dense),
        ]

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.conv3(x))
        x = self.relu(self.conv4(x))
        x = self.pool(self.relu(self.conv5(x)))
        x = self.dropout(self.relu(self.fc1(self.flatten(x))))
        x = self.dropout(self.relu(self.fc2(x)))
        return self.fc3(x)


def alexnet(num_classes: int = 1000, variant: str = "torch") -> AlexNet:
    """Return an AlexNet."""
    return AlexNet(num_classes, variant)
