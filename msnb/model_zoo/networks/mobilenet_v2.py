"""MobileNetV2 (Sandler et al., 2018: Inverted residuals and linear bottlenecks)."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_conv2d, make_dense

__all__ = ["MobileNetV2", "mobilenet_v2"]

# Table 2 of the paper: expansion, output channels, number of blocks, stride of the first
_GROUPS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class ConvNorm(nn.Cell):
    """Convolution, BatchNorm and ReLU6."""

    def __init__(self, in_channels, channels, size=1, stride=1, group=1) -> None:
        super().__init__()
        conv = make_conv2d(in_channels, channels, size, stride, pad_mode="pad", padding=size // 2, group=group)
        self.features = nn.SequentialCell([conv, nn.BatchNorm2d(channels), nn.ReLU6()])

    def construct(self, x):
        return self.features(x)


class InvertedResidual(nn.Cell):
    """Expansion, a depthwise convolution, a linear projection, and a shortcut where the shapes agree."""

    def __init__(self, in_channels, channels, stride, expansion) -> None:
        super().__init__()
        inner = in_channels * expansion
        cells = [] if expansion == 1 else [ConvNorm(in_channels, inner)]
        cells += [ConvNorm(inner, inner, 3, stride, inner), make_conv2d(inner, channels, 1), nn.BatchNorm2d(channels)]
        self.conv = nn.SequentialCell(cells)
        self.has_shortcut = stride == 1 and in_channels == channels

    def construct(self, x):
        return x + self.conv(x) if self.has_shortcut else self.conv(x)


class GlobalMean(nn.Cell):
    """Mean over height and width."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = ops.ReduceMean()

    def construct(self, x):
        return self.mean(x, (2, 3))


class MobileNetV2(nn.Cell):
    """MobileNetV2.

    Args:
        num_classes (int): Number of classes. Default: 1000.

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, H, W)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    weight_rules = [
        (r"^features\.(0|18)\.(\d)\.", r"features.\1.features.\2."),
        (r"\.conv\.(\d)\.(\d)\.", r".conv.\1.features.\2."),
        (r"^classifier\.1\.", "head.1."),
    ]

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        cells, in_channels = [ConvNorm(3, 32, 3, 2)], 32
        for expansion, channels, count, first_stride in _GROUPS:
            for index in range(count):
                cells.append(InvertedResidual(in_channels, channels, 1 if index else first_stride, expansion))
                in_channels = channels
        self.features = nn.SequentialCell([*cells, ConvNorm(in_channels, 1280)])
        self.head = nn.SequentialCell([GlobalMean(), make_dense(1280, num_classes)])

    def construct(self, x):
        return self.head(self.features(x))


def mobilenet_v2(num_classes: int = 1000) -> MobileNetV2:
    """Return a MobileNetV2."""
    return MobileNetV2(num_classes)
