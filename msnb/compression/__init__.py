"""Smaller networks: training that simulates integers of a few bits, and the network of integers that it leads to."""

from msnb.compression import common, export, quant

__all__ = ["common", "export", "quant"]
