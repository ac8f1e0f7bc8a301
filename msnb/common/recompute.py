"""Re-export module: `recompute`, at MindSpore 2's path."""

from msnb.core.transforms.recompute import recompute

__all__ = ["recompute"]
