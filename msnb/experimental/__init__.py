"""Face: what MindSpore 2 keeps under `experimental`: optimizers whose groups of Parameters are dicts that change."""

from msnb.experimental import optim

__all__ = ["optim"]
