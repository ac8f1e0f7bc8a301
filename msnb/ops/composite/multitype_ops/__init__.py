"""Re-export module: MindSpore's path of functions for every type."""

from msnb.ops.composite import ones_like, zeros_like

__all__ = ["ones_like", "zeros_like"]
