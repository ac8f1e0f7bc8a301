"""Re-export module: the types of quantised values, at MindSpore's path."""

from msnb.common.quant_dtype import QuantDtype

__all__ = ["QuantDtype"]
