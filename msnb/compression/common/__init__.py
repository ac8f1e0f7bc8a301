"""Re-export module: the types of quantised values."""

from msnb.compression.common import constant
from msnb.compression.common.constant import QuantDtype

__all__ = ["QuantDtype", "constant"]
