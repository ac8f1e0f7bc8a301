"""Re-export module: MindSpore 2's `experimental`. Its optimizers have parameter groups that are dicts, as in
PyTorch.
"""

from typing import Any as _Any

from msnb.common.missing import asked as _asked
from msnb.experimental import optim

__all__ = ["optim"]


def __getattr__(name: str) -> _Any:
    return _asked(__name__, name)
