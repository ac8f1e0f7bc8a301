"""A face: the types of quantised values, under MindSpore's path of them."""

from msnb.common.quant_dtype import QuantDtype

__all__ = ["QuantDtype"]
