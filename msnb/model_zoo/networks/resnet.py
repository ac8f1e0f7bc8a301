"""ResNet (He et al., 2015: Deep residual learning for image recognition)."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_conv2d, make_dense
from msnb.model_zoo.networks.variant import choose

__all__ = ["ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]


class _Layers:
    """Layers of a variant. `is_same` pads as "same", otherwise both sides get the same padding."""

    def __init__(self, is_same, block_epsilon, epsilon) -> None:
        self.is_same, self.block_epsilon, self.epsilon = is_same, block_epsilon, epsilon

    def conv(self, in_channels, channels, size, stride=1):
        if self.is_same:
            return make_conv2d(in_channels, channels, size, stride, pad_mode="same")
        return make_conv2d(in_channels, channels, size, stride, pad_mode="pad", padding=size // 2)

    def norm(self, channels):
        return nn.BatchNorm2d(channels, eps=self.block_epsilon)

    def pool(self):
        if self.is_same:
            return nn.MaxPool2d(3, 2, pad_mode="same")
        # zeros do not change the maximum of results of ReLU
        return nn.SequentialCell([nn.Pad(((0, 0), (0, 0), (1, 1), (1, 1))), nn.MaxPool2d(3, 2)])

    def shortcut(self, in_channels, channels, stride):
        if stride == 1 and in_channels == channels:
            return None
        norm = nn.BatchNorm2d(channels, eps=self.epsilon)
        return nn.SequentialCell([self.conv(in_channels, channels, 1, stride), norm])


class BasicBlock(nn.Cell):
    """Two 3 x 3 convolutions and a shortcut."""

    expansion = 1
    mindspore = (False, 1e-4, 1e-5)  # is_same, epsilon in the blocks, epsilon elsewhere
    weight_rules = [(r"(\.\d+\.bn[12])\.", r"\1d.")]

    def __init__(self, layers, in_channels, channels, stride) -> None:
        super().__init__()
        self.conv1 = layers.conv(in_channels, channels, 3, stride)
        self.bn1d = layers.norm(channels)
        self.conv2 = layers.conv(channels, channels, 3)
        self.bn2d = layers.norm(channels)
        self.relu = nn.ReLU()
        self.down_sample_layer = layers.shortcut(in_channels, channels, stride)

    def construct(self, x):
        y = self.relu(self.bn1d(self.conv1(x)))
        y = self.bn2d(self.conv2(y))
        return self.relu(y + (x if self.down_sample_layer is None else self.down_sample_layer(x)))


class Bottleneck(nn.Cell):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1, and a shortcut."""

    expansion = 4
    mindspore = (True, 1e-4, 1e-4)
    weight_rules = []

    def __init__(self, layers, in_channels, channels, stride) -> None:
        super().__init__()
        self.conv1 = layers.conv(in_channels, channels, 1)
        self.bn1 = layers.norm(channels)
        self.conv2 = layers.conv(channels, channels, 3, stride)
        self.bn2 = layers.norm(channels)
        self.conv3 = layers.conv(channels, 4 * channels, 1)
        self.bn3 = layers.norm(4 * channels)
        self.relu = nn.ReLU()
        self.down_sample_layer = layers.shortcut(in_channels, 4 * channels, stride)

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.down_sample_layer is None else self.down_sample_layer(x)))


class ResNet(nn.Cell):
    """ResNet: four groups of residual blocks.

    Args:
        block (type): Class of the blocks, `BasicBlock` or `Bottleneck`.
        counts (tuple[int]): Number of blocks in each group.
        num_classes (int): Number of classes. Default: 1000.
        variant (str): "torch" has the padding and the epsilon of torchvision, "mindspore" those of MindSpore's zoo.
            Default: "torch".

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, H, W)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    def __init__(self, block: type, counts: tuple[int, ...], num_classes: int = 1000, variant: str = "torch") -> None:
        super().__init__()
        layers = _Layers(*choose(variant, (False, 1e-5, 1e-5), block.mindspore))
        in_channels, groups = 64, []
        self.conv1 = layers.conv(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64, eps=layers.epsilon)
        self.relu = nn.ReLU()
        self.maxpool = layers.pool()
        for number, count in enumerate(counts):
            blocks = []
            for index in range(count):
                blocks.append(block(layers, in_channels, 64 << number, 2 if number and not index else 1))
                in_channels = block.expansion * 64 << number
            groups.append(nn.SequentialCell(blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = groups
        self.mean = ops.ReduceMean()
        self.end_point = make_dense(in_channels, num_classes)
        self.weight_rules = [*block.weight_rules, (r"\.downsample\.", ".down_sample_layer."), (r"^fc\.", "end_point.")]

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.end_point(self.mean(x, (2, 3)))


def resnet18(num_classes: int = 1000, variant: str = "torch") -> ResNet:
    """Return a ResNet with 18 layers."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, variant)


def resnet34(num_classes: int = 1000, variant: str = "torch") -> ResNet:
    """Return a ResNet with 34 layers."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, variant)


def resnet50(num_classes: int = 1000, variant: str = "torch") -> ResNet:
    """Return a ResNet with 50 layers."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, variant)


def resnet101(num_classes: int = 1000, variant: str = "torch") -> ResNet:
    """Return a ResNet with 101 layers."""
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, variant)


def resnet152(num_classes: int = 1000, variant: str = "torch") -> ResNet:
    """Return a ResNet with 152 layers."""
    return ResNet(Bottleneck, (3, 8, 36, 3), num_classes, variant)
