"""MobileNetV3 (Howard et al., 2019: Searching for MobileNetV3)."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_conv2d, make_pointwise
from msnb.model_zoo.networks.variant import choose

__all__ = ["MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"]

# Tables 1 and 2 of the paper: kernel, inner and outer channels, squeeze and excite, h-swish, stride
_LARGE = (
    *((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1)),
    *((5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1)),
    *((3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2)),
    *((5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)),
)
_SMALL = (
    *((3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2), (5, 240, 40, 1, 1, 1)),
    *((5, 240, 40, 1, 1, 1), (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2)),
    *((5, 576, 96, 1, 1, 1), (5, 576, 96, 1, 1, 1)),
)


def _make_conv(in_channels, channels, size=1, stride=1, group=1, has_bias=False):
    return make_conv2d(in_channels, channels, size, stride, "pad", size // 2, group=group, has_bias=has_bias)


class Unit(nn.Cell):
    """Convolution, BatchNorm and an activation."""

    def __init__(self, conv, norm, activation=None) -> None:
        super().__init__()
        self.conv, self.bn, self.activation = conv, norm, activation

    def construct(self, x):
        x = self.bn(self.conv(x))
        return x if self.activation is None else self.activation(x)


class GlobalMean(nn.Cell):
    """Mean over height and width, as an image of one pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, (2, 3))


class SqueezeExcite(nn.Cell):
    """Scale the channels by a function of their means."""

    def __init__(self, channels) -> None:
        super().__init__()
        inner = max(8, (channels // 4 + 4) // 8 * 8)  # the next multiple of 8, but no more than a tenth smaller
        inner += 8 if inner < 0.9 * (channels // 4) else 0
        self.mean = GlobalMean()
        self.conv1 = _make_conv(channels, inner, has_bias=True)
        self.conv2 = _make_conv(inner, channels, has_bias=True)
        self.relu, self.sigmoid = nn.ReLU(), nn.HSigmoid()

    def construct(self, x):
        return x * self.sigmoid(self.conv2(self.relu(self.conv1(self.mean(x)))))


class Block(nn.Cell):
    """Expansion, a depthwise convolution, squeeze and excite, a projection, and a shortcut."""

    def __init__(self, in_channels, row, make_norm) -> None:
        super().__init__()
        size, inner, channels, has_squeeze, is_swish, stride = row
        activation = nn.HSwish if is_swish else nn.ReLU
        self.expand = self.se = None
        if inner != in_channels:
            self.expand = Unit(_make_conv(in_channels, inner), make_norm(inner), activation())
        self.conv1 = Unit(_make_conv(inner, inner, size, stride, inner), make_norm(inner), activation())
        if has_squeeze:
            self.se = SqueezeExcite(inner)
        self.conv2 = Unit(_make_conv(inner, channels), make_norm(channels))
        self.has_shortcut = stride == 1 and in_channels == channels

    def construct(self, x):
        y = self.conv1(x if self.expand is None else self.expand(x))
        y = self.conv2(y if self.se is None else self.se(y))
        return x + y if self.has_shortcut else y


class MobileNetV3(nn.Cell):
    """MobileNetV3.

    Args:
        rows (tuple): For each block kernel, inner and outer channels, squeeze and excite, h-swish, stride.
        hidden (int): Channels before the last layer.
        num_classes (int): Number of classes. Default: 1000.
        variant (str): "torch" has the epsilon and the biases of torchvision, "mindspore" those of MindSpore's zoo.
            Default: "torch".

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, H, W)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    def __init__(self, rows: tuple, hidden: int, num_classes: int = 1000, variant: str = "torch") -> None:
        super().__init__()
        epsilon, momentum, has_bias = choose(variant, (1e-3, 0.99, True), (1e-5, 0.9, False))

        def make_norm(channels):
            return nn.BatchNorm2d(channels, eps=epsilon, momentum=momentum)

        cells, in_channels = [_make_conv(3, 16, 3, 2), make_norm(16), nn.HSwish()], 16
        for row in rows:
            cells.append(Block(in_channels, row, make_norm))
            in_channels = row[2]
        inner = rows[-1][1]
        cells += [_make_conv(in_channels, inner), make_norm(inner), nn.HSwish(), GlobalMean()]
        self.features = nn.SequentialCell([*cells, make_pointwise(inner, hidden, has_bias=has_bias), nn.HSwish()])
        self.output = make_pointwise(hidden, num_classes, has_bias=True)
        self.flatten = nn.Flatten()
        self.weight_rules = _list_rules(rows)

    def construct(self, x):
        return self.flatten(self.output(self.features(x)))


def _list_rules(rows):
    """Return the rules for torchvision's names. A block there is a sequence; here its Cells have names."""
    last = len(rows) + 1
    rules = [(rf"^features\.{last}\.{index}\.", f"features.{last + 2 + index}.") for index in (0, 1)]
    rules += [(r"^classifier\.3\.", "output."), (r"^classifier\.0\.", f"features.{last + 6}.")]
    in_channels = 16
    for number, (_, inner, channels, has_squeeze, *_) in enumerate(rows, 1):
        cells = ["expand"] * (inner != in_channels) + ["conv1"] + ["se"] * has_squeeze + ["conv2"]
        for index, cell in enumerate(cells):
            rules.append((rf"^features\.{number}\.block\.{index}\.", f"features.{number + 2}.{cell}."))
        in_channels = channels
    rules += [(r"\.se\.fc", ".se.conv"), (r"\.(expand|conv[12])\.0\.", r".\1.conv.")]
    rules += [(r"\.(expand|conv[12])\.1\.", r".\1.bn.")]
    return [*rules, (r"^features\.0\.([01])\.", r"features.\1.")]


def mobilenet_v3_large(num_classes: int = 1000, variant: str = "torch") -> MobileNetV3:
    """Return a MobileNetV3-Large."""
    return MobileNetV3(_LARGE, 1280, num_classes, variant)


def mobilenet_v3_small(num_classes: int = 1000, variant: str = "torch") -> MobileNetV3:
    """Return a MobileNetV3-Small."""
    return MobileNetV3(_SMALL, choose(variant, 1024, 1280), num_classes, variant)
