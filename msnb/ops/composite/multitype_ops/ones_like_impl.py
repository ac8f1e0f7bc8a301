"""Re-export module: `ones_like` under MindSpore's path, which gradients in Python import."""

from msnb.ops.composite import ones_like

__all__ = ["ones_like"]
