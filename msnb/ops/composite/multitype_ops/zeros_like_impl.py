"""Re-export module of `zeros_like` at MindSpore's path. Gradient functions that users write import it."""

from msnb.ops.composite import zeros_like

__all__ = ["zeros_like"]
