"""Convolutions and Dense layers with the initial weights of PyTorch, HeUniform(sqrt(5)), and biases of zero."""

import math
from typing import Any

from msnb import nn
from msnb.common.initializer import HeUniform


def make_conv2d(*sizes: Any, **options: Any) -> nn.Conv2d:
    """Return a Conv2d. The arguments are those of `nn.Conv2d`, without initial values."""
    return nn.Conv2d(*sizes, weight_init=HeUniform(math.sqrt(5)), bias_init="zeros", **options)


def make_pointwise(inputs: int, outputs: int, **options: Any) -> nn.Conv2d:
    """Return a convolution of 1 x 1 that is a Linear layer in PyTorch."""
    conv = make_conv2d(inputs, outputs, 1, pad_mode="same", **options)
    conv.is_dense_in_torch = True  # `save_weights` reads it
    return conv


def make_dense(inputs: int, outputs: int, **options: Any) -> nn.Dense:
    """Return a Dense layer. The arguments are those of `nn.Dense`, without initial values."""
    return nn.Dense(inputs, outputs, weight_init=HeUniform(math.sqrt(5)), bias_init="zeros", **options)
