"""Re-export module: `zeros_like` under MindSpore's path, which gradients in Python import."""

from msnb.ops.composite import zeros_like

__all__ = ["zeros_like"]
