"""Re-export module of kernels for lists of Tensors, which the library MindSpore Reinforcement imports. A call raises an
error that names an alternative.
"""

from typing import Any

from msnb.common.missing import asked

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
