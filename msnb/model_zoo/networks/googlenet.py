"""GoogLeNet (Szegedy et al., 2014: Going deeper with convolutions) with BatchNorm."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_conv2d, make_dense
from msnb.model_zoo.networks.variant import choose

__all__ = ["GoogLeNet", "googlenet"]

# Table 1 of the paper: 1x1, reduced 3x3, 3x3, reduced 5x5, 5x5, projected pool
_BLOCKS = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


class ConvNorm(nn.Cell):
    """Convolution, BatchNorm and ReLU."""

    def __init__(self, in_channels, channels, size=1, stride=1, is_same=False) -> None:
        super().__init__()
        mode, padding = ("same", 0) if is_same else ("pad", size // 2)
        self.conv = make_conv2d(in_channels, channels, size, stride, pad_mode=mode, padding=padding)
        self.bn = nn.BatchNorm2d(channels, eps=1e-3)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.bn(self.conv(x)))


class Inception(nn.Cell):
    """Four branches side by side.

    As in torchvision and in MindSpore's zoo, the kernel of the third is 3 x 3, not 5 x 5.
    """

    def __init__(self, in_channels, ones, reduced_threes, threes, reduced_fives, fives, pooled) -> None:
        super().__init__()
        self.b1 = ConvNorm(in_channels, ones)
        self.b2 = nn.SequentialCell([ConvNorm(in_channels, reduced_threes), ConvNorm(reduced_threes, threes, 3)])
        self.b3 = nn.SequentialCell([ConvNorm(in_channels, reduced_fives), ConvNorm(reduced_fives, fives, 3)])
        self.pool = nn.MaxPool2d(3, 1, pad_mode="same")
        self.b4 = ConvNorm(in_channels, pooled)
        self.concat = ops.Concat(1)

    def construct(self, x):
        return self.concat((self.b1(x), self.b2(x), self.b3(x), self.b4(self.pool(x))))


def _make_pool(size, is_same):
    """Return max pooling of stride 2 that also covers an incomplete window at the end."""
    if is_same:
        return nn.MaxPool2d(size, 2, pad_mode="same")
    # zeros do not change the maximum of results of ReLU
    return nn.SequentialCell([nn.Pad(((0, 0), (0, 0), (0, 1), (0, 1))), nn.MaxPool2d(size, 2)])


class GoogLeNet(nn.Cell):
    """GoogLeNet without its auxiliary classifiers.

    Args:
        num_classes (int): Number of classes. Default: 1000.
        variant (str): "torch" has the padding of torchvision, "mindspore" that of MindSpore's zoo. Default: "torch".

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, H, W)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    weight_rules = [
        (r"^aux\d\.", None),
        (r"^inception", "block"),
        (r"\.branch4\.1\.", ".b4."),
        (r"\.branch([1-3])\.", r".b\1."),
        (r"^fc\.", "classifier."),
    ]

    def __init__(self, num_classes: int = 1000, variant: str = "torch") -> None:
        super().__init__()
        is_same = choose(variant, torch=False, mindspore=True)
        self.conv1 = ConvNorm(3, 64, 7, 2, is_same)
        self.conv2 = ConvNorm(64, 64)
        self.conv3 = ConvNorm(64, 192, 3)
        in_channels = 192
        for name, channels in _BLOCKS.items():
            setattr(self, f"block{name}", Inception(in_channels, *channels))
            in_channels = channels[0] + channels[2] + channels[4] + channels[5]
        self.pool1, self.pool2, self.pool3 = (_make_pool(3, is_same) for _ in range(3))
        self.pool4 = _make_pool(2, is_same)
        self.mean = ops.ReduceMean()
        self.dropout = nn.Dropout(0.8)
        self.classifier = make_dense(in_channels, num_classes)

    def construct(self, x):
        x = self.pool2(self.conv3(self.conv2(self.pool1(self.conv1(x)))))
        x = self.pool3(self.block3b(self.block3a(x)))
        x = self.block4e(self.block4d(self.block4c(self.block4b(self.block4a(x)))))
        x = self.block5b(self.block5a(self.pool4(x)))
        return self.classifier(self.dropout(self.mean(x, (2, 3))))


def googlenet(num_classes: int = 1000, variant: str = "torch") -> GoogLeNet:
    """Return a GoogLeNet."""
    return GoogLeNet(num_classes, variant)
