"""Re-export module: MindSpore 2's `experimental`, optimizers whose groups of Parameters are dicts that can change."""

from msnb.experimental import optim

__all__ = ["optim"]
