"""Quantisation-aware training, and conversion of the trained network to integer arithmetic."""

from msnb.compression import common, export, quant

__all__ = ["common", "export", "quant"]
