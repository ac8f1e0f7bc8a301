"""A face: what a quantised network is deployed as."""

from msnb.compression.export import quant_export

__all__ = ["quant_export"]
