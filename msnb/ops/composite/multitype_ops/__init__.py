"""Re-export module at MindSpore's path `mindspore.ops.composite.multitype_ops`."""

from msnb.ops.composite import ones_like, zeros_like

__all__ = ["ones_like", "zeros_like"]
