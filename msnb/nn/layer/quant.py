"""Re-export module: layers of quantisation-aware training."""

from msnb.nn.layer._quant.activations import ActQuant, MulQuant, TensorAddQuant
from msnb.nn.layer._quant.block import QuantBlock, QuantMindirBlock
from msnb.nn.layer._quant.conv import Conv2dBnWithoutFoldQuant, Conv2dQuant
from msnb.nn.layer._quant.dense import DenseQuant
from msnb.nn.layer._quant.fold import BatchNormFoldCell, Conv2dBnFoldQuant, Conv2dBnFoldQuantOneConv
from msnb.nn.layer._quant.observer import (
    FakeQuantWithMinMaxObserver,
    QuantConfig,
    UniformQuantObserver,
    quant_config_default,
)

__all__ = [
    "FakeQuantWithMinMaxObserver",
    "Conv2dBnFoldQuantOneConv",
    "Conv2dBnFoldQuant",
    "Conv2dBnWithoutFoldQuant",
    "Conv2dQuant",
    "DenseQuant",
    "ActQuant",
    "TensorAddQuant",
    "MulQuant",
]
# programs import these names from this module
_ = BatchNormFoldCell, QuantBlock, QuantConfig, QuantMindirBlock, UniformQuantObserver, quant_config_default
