"""Re-export module of numpy's types that numpy itself lacks."""

from ml_dtypes import bfloat16

__all__ = ["bfloat16"]
