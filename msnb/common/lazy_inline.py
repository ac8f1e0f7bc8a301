"""Re-export module: a Cell that is compiled once."""

from msnb.core.transforms.compiler_hints import lazy_inline

__all__ = ["lazy_inline"]
