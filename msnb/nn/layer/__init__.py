"""Layers of neural networks; this module re-exports those of its submodules."""

from msnb.nn.layer import (
    activation,
    basic,
    combined,
    container,
    conv,
    embedding,
    image,
    lstm,
    math,
    normalization,
    pooling,
    quant,
)
from msnb.nn.layer.activation import *  # noqa: F403
from msnb.nn.layer.basic import *  # noqa: F403
from msnb.nn.layer.combined import *  # noqa: F403
from msnb.nn.layer.container import *  # noqa: F403
from msnb.nn.layer.conv import *  # noqa: F403
from msnb.nn.layer.embedding import *  # noqa: F403
from msnb.nn.layer.image import *  # noqa: F403
from msnb.nn.layer.lstm import *  # noqa: F403
from msnb.nn.layer.math import *  # noqa: F403
from msnb.nn.layer.normalization import *  # noqa: F403
from msnb.nn.layer.pooling import *  # noqa: F403
from msnb.nn.layer.quant import *  # noqa: F403

_MODULES = (
    activation,
    normalization,
    container,
    conv,
    lstm,
    basic,
    embedding,
    pooling,
    image,
    quant,
    math,
    combined,
)
__all__ = [name for module in _MODULES for name in module.__all__]
