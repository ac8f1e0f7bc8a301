"""Re-export module of `ones_like` at MindSpore's path. Gradient functions that users write import it."""

from msnb.ops.composite import ones_like

__all__ = ["ones_like"]
