"""Re-export module: MindSpore 2's `experimental`. Its optimizers have parameter groups that are dicts, as in
PyTorch.
"""

from msnb.experimental import optim

__all__ = ["optim"]
