"""`mindspore.scipy`: cosine transforms, linear algebra and minima for Tensors, with scipy's signatures."""

from typing import Any

from msnb.common.missing import asked
from msnb.scipy import fft, linalg, optimize

__all__ = ["fft", "linalg", "optimize"]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
