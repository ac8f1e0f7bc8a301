"""A face (re-export module): the types of quantised values, under MindSpore's path."""

from msnb.common.quant_dtype import QuantDtype

__all__ = ["QuantDtype"]
