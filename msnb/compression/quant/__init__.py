"""Re-export module: quantisation-aware training."""

from msnb.compression.quant import qat, quant_utils, quantizer
from msnb.compression.quant.qat import QuantizationAwareTraining, create_quant_config
from msnb.compression.quant.quant_utils import load_nonquant_param_into_quant_net
from msnb.compression.quant.quantizer import OptimizeOption

__all__ = [
    "QuantizationAwareTraining",
    "create_quant_config",
    "load_nonquant_param_into_quant_net",
    "OptimizeOption",
    "qat",
    "quant_utils",
    "quantizer",
]
