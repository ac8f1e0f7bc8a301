"""`mindspore.scipy`: linear algebra and minima for Tensors, with scipy's signatures."""

from typing import Any

from msnb.common.missing import asked
from msnb.scipy import linalg, optimize

__all__ = ["linalg", "optimize"]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
