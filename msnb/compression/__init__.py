"""Quantisation: training that simulates integers of a few bits, and the resulting integer network."""

from msnb.compression import common, export, quant

__all__ = ["common", "export", "quant"]
