"""VGG (Simonyan and Zisserman, 2014: Very deep convolutional networks for large-scale image recognition)."""

from msnb import nn
from msnb.model_zoo.networks.layers import make_conv2d, make_dense
from msnb.model_zoo.networks.variant import choose

__all__ = ["Vgg", "vgg11", "vgg13", "vgg16", "vgg19"]

_CHANNELS = (64, 128, 256, 512, 512)
_COUNTS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class Vgg(nn.Cell):
    """VGG: five groups of 3 x 3 convolutions, each followed by max pooling, and three Dense layers.

    Args:
        depth (int): Layers with weights: 11, 13, 16 or 19.
        num_classes (int): Number of classes. Default: 1000.
        batch_norm (bool): Normalize after each convolution. Default: False.
        variant (str): The convolutions have biases with "torch", and none with "mindspore". Default: "torch".

    Inputs:
        - **x** (Tensor) - Images of shape :math:`(N, 3, 224, 224)`.

    Outputs:
        Tensor, logits of shape :math:`(N, num\\_classes)`.
    """

    weight_rules = [(r"^features\.", "layers.")]

    def __init__(self, depth: int, num_classes: int = 1000, batch_norm: bool = False, variant: str = "torch") -> None:
        super().__init__()
        has_bias = choose(variant, torch=True, mindspore=False)
        layers, in_channels = [], 3
        for channels, count in zip(_CHANNELS, _COUNTS[depth], strict=True):
            for _ in range(count):
                layers.append(make_conv2d(in_channels, channels, 3, pad_mode="pad", padding=1, has_bias=has_bias))
                layers += [nn.BatchNorm2d(channels), nn.ReLU()] if batch_norm else [nn.ReLU()]
                in_channels = channels
            layers.append(nn.MaxPool2d(2, 2))
        self.layers = nn.SequentialCell(layers)
        self.flatten = nn.Flatten()
        self.classifier = nn.SequentialCell(
            [
                *(make_dense(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(0.5)),
                *(make_dense(4096, 4096), nn.ReLU(), nn.Dropout(0.5)),
                make_dense(4096, num_classes),
            ]
        )

    def construct(self, x):
        return self.classifier(self.flatten(self.layers(x)))


def vgg11(num_classes: int = 1000, batch_norm: bool = False, variant: str = "torch") -> Vgg:
    """Return a VGG with 8 convolutions."""
    return Vgg(11, num_classes, batch_norm, variant)


def vgg13(num_classes: int = 1000, batch_norm: bool = False, variant: str = "torch") -> Vgg:
    """Return a VGG with 10 convolutions."""
    return Vgg(13, num_classes, batch_norm, variant)


def vgg16(num_classes: int = 1000, batch_norm: bool = False, variant: str = "torch") -> Vgg:
    """Return a VGG with 13 convolutions."""
    return Vgg(16, num_classes, batch_norm, variant)


def vgg19(num_classes: int = 1000, batch_norm: bool = False, variant: str = "torch") -> Vgg:
    """Return a VGG with 16 convolutions."""
    return Vgg(19, num_classes, batch_norm, variant)
