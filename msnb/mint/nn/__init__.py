"""`mindspore.mint.nn`: layers with PyTorch's arguments, defaults and Parameter names.

If `mindspore.nn` has a layer with the same meaning, this module uses that class. The other layers are in `layer`.
"""

from typing import Any as _Any

from msnb.common.missing import asked as _asked
from msnb.mint.nn import functional, layer
from msnb.mint.nn.layer import *  # noqa: F403
from msnb.nn import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool2d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    Flatten,
    LogSigmoid,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReLU,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    Sigmoid,
    SoftMarginLoss,
    Tanh,
    Upsample,
)
from msnb.nn import AvgPool1dExt as AvgPool1d
from msnb.nn import AvgPool2dExt as AvgPool2d
from msnb.nn import AvgPool3dExt as AvgPool3d
from msnb.nn import Dropout2dExt as Dropout2d
from msnb.nn import DropoutExt as Dropout
from msnb.nn import EmbeddingExt as Embedding
from msnb.nn import HSigmoid as Hardsigmoid
from msnb.nn import HSwish as Hardswish
from msnb.nn import L1LossExt as L1Loss
from msnb.nn import LayerNormExt as LayerNorm
from msnb.nn import LogSoftmaxExt as LogSoftmax
from msnb.nn import MaxPool2dExt as MaxPool2d
from msnb.nn import PReLUExt as PReLU
from msnb.nn.cell import Cell as _Cell
from msnb.nn.layer._mint_layers import Linear

_OF_NN = (
    *(AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool2d, AvgPool1d, AvgPool2d, AvgPool3d),
    *(ConstantPad1d, ConstantPad2d, ConstantPad3d, Dropout, Dropout2d, Embedding, Flatten, Hardsigmoid, Hardswish),
    *(L1Loss, LayerNorm, Linear, LogSigmoid, LogSoftmax, MaxPool2d, PReLU, ReLU, ReflectionPad1d, ReflectionPad2d),
    *(ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, Sigmoid, SoftMarginLoss, Tanh, Upsample),
)
__all__ = sorted({*layer.__all__, *(name for name, value in globals().items() if value in _OF_NN and name[0] != "_")})
_ = functional


def __getattr__(name: str) -> _Any:
    if name == "Cell":  # libraries derive from it by this path, which MindSpore has no page for
        return _Cell
    return _asked(__name__, name)
